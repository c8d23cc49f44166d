package train

import (
	"math"
	"slices"

	"github.com/plrank/plrank/internal/blas"
)

// sameScores tells whether scores are the same, bit for bit. OpenBLAS takes other
// kernels for other numbers of rows: with it, they may differ by rounding.
func sameScores(got, want []float64) bool {
	if blas.Name() != "OpenBLAS" {
		return slices.Equal(got, want)
	}
	largest := 0.0
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-5*largest })
}
