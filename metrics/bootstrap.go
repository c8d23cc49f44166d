package metrics

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Bootstrap computes confidence intervals. Its zero value has 10,000 resamples and a level
// of 0.95.
type Bootstrap struct {
	Resamples int     // 0: 10,000
	Level     float64 // the confidence, above 0 and up to 0.999; 0: 0.95
	Seed      uint64  // of the resamples
}

// Interval is a confidence interval of a mean over queries.
type Interval struct {
	Mean      float64 // of the values
	Low, High float64 // the ends of the interval
}

// MeanInterval is the bootstrap confidence interval of the mean of values, such as the NDCG
// of every query or the Differences of two models: queries are drawn with replacement, and
// the interval is the bias-corrected and accelerated one (BCa; Efron, JASA 1987). If all
// values are equal it is that value. No values, values that are not finite and settings out
// of range are errors.
func (b Bootstrap) MeanInterval(values []float64) (Interval, error) {
	if b.Resamples == 0 {
		b.Resamples = 10000
	}
	if b.Level == 0 {
		b.Level = 0.95
	}
	if b.Resamples < 0 || !(b.Level > 0 && b.Level <= 0.999) {
		return Interval{}, fmt.Errorf("metrics: %d resamples and a level of %v: want one or more, and a level above 0 and up to 0.999", b.Resamples, b.Level)
	}
	if len(values) == 0 {
		return Interval{}, errors.New("metrics: no values to compute an interval from")
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Interval{}, fmt.Errorf("metrics: query %d: %v cannot be resampled; LabelFree.Counted gives it a value, or leaves it out", i, v)
		}
	}
	mean := stat.Mean(values, nil)
	if slices.Min(values) == slices.Max(values) {
		return Interval{values[0], values[0], values[0]}, nil
	}
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

// resample gives the means of the resamples, sorted.
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

// correction gives BCa's two constants: the bias z0 from the share of resamples
// below the mean (ties count half), and the acceleration from the skewness of the
// mean, which for a mean is that of the jackknife: Σ(x−x̄)³ / 6(Σ(x−x̄)²)^(3/2).
func correction(means []float64, mean float64, values []float64) (bias, acceleration float64) {
	below, _ := slices.BinarySearch(means, mean)
	notAbove, _ := slices.BinarySearch(means, math.Nextafter(mean, math.Inf(1)))
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
