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
	Pairs      int     // used by the test
	Difference float64 // the mean of a − b over all queries
	Statistic  float64 // t, the sum of the ranks of the positive differences, or the mean difference
	PValue     float64 // two-sided
}

// PairedT performs Student's t-test of paired values a and b, as [Measure.PerQuery] followed by
// [LabelFree.Counted] gives them: t = mean(a − b) / (sd(a − b)/√n) with n − 1 degrees of freedom.
// If all differences are zero, t is 0 and the p-value 1. If they are all equal to another
// number, t is infinite and the p-value 0. Values that agree to 12 digits are equal. PairedT
// returns an error for fewer than two pairs, unequal numbers of values, and values that are not
// finite.
func PairedT(a, b []float64) (Test, error) {
	d, err := Differences(a, b)
	if err != nil {
		return Test{}, err
	}
	n := len(d)
	for i, least := 0, rounding(a, b); i < n; i++ {
		if math.Abs(d[i]) <= least {
			d[i] = 0
		}
	}
	if n < 2 {
		return Test{}, fmt.Errorf("metrics: a t-test needs two or more pairs, not %d", n)
	}
	mean, sd := stat.MeanStdDev(d, nil)
	test := studentT(mean, stat.StdErr(sd, float64(n)), float64(n-1))
	test.Pairs = n
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

// studentT returns the t-test of a difference of means with a standard error and degrees of freedom.
func studentT(difference, stdErr, freedom float64) Test {
	test := Test{Difference: difference, PValue: 1}
	if difference == 0 {
		return test // also if nothing varies
	}
	test.Statistic, test.PValue = difference/stdErr, 0
	if stdErr != 0 {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}
		test.PValue = 2 * t.CDF(-math.Abs(test.Statistic))
	}
	return test
}

