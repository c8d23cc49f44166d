package forward

import (
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/blas"
)

// Sparse is a matrix whose entries are mostly 0: row r has Values[Starts[r]:Starts[r+1]] in Columns, which ascend within the row.
type Sparse[T float] struct {
	Starts  []int // [rows+1]
	Columns []int32
	Values  []T
}

// sparseRows is how many rows a part of a product has.
const sparseRows = 16

// Check returns an error unless x is a matrix [rows, in].
func (x Sparse[T]) Check(rows, in int) error {
	if len(x.Starts) != rows+1 || x.Starts[0] != 0 || !slices.IsSorted(x.Starts) || x.Starts[rows] > min(len(x.Columns), len(x.Values)) {
		return fmt.Errorf("the starts of %d sparse rows must ascend from 0, up to the number of entries", rows)
	}
	for _, c := range x.Columns[:x.Starts[rows]] {
		if c < 0 || int(c) >= in {
			return fmt.Errorf("column %d of sparse rows, want 0 to %d", c, in-1)
		}
	}
	return nil
}

// SparseDense is [Dense] for a sparse x, with the same bits if w is finite.
func SparseDense[T float](act Activation, x Sparse[T], w, b, y []T, d Dropout) {
	out := len(b)
	end, more := ending(act, b)
	inParts(len(y)/out, sparseRows, func(_, from, to int) {
		x.product(from, to, w, y, end)
		Activate(more, y[from*out:to*out])
		drop(d, y[from*out:to*out], from*out)
	})
}

// RunSparse computes [SparseDense], as Run does for others.
func (l *Layer[T]) RunSparse(x Sparse[T], y []T) []T {
	end, more := ending(l.Activation, l.bias)
	x.product(0, len(y)/l.Out, l.w, y, end)
	return Finish(more, l.Out, y)
}

// product sets rows of y to those of x·w.
func (x Sparse[T]) product(from, to int, w, y []T, end blas.End[T]) {
	out := len(end.Bias)
	var gathered []T
	for r := from; r < to; r++ {
		first, past := x.Starts[r], x.Starts[r+1]
		gathered = gather(gathered[:0], w, out, x.Columns[first:past])
		multiplyRow(y[r*out:(r+1)*out], x.Values[first:past], gathered, end)
	}
}

// gather appends rows of m, which has that number of columns.
func gather[T float](to, m []T, columns int, rows []int32) []T {
	for _, r := range rows {
		to = append(to, m[int(r)*columns:][:columns]...)
	}
	return to
}

// multiplyRow sets a row to x times a matrix.
func multiplyRow[T float](row, x, matrix []T, end blas.End[T]) {
	blas.Product(blas.RowMajor(row, 1, len(row)), blas.RowMajor(x, 1, len(x)), blas.RowMajor(matrix, len(x), len(row)), end, nil)
}

// SparseWeightsVJP is [DenseWeightsVJP] for a sparse x, with the same bits if dz is finite. Beyond clearing dw it takes time by the
// entries of x.
func SparseWeightsVJP[T float](x Sparse[T], out int, dz, dw []T) {
	clear(dw)
	ends := make([]int32, len(dw)/out) // of the entries of each column, in order of the rows
	present := ends[:0:0]
	rows := len(x.Starts) - 1
	for _, c := range x.Columns[:x.Starts[rows]] {
		if ends[c] == 0 {
			present = append(present, c)
		}
		ends[c]++
	}
	sum := int32(0)
	for _, c := range present {
		sum, ends[c] = sum+ends[c], sum
	}
	places, values := make([]int32, sum), make([]T, sum)
	for r := range rows {
		for i := x.Starts[r]; i < x.Starts[r+1]; i++ {
			at := &ends[x.Columns[i]]
			places[*at], values[*at] = int32(r), x.Values[i]
			*at++
		}
	}
	inParts(len(present), elementBlock/out, func(_, from, to int) {
		var gathered []T
		part := make([]T, out)
		for i := from; i < to; i++ {
			c, first := present[i], int32(0)
			if i > 0 {
				first = ends[present[i-1]]
			}
			for end := ends[c]; first < end; {
				n := int32(1)
				for first+n < end && places[first+n]/sumBlock == places[first]/sumBlock {
					n++
				}
				gathered = gather(gathered[:0], dz, out, places[first:first+n])
				multiplyRow(part, values[first:first+n], gathered, blas.End[T]{})
				Add(dw[int(c)*out:][:out], part)
				first += n
			}
		}
	})
}
