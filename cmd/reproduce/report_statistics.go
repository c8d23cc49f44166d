package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// meanSD is mean and standard deviation (with n − 1); of one value the latter is not
// known, NaN.
func meanSD(values []float64) (mean, sd float64) {
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	return stat.MeanStdDev(values, nil)
}

// welch is the p-value of Welch's two-sided t-test that two samples of independent
// runs have the same mean; NaN where either has fewer than two. Samples that do not
// vary differ for certain, 0, or not at all, 1.
func welch(a, b []float64) float64 {
	if len(a) < 2 || len(b) < 2 {
		return math.NaN()
	}
	meanA, sdA := meanSD(a)
	meanB, sdB := meanSD(b)
	va, vb := sdA*sdA/float64(len(a)), sdB*sdB/float64(len(b))
	if va+vb == 0 {
		if meanA == meanB {
			return 1
		}
		return 0
	}
	t := (meanA - meanB) / math.Sqrt(va+vb)
	freedom := (va + vb) * (va + vb) / (va*va/float64(len(a)-1) + vb*vb/float64(len(b)-1))
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.CDF(-math.Abs(t))
}

// The marks of the paper's Table 2.
const (
	worse        = "▽" // significantly, p < 0.01
	better       = "△"
	noDifference = "−"
	threshold    = 0.01
)

// mark compares the runs of a method with those of another: "" where a test needs
// more of them.
func mark(runs, others []float64) string {
	p := welch(runs, others)
	mean, _ := meanSD(runs)
	other, _ := meanSD(others)
	switch {
	case math.IsNaN(p):
		return ""
	case p >= threshold:
		return noDifference
	case mean < other:
		return worse
	}
	return better
}

// interpolate is the value at x on the line through points of ascending x: NaN
// before the first, the last value after the last.
func interpolate(xs, ys []float64, x float64) float64 {
	if len(xs) == 0 || x < xs[0] {
		return math.NaN()
	}
	i, found := slices.BinarySearch(xs, x)
	switch {
	case found:
		return ys[i]
	case i == len(xs):
		return ys[i-1]
	}
	part := (x - xs[i-1]) / (xs[i] - xs[i-1])
	return ys[i-1] + part*(ys[i]-ys[i-1])
}
