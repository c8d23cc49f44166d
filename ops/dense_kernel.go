package ops

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

type float interface{ float32 | float64 }

// Work is cut into pieces whose size does not depend on the number of cores,
// so that results do not either.
const (
	rowBlock     = 64    // rows of a forward pass
	featureBlock = 16    // rows of a weight gradient
	elementBlock = 16384 // elements of an elementwise pass
)

func blocks(n, size int) int { return (n + size - 1) / size }

// A matrix is a row-major view: stride elements from row to row.
type matrix[T float] struct {
	rows, cols, stride int
	data               []T
}

// gemm is c = a·b + beta·c, with transposes as asked, by the BLAS that gonum
// has been told to use.
func gemm[T float](ta, tb blas.Transpose, a, b matrix[T], beta T, c matrix[T]) {
	if data, ok := any(c.data).([]float32); ok {
		blas32.Gemm(ta, tb, 1, general32(a), general32(b), float32(beta),
			blas32.General{Rows: c.rows, Cols: c.cols, Stride: c.stride, Data: data})
		return
	}
	blas64.Gemm(ta, tb, 1, general64(a), general64(b), float64(beta),
		blas64.General{Rows: c.rows, Cols: c.cols, Stride: c.stride, Data: any(c.data).([]float64)})
}

func general32[T float](m matrix[T]) blas32.General {
	return blas32.General{Rows: m.rows, Cols: m.cols, Stride: m.stride, Data: any(m.data).([]float32)}
}

func general64[T float](m matrix[T]) blas64.General {
	return blas64.General{Rows: m.rows, Cols: m.cols, Stride: m.stride, Data: any(m.data).([]float64)}
}

// forward sets y = act(x·w + b): x [rows, in], w [in, out], y [rows, out].
func forward[T float](act Activation, in, out int, x, w, b, y []T) error {
	rows := len(y) / out
	return each(blocks(rows, rowBlock), workers(), func(_, i int) error {
		from, to := i*rowBlock, min((i+1)*rowBlock, rows)
		yb := y[from*out : to*out]
		for r := range to - from {
			copy(yb[r*out:(r+1)*out], b)
		}
		xm := matrix[T]{to - from, in, in, x[from*in : to*in]}
		ym := matrix[T]{to - from, out, out, yb}
		if out == 1 { // a dot product a row, rather than sums of length one
			gemm(blas.NoTrans, blas.Trans, xm, matrix[T]{1, in, in, w}, 1, ym)
		} else {
			gemm(blas.NoTrans, blas.NoTrans, xm, matrix[T]{in, out, out, w}, 1, ym)
		}
		activate(act, yb)
		return nil
	})
}

// backInput sets dx = dz·wᵀ.
func backInput[T float](in, out int, dz, w, dx []T) error {
	rows := len(dz) / out
	wt := w // [out, in]: rows of it are added up faster than dot products are taken
	if out > 1 {
		wt = make([]T, in*out)
		for i := range in {
			for j := range out {
				wt[j*in+i] = w[i*out+j]
			}
		}
	}
	return each(blocks(rows, rowBlock), workers(), func(_, i int) error {
		from, to := i*rowBlock, min((i+1)*rowBlock, rows)
		gemm(blas.NoTrans, blas.NoTrans,
			matrix[T]{to - from, out, out, dz[from*out : to*out]},
			matrix[T]{out, in, in, wt},
			0, matrix[T]{to - from, in, in, dx[from*in : to*in]})
		return nil
	})
}

// backWeights sets dw = xᵀ·dz, each piece some rows of dw over all rows of x:
// there is nothing left to add up in an order that could vary.
func backWeights[T float](in, out int, x, dz, dw []T) error {
	rows := len(dz) / out
	return each(blocks(in, featureBlock), workers(), func(_, i int) error {
		from, to := i*featureBlock, min((i+1)*featureBlock, in)
		xm := matrix[T]{rows, to - from, in, x[from:]}
		if out == 1 {
			gemm(blas.NoTrans, blas.NoTrans, matrix[T]{1, rows, rows, dz}, xm,
				0, matrix[T]{1, to - from, to - from, dw[from:to]})
		} else {
			gemm(blas.Trans, blas.NoTrans, xm, matrix[T]{rows, out, out, dz},
				0, matrix[T]{to - from, out, out, dw[from*out : to*out]})
		}
		return nil
	})
}

// backBias sets db to the column sums of dz, block by block.
func backBias[T float](out int, dz, db, scratch []T) error {
	rows := len(dz) / out
	n := blocks(rows, rowBlock)
	err := each(n, workers(), func(_, i int) error {
		sums := scratch[i*out : (i+1)*out]
		clear(sums)
		for r := i * rowBlock; r < min((i+1)*rowBlock, rows); r++ {
			for j, v := range dz[r*out : (r+1)*out] {
				sums[j] += v
			}
		}
		return nil
	})
	clear(db)
	for i := range n {
		for j, v := range scratch[i*out : (i+1)*out] {
			db[j] += v
		}
	}
	return err
}

// elementwise calls f for pieces of [0, n).
func elementwise(n int, f func(from, to int)) error {
	return each(blocks(n, elementBlock), workers(), func(_, i int) error {
		f(i*elementBlock, min((i+1)*elementBlock, n))
		return nil
	})
}
