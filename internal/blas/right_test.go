package blas

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A row of a product does not depend on how many other rows there are: what a
// model gives a document alone is what it gives it in a batch.
func TestRowsAreIndependent(t *testing.T) {
	defer func(was library) { inUse = was }(inUse)
	r := rand.New(rand.NewPCG(3, 4))
	for _, inUse = range available {
		for _, s := range [][2]int{{46, 64}, {64, 1}, {7, 33}, {138, 225}, {1, 1}, {300, 40}} {
			inner, cols := s[0], s[1]
			const rows = 40
			a, b, all := random[float32](r, rows*inner), random[float32](r, inner*cols), make([]float32, rows*cols)
			for i := 0; i < len(a); i += 3 {
				a[i] = 0
			}
			Product(RowMajor(all, rows, cols), RowMajor(a, rows, inner), RowMajor(b, inner, cols), End[float32]{}, nil)
			right := NewRight(RowMajor(b, inner, cols))
			if cols%2 == 1 {
				right = right.SkipZeros()
			}
			for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 39, 40} {
				c := make([]float32, n*cols)
				right.Product(RowMajor(c, n, cols), RowMajor(a, n, inner), End[float32]{})
				if !slices.Equal(c, all[:n*cols]) {
					t.Errorf("%s, %v: %d rows differ from a product of %d", inUse.name, s, n, rows)
				}
			}
		}
	}
}

// A 0 is left out only where that changes nothing.
func TestSkipZerosLeavesOutZeros(t *testing.T) {
	if inUse.rows == 0 {
		t.Skip("gonum leaves out all zeros")
	}
	const cols = 64
	for _, weight := range []float32{3, float32(math.NaN()), float32(math.Inf(1))} {
		b, c := make([]float32, 2*cols), make([]float32, cols)
		for j := range cols {
			b[j], b[cols+j] = weight, 5
		}
		NewRight(RowMajor(b, 2, cols)).SkipZeros().Product(RowMajor(c, 1, cols), RowMajor([]float32{0, 1}, 1, 2), End[float32]{})
		for j, v := range c {
			if want := 0*weight + 5; v != want && (v == v || want == want) {
				t.Fatalf("0·%v + 5 is %v in column %d", weight, v, j)
			}
		}
	}
}
