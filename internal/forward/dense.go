package forward

import (
	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/parallel"
)

type float = blas.Float

// Work is cut into pieces whose size does not depend on the number of cores,
// so that results do not either.
const (
	sumBlock     = 512   // rows that a gradient sums at a time: they stay in the cache
	elementBlock = 16384 // elements of an elementwise pass
)

func blocks(n, size int) int { return (n + size - 1) / size }

// Dense sets y = act(x·w + b), on all cores: x [rows, in], w [in, out], y [rows, out].
func Dense[T float](act Activation, in, out int, x, w, b, y []T) {
	blas.Product(y, x, w, len(y)/out, in, out, func(rows []T) { finish(act, b, rows) })
}

// A Layer is Dense with weights that stay as they are, on the calling goroutine. It may
// be used by several at once.
type Layer[T float] struct {
	Activation Activation
	In, Out    int
	weights    blas.Right[T]
	bias       []T
}

// NewLayer makes the layer of w [in, out] and b [out].
func NewLayer[T float](act Activation, in, out int, w, b []T) *Layer[T] {
	return &Layer[T]{Activation: act, In: in, Out: out, weights: blas.NewRight(w, in, out), bias: b[:out]}
}

// Run is Dense: the same rows, bit for bit.
func (l *Layer[T]) Run(x, y []T) {
	l.weights.Product(y, x, len(y)/l.Out)
	finish(l.Activation, l.bias, y)
}

// finish adds the bias to rows of a product, and applies the activation.
func finish[T float](act Activation, b, rows []T) {
	switch rows := any(rows).(type) {
	case []float32:
		b := any(b).([]float32)
		if len(b) == 1 {
			vek32.AddNumber_Inplace(rows, b[0])
			break
		}
		for at := 0; at < len(rows); at += len(b) {
			vek32.Add_Inplace(rows[at:at+len(b)], b)
		}
	case []float64:
		b := any(b).([]float64)
		for at := 0; at < len(rows); at += len(b) {
			row := rows[at : at+len(b)]
			for j, v := range b {
				row[j] += v
			}
		}
	}
	Activate(act, rows)
}

// DenseInputSlope sets dx = dz·wᵀ.
func DenseInputSlope[T float](in, out int, dz, w, dx []T) {
	wt := w // [out, in]
	if out > 1 {
		wt = make([]T, in*out)
		transpose(wt, w, in, out)
	}
	blas.Product(dx, dz, wt, len(dz)/out, out, in, nil)
}

// DenseWeightsSlope sets dw = xᵀ·dz, as (dzᵀ·x)ᵀ: dz is the smaller one to transpose.
func DenseWeightsSlope[T float](in, out int, x, dz, dw []T) {
	rows := len(dz) / out
	if out == 1 {
		blas.Product(dw, dz, x, 1, rows, in, nil)
		return
	}
	size := min(sumBlock, rows)
	dzt, sum := make([]T, out*size), make([]T, out*in)
	var part []T
	for from := 0; from < rows; from += size {
		n := min(size, rows-from)
		transpose(dzt[:out*n], dz[from*out:], n, out)
		if from == 0 {
			blas.Product(sum, dzt, x, out, n, in, nil)
			continue
		}
		if part == nil {
			part = make([]T, out*in)
		}
		blas.Product(part, dzt, x[from*in:], out, n, in, nil)
		for i, v := range part {
			sum[i] += v
		}
	}
	transpose(dw, sum, out, in)
}

// transpose sets to [cols, rows] from [rows, cols], in strips of rows that fill
// cache lines.
func transpose[T float](to, from []T, rows, cols int) {
	const strip = 16
	for r := 0; r < rows; r += strip {
		n := min(strip, rows-r)
		for c := range cols {
			line, at := to[c*rows+r:][:n], r*cols+c
			for i := range line {
				line[i] = from[at]
				at += cols
			}
		}
	}
}

// DenseBiasSlope sets db to the column sums of dz, block by block.
func DenseBiasSlope[T float](out int, dz, db []T) {
	sumRows(len(dz)/out, db, func(r int, sums []T) {
		for j, v := range dz[r*out : (r+1)*out] {
			sums[j] += v
		}
	})
}

// sumRows sets sums to what add adds to them for all rows, block by block.
func sumRows[T float](rows int, sums []T, add func(r int, sums []T)) {
	n, width := blocks(rows, sumBlock), len(sums)
	scratch := make([]T, n*width)
	parallel.For(n, parallel.Workers(n), func(_, i int) {
		for r := i * sumBlock; r < min((i+1)*sumBlock, rows); r++ {
			add(r, scratch[i*width:(i+1)*width])
		}
	})
	clear(sums)
	for i := range n {
		for j, v := range scratch[i*width : (i+1)*width] {
			sums[j] += v
		}
	}
}

// Elementwise calls f for pieces of [0, n), on all cores.
func Elementwise(n int, f func(from, to int)) {
	all := blocks(n, elementBlock)
	parallel.For(all, parallel.Workers(all), func(_, i int) {
		f(i*elementBlock, min((i+1)*elementBlock, n))
	})
}
