package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// meanSD is mean and standard deviation (with n − 1); of one value the latter is not
// known, NaN.
func meanSD(values []float64) (mean, sd float64) {
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	return stat.MeanStdDev(values, nil)
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
