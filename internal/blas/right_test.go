package blas

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A row of a product does not depend on how many rows there are beside it: what a
// model gives a document alone is what it gives it in a batch.
func TestRowsAreIndependent(t *testing.T) {
	defer func(was library) { inUse = was }(inUse)
	r := rand.New(rand.NewPCG(3, 4))
	for _, inUse = range available() {
		if inUse == openBLAS {
			continue // promises no such thing
		}
		for _, s := range [][2]int{{46, 64}, {64, 1}, {7, 33}, {1, 1}, {300, 40}} {
			inner, cols := s[0], s[1]
			const rows = 40
			a, b, all := random[float32](r, rows*inner), random[float32](r, inner*cols), make([]float32, rows*cols)
			Product(RowMajor(all, rows, cols), RowMajor(a, rows, inner), RowMajor(b, inner, cols), nil)
			right := NewRight(RowMajor(b, inner, cols))
			for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 39, 40} {
				c := make([]float32, n*cols)
				right.Product(RowMajor(c, n, cols), RowMajor(a, n, inner))
				if !slices.Equal(c, all[:n*cols]) {
					t.Errorf("%s, %v: %d rows differ from those of %d", names[inUse], s, n, rows)
				}
			}
		}
	}
}
