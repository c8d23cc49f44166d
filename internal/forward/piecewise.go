package forward

import (
	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/piecewise"
)

const piecewiseRows = 256 // that are computed at a time: they stay in the cache

// BinRows returns the number of rows of the weights of that number of columns, the first of them with bins.
func BinRows(bins []int, columns int) int { return piecewise.Rows(bins) + columns - len(bins) }

// CheckBins returns an error for bins that no layer of that number of columns can have.
func CheckBins(bins []int, columns int) error { return piecewise.Check(bins, columns) }

// Piecewise sets y = act(e(x)·w + b), with dropout, on all cores: x [rows, in], w [BinRows(bins, in),
// out], y [rows, out]. The first columns of x have bins, and e has as many columns for each as it has
// bins, see package piecewise; the others it leaves as they are.
func Piecewise[T float](act Activation, bins []int, in, out int, x, w, b, y []T, d Dropout) {
	l := NewLayer(act, bins, in, out, w, b)
	defer l.binned.Free()
	inParts(len(y)/out, piecewiseRows, func(_, from, to int) {
		part := y[from*out : to*out]
		l.Run(x[from*in:to*in], part)
		drop(d, part, from*out)
	})
}

// PiecewiseWeightsVJP sets dw = e(x)ᵀ·dz.
func PiecewiseWeightsVJP[T float](bins []int, in, out int, x, dz, dw []T) {
	c := piecewise.NewColumns(bins, in)
	piecewise.WeightsVJP(c, out, x, dz, dw)
	rows := c.StraightRows()
	if len(rows) == 0 {
		return
	}
	sums := make([]T, len(rows)*out)
	weightsVJP(piecewise.Straight(c, x[:len(dz)/out*in]), out, dz, sums)
	for i, row := range rows {
		copy(dw[row*out:][:out], sums[i*out:])
	}
}

// PiecewiseInputVJP sets dx to dz·wᵀ in the columns without bins, and to 0 in the others.
func PiecewiseInputVJP[T float](bins []int, in, out int, dz, w, dx []T) {
	rows, plain := len(dz)/out, in-len(bins)
	clear(dx)
	if rows > 0 && plain > 0 {
		right := blas.RowMajor(w[piecewise.Rows(bins)*out:], plain, out).T()
		blas.Product(blas.RowMajor(dx, rows, in).Slice(0, rows, len(bins), plain), blas.RowMajor(dz, rows, out), right, blas.End[T]{}, nil)
	}
}