// Welch performs Welch's t-test of the hypothesis that two samples of independent values, such
// as the test NDCG of runs with different seeds, have the same mean: t = (mean a − mean b) /
// √(var a/n_a + var b/n_b), with the degrees of freedom of Welch and Satterthwaite. For samples
// that do not vary, the p-value is 0 if their means differ by more than rounding and 1 if not.
// Test.Pairs is 0. Welch returns an error for fewer than two values in a sample and for values
// that are not finite.
func Welch(a, b []float64) (Test, error) {
	for _, sample := range [][]float64{a, b} {
		if len(sample) < 2 {
			return Test{}, fmt.Errorf("metrics: Welch's test needs two or more values of each, not %d", len(sample))
		}
		if i := slices.IndexFunc(sample, notFinite); i >= 0 {
			return Test{}, fmt.Errorf("metrics: value %d is %v: it must be finite", i, sample[i])
		}
	}
	meanA, sdA := stat.MeanStdDev(a, nil)
	meanB, sdB := stat.MeanStdDev(b, nil)
	nA, nB := float64(len(a)), float64(len(b))
	va, vb := sdA*sdA/nA, sdB*sdB/nB
	freedom := (va + vb) * (va + vb) / (va*va/(nA-1) + vb*vb/(nB-1))
	difference := meanA - meanB
	if math.Abs(difference) <= rounding(a, b) {
		difference = 0
	}
	return studentT(difference, math.Sqrt(va+vb), freedom), nil
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

// exactPairs is the largest number of pairs for which the distribution of the
// signed-rank statistic is computed exactly, as in SciPy.
const exactPairs = 50

// Wilcoxon performs the signed-rank test of paired values a and b (Wilcoxon 1945). Pairs without
// a difference are left out, and equal differences share their mean rank, as R and SciPy do by
// default. Up to 50 pairs the p-value is exact, even with ties: the share of the 2^n sign
// patterns of the ranks that are at least as extreme. For more pairs it comes from the normal
// distribution, with the variance corrected for ties and with a continuity correction, as in R.
// Differences that agree to 12 digits count as equal. Without a difference the p-value is 1.
// Wilcoxon returns the errors of [PairedT], except that any number of pairs is valid.
func Wilcoxon(a, b []float64) (Test, error) {
	d, err := Differences(a, b)
	if err != nil {
		return Test{}, err
	}
	test := Test{PValue: 1}
	if len(d) > 0 {
		test.Difference = stat.Mean(d, nil)
	}
	least := rounding(a, b)
	d = slices.DeleteFunc(d, func(x float64) bool { return math.Abs(x) <= least })
	if len(d) == 0 {
		return test, nil
	}
	ranks, ties := signedRanks(d, least)
	for i, x := range d {
		if x > 0 {
			test.Statistic += ranks[i]
		}
	}
	test.Pairs = len(d)
	if len(d) <= exactPairs {
		test.PValue = exactSignedRank(test.Statistic, ranks)
	} else {
		test.PValue = normalSignedRank(test.Statistic, len(d), ties)
	}
	return test, nil
}

// signedRanks sorts differences by size and ranks them from 1. Neighbours that differ by no
// more than the tolerance share their mean rank; ties are the sizes of all such groups.
func signedRanks(d []float64, tolerance float64) (ranks []float64, ties []int) {
	slices.SortFunc(d, func(x, y float64) int { return cmp.Compare(math.Abs(x), math.Abs(y)) })
	ranks = make([]float64, len(d))
	for first := 0; first < len(d); {
		end := first + 1
		for end < len(d) && math.Abs(d[end])-math.Abs(d[end-1]) <= tolerance {
			end++
		}
		for i := first; i < end; i++ {
			ranks[i] = float64(first+1+end) / 2
		}
		ties = append(ties, end-first)
		first = end
	}
	return ranks, ties
}

// exactSignedRank returns the two-sided p-value of the sum of positive ranks if every rank has
// either sign with probability 1/2.
func exactSignedRank(statistic float64, ranks []float64) float64 {
	// chance[s]: that the positive ranks add up to s/2. Shared ranks are halves.
	chance := []float64{1}
	for _, rank := range ranks {
		step := int(2 * rank)
		next := make([]float64, len(chance)+step)
		for s, p := range chance {
			next[s] += p / 2
			next[s+step] += p / 2
		}
		chance = next
	}
	observed := int(2 * statistic)
	low, high := floats.Sum(chance[:observed+1]), floats.Sum(chance[observed:])
	return min(1, 2*min(low, high))
}

// normalSignedRank returns the same p-value by the normal approximation for n ranks. ties are the
// sizes of the groups that share a rank.
func normalSignedRank(statistic float64, n int, ties []int) float64 {
	count := float64(n)
	mean := count * (count + 1) / 4
	variance := mean * (2*count + 1) / 6
	for _, size := range ties {
		t := float64(size)
		variance -= (t*t*t - t) / 48
	}
	distance := max(0, math.Abs(statistic-mean)-0.5)
	return 2 * distuv.UnitNormal.CDF(-distance/math.Sqrt(variance))
}

// Differences returns a − b, pair by pair. It returns an error for unequal numbers of values and
// for values that are not finite: [LabelFree.Counted] replaces or drops the NaN of queries
// without a relevant document.
func Differences(a, b []float64) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("metrics: cannot pair %d values with %d: they must be of the same queries", len(a), len(b))
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
		if notFinite(d[i]) {
			return nil, fmt.Errorf("metrics: query %d: %v and %v have no finite difference; LabelFree.Counted replaces or drops undefined values", i, a[i], b[i])
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
	Mean      float64 // of the values
	Low, High float64 // the ends of the interval
}

// MeanInterval returns the bootstrap confidence interval of the mean of values, such as the NDCG
// of every query or the Differences of two models. Queries are drawn with replacement, and the
// interval is bias-corrected and accelerated (BCa; Efron, JASA 1987). It scales with the values.
// If all values are equal, both ends are that value. MeanInterval returns an error for no values,
// values that are not finite, and settings out of range.
func (b Bootstrap) MeanInterval(values []float64) (Interval, error) {
	b.Resamples, b.Level = cmp.Or(b.Resamples, 10000), cmp.Or(b.Level, 0.95)
	if b.Resamples < 0 || !(b.Level > 0 && b.Level <= 0.999) {
		return Interval{}, fmt.Errorf("metrics: %d resamples and a level of %v: want one or more, and a level above 0 and up to 0.999", b.Resamples, b.Level)
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
