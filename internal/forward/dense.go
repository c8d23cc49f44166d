package forward

import (
	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/piecewise"
)

// Dense sets y = act(x·w + b), with dropout, on all cores: x [rows, in], w [in, out], y [rows, out].
func Dense[T float](act Activation, in, out int, x, w, b, y []T, d Dropout) {
	rows := len(y) / out
	end, more := ending(act, b)
	var then func(from, to int)
	if more != Identity || d.Rate > 0 {
		then = func(from, to int) {
			block := y[from*out : to*out]
			Activate(more, block)
			drop(d, block, from*out)
		}
	}
	blas.Product(blas.RowMajor(y, rows, out), blas.RowMajor(x, rows, in), blas.RowMajor(w, in, out), end, then)
}

// A Layer is Dense, or Piecewise, with weights that stay as they are, on the calling goroutine. It may
// be used by several at once.
type Layer[T float] struct {
	Activation Activation
	In, Out    int
	weights    blas.Right[T]
	w, bias    []T
	binned     *piecewise.Layer[T] // nil: there are no bins
}

// NewLayer makes the layer of w [in, out] and b [out], where the columns have bins as Piecewise says;
// nil: none.
func NewLayer[T float](act Activation, bins []int, in, out int, w, b []T) *Layer[T] {
	l := &Layer[T]{Activation: act, In: in, Out: out, w: w, bias: b[:out]}
	if bins != nil {
		end, _ := ending(act, l.bias)
		l.binned = piecewise.NewLayer(piecewise.NewColumns(bins, in), out, w, end)
	} else {
		l.weights = blas.NewRight(blas.RowMajor(w, in, out)).SkipZeros()
	}
	return l
}

// Run computes Dense or Piecewise: the same rows, bit for bit. It returns the outputs, which are all of y, or the first
// half of it for SwiGLU.
func (l *Layer[T]) Run(x, y []T) []T {
	end, more := ending(l.Activation, l.bias)
	if rows := len(y) / l.Out; l.binned != nil {
		l.binned.Run(x, l.In, y)
	} else {
		l.weights.Product(blas.RowMajor(y, rows, l.Out), blas.RowMajor(x, rows, l.In), end)
	}
	return Finish(more, l.Out, y)
}

// Finish applies an activation to rows of that number of columns, in place, and gives the outputs.
func Finish[T float](act Activation, columns int, z []T) []T {
	if act == SwiGLU {
		Gate(columns/2, z, z)
		return z[:len(z)/2]
	}
	Activate(act, z)
	return z
}

// ending is the part of bias and activation that a product does itself, and the activation that
// is left to do.
func ending[T float](act Activation, bias []T) (end blas.End[T], more Activation) {
	if act == ReLU {
		return blas.End[T]{Bias: bias, ReLU: true}, Identity
	}
	return blas.End[T]{Bias: bias}, act
}

// DenseInputVJP sets dx = dz·wᵀ.
func DenseInputVJP[T float](in, out int, dz, w, dx []T) {
	rows := len(dz) / out
	blas.Product(blas.RowMajor(dx, rows, in), blas.RowMajor(dz, rows, out), blas.RowMajor(w, in, out).T(), blas.End[T]{}, nil)
}

// DenseWeightsVJP sets dw = xᵀ·dz: the sums over blocks of rows, added up in their order.
func DenseWeightsVJP[T float](in, out int, x, dz, dw []T) {
	weightsVJP(blas.RowMajor(x, len(dz)/out, in), out, dz, dw)
}

func weightsVJP[T float](x blas.Matrix[T], out int, dz, dw []T) {
	rows, in := x.Rows, x.Cols
	sum, left, right := blas.RowMajor(dw, in, out), x.T(), blas.RowMajor(dz, rows, out)
	if rows <= sumBlock {
		blas.Product(sum, left, right, blas.End[T]{}, nil)
		return
	}
	parts := make([]T, (rows-1)/sumBlock*in*out) // of all but the first
	inParts(rows, sumBlock, func(i, from, to int) {
		part := sum
		if i > 0 {
			part = blas.RowMajor(parts[(i-1)*in*out:], in, out)
		}
		blas.Multiply(part, left.Slice(0, in, from, to-from), right.Slice(from, to-from, 0, out))
	})
	for ; len(parts) > 0; parts = parts[in*out:] {
		Add(dw, parts)
	}
}

// DenseBiasVJP sets db to the column sums of dz, block by block.
func DenseBiasVJP[T float](out int, dz, db []T) {
	sumRows(len(dz)/out, db, func(r int, sums []T) {
		if row := dz[r*out : (r+1)*out]; out == 1 {
			sums[0] += row[0]
		} else {
			Add(sums, row)
		}
	})
}
