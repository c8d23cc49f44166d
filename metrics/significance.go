package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Test holds the result of a two-sided test of the hypothesis that two models are equally
// good. The pairs of a paired test are the values of one metric for the same queries.
type Test struct {
	Pairs      int
	Difference float64 // the mean of a − b over all queries
	Statistic  float64 // t
	PValue     float64 // two-sided
}

// PairedT performs Student's t-test of paired values a and b, as [Measure.PerQuery] followed by
// [LabelFree.Counted] gives them: t = mean(a − b) / (sd(a − b)/√n) with n − 1 degrees of freedom.
// If all differences are zero, t is 0 and the p-value 1. If they are all equal to another
// number, t is infinite and the p-value 0. PairedT returns an error for fewer than two pairs,
// and the errors of [Differences].
func PairedT(a, b []float64) (Test, error) {
	d, err := Differences(a, b)
	if err != nil {
		return Test{}, err
	}
	if len(d) < 2 {
		return Test{}, fmt.Errorf("metrics: a t-test needs two or more pairs, not %d", len(d))
	}
	mean, stdErr := stat.MeanStdDev(d, nil)
	stdErr /= math.Sqrt(float64(len(d)))
	test := Test{Pairs: len(d), Difference: mean, PValue: 1}
	switch {
	case mean == 0: // also if nothing varies
	case stdErr == 0:
		test.Statistic, test.PValue = mean/stdErr, 0
	default:
		test.Statistic = mean / stdErr
		test.PValue = 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(d) - 1)}.CDF(-math.Abs(test.Statistic))
	}
	return test, nil
}

// rounding returns the distance up to which values count as equal, 1e-12 of the largest of them.
func rounding(samples ...[]float64) float64 {
	largest := 0.0
	for _, sample := range samples {
		largest = max(largest, floats.Norm(sample, math.Inf(1)))
	}
	return 1e-12 * largest
}

// Holm adjusts the p-values of several tests (Holm 1979), in their order. Tests whose
// adjusted value is below a level, taken together, falsely reject any true hypothesis with at
// most that probability. The i-th smallest of m values becomes the highest of
// (m − j + 1)·p_j over j ≤ i, and 1 at most. Holm returns an error for a value outside [0, 1].
func Holm(p []float64) ([]float64, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("metrics: p-value %d is %v: want 0 to 1", i, v)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	adjusted := make([]float64, len(p))
	highest := 0.0
	for j, i := range order {
		highest = max(highest, min(1, float64(len(p)-j)*p[i]))
		adjusted[i] = highest
	}
	return adjusted, nil
}

// Differences returns a − b, pair by pair, and 0 for values that agree to 12 digits. It returns an
// error for unequal numbers of values and for values that are not finite: [LabelFree.Counted]
// replaces or drops the NaN of queries without a relevant document.
func Differences(a, b []float64) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("metrics: cannot pair %d values with %d: they must be of the same queries", len(a), len(b))
	}
	d, least := make([]float64, len(a)), rounding(a, b)
	for i := range a {
		d[i] = a[i] - b[i]
		if notFinite(d[i]) {
			return nil, fmt.Errorf("metrics: query %d: %v and %v have no finite difference; LabelFree.Counted replaces or drops undefined values",
				i, a[i], b[i])
		}
		if math.Abs(d[i]) <= least {
			d[i] = 0
		}
	}
	return d, nil
}

// Bootstrap holds the settings of bootstrap confidence intervals. Its zero value has 10,000 resamples and a level
// of 0.95.
type Bootstrap struct {
	Resamples int     // 0: 10,000
	Level     float64 // the confidence, above 0 and up to 0.999; 0: 0.95
	Seed      uint64  // of the resamples
}

// Interval holds a mean over queries and its confidence interval.
type Interval struct {
	Mean float64 `json:"value"` // of the values
	Low  float64 `json:"low"`   // end of the interval
	High float64 `json:"high"`
}

// MeanInterval returns the bootstrap confidence interval of the mean of values, such as the NDCG
// of every query or the Differences of two models. Queries are drawn with replacement, and the
// interval is bias-corrected and accelerated (BCa; Efron, JASA 1987). It scales with the values.
// If all values are equal, both ends are that value. MeanInterval returns an error for no values,
// values that are not finite, and settings out of range.
func (b Bootstrap) MeanInterval(values []float64) (Interval, error) {
	b.Resamples, b.Level = cmp.Or(b.Resamples, 10000), cmp.Or(b.Level, 0.95)
	if b.Resamples < 0 || !(b.Level > 0 && b.Level <= 0.999) {
		return Interval{}, fmt.Errorf("metrics: %d resamples and a level of %v: want one or more, and a level above 0 and up to 0.999",
			b.Resamples, b.Level)
	}
	if len(values) == 0 {
		return Interval{}, errors.New("metrics: no values to compute an interval from")
	}
	if i := slices.IndexFunc(values, notFinite); i >= 0 {
		return Interval{}, fmt.Errorf("metrics: query %d: cannot resample %v; LabelFree.Counted replaces or drops undefined values", i, values[i])
	}
	lowest, highest := slices.Min(values), slices.Max(values)
	if lowest == highest {
		return Interval{lowest, lowest, lowest}, nil
	}
	// Far from 1, sums of values overflow and their cubes underflow: scale them and scale back.
	if _, e := math.Frexp(max(-lowest, highest)); e < -200 || e > 200 {
		scaled := make([]float64, len(values))
		for i, v := range values {
			scaled[i] = math.Ldexp(v, -e)
		}
		i, err := b.MeanInterval(scaled)
		back := func(v float64) float64 { return max(lowest, min(math.Ldexp(v, e), highest)) }
		return Interval{back(i.Mean), back(i.Low), back(i.High)}, err
	}
	mean := stat.Mean(values, nil)
	means := b.resample(values)
	bias, acceleration := correction(means, mean, values)
	quantile := func(p float64) float64 {
		z := bias + distuv.UnitNormal.Quantile(p)
		p = distuv.UnitNormal.CDF(bias + z/(1-acceleration*z))
		return stat.Quantile(p, stat.LinInterp, means, nil)
	}
	tail := (1 - b.Level) / 2
	return Interval{mean, quantile(tail), quantile(1 - tail)}, nil
}

// resample returns the means of the resamples, sorted.
func (b Bootstrap) resample(values []float64) []float64 {
	rng := rand.New(rand.NewPCG(b.Seed, 0))
	means := make([]float64, b.Resamples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[rng.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	return means
}

// correction returns BCa's two constants. The bias z0 comes from the share of resamples below the
// mean, where those equal to it up to rounding count half. The acceleration comes from the
// jackknife, which for a mean gives Σ(x−x̄)³ / 6(Σ(x−x̄)²)^(3/2).
func correction(means []float64, mean float64, values []float64) (bias, acceleration float64) {
	least := rounding(values)
	below, _ := slices.BinarySearch(means, mean-least)
	notAbove, _ := slices.BinarySearch(means, mean+least)
	// Kept off 0 and 1, where the quantile is infinite.
	share := (float64(below+notAbove)/2 + 0.5) / float64(len(means)+1)
	squares, cubes := 0.0, 0.0
	for _, v := range values {
		d := v - mean
		squares += d * d
		cubes += d * d * d
	}
	return distuv.UnitNormal.Quantile(share), cubes / (6 * math.Pow(squares, 1.5))
}
