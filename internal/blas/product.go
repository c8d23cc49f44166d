package blas

import (
	"github.com/viterin/vek"
	"github.com/viterin/vek/vek32"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/plrank/plrank/internal/parallel"
)

// Float is what matrices are made of.
type Float interface{ float32 | float64 }

// Product sets c = a·b for matrices in row-major order, on all cores: a is
// [rows, inner], b [inner, cols], c [rows, cols]. Blocks of rows of c that are
// ready are passed to then, if it is not nil, for what is to be done with them
// while they are in the cache. The result does not depend on how many cores there
// are. It panics where the slices are too short.
func Product[T Float](c, a, b []T, rows, inner, cols int, then func(rows []T)) {
	c, a, b = c[:rows*cols], a[:rows*inner], b[:inner*cols]
	if len(c) == 0 {
		return
	}
	block := blockRows(rows, inner, cols)
	parallel.For((rows+block-1)/block, func(_, i int) {
		from, to := i*block, min((i+1)*block, rows)
		part := c[from*cols : to*cols]
		if inUse == avx2 {
			vekProduct(part, a[from*inner:to*inner], b, inner)
		} else {
			gemm(part, a[from*inner:to*inner], b, to-from, inner, cols)
		}
		if then != nil {
			then(part)
		}
	})
}

// blockRows is the number of rows that are computed at a time.
func blockRows(rows, inner, cols int) int {
	const (
		worthwhile = 1 << 15     // multiplications; goroutines for fewer cost more than they save
		vekMost    = 100_000 - 1 // from 100,000 on vek would start goroutines of its own
		step, most = 16, 128
	)
	switch {
	case rows*inner*cols < worthwhile:
		return rows
	case inUse == avx2:
		return max(1, min((rows+1)/2, vekMost/(inner*cols)))
	}
	// A library packs b for each block, so they should not be small, nor too few.
	half := (rows + 1) / 2
	return min(most, (half+step-1)/step*step)
}

func vekProduct[T Float](c, a, b []T, inner int) {
	switch c := any(c).(type) {
	case []float32:
		vek32.MatMul_Into(c, any(a).([]float32), any(b).([]float32), inner)
	case []float64:
		vek.MatMul_Into(c, any(a).([]float64), any(b).([]float64), inner)
	}
}

func gemm[T Float](c, a, b []T, rows, inner, cols int) {
	switch c := any(c).(type) {
	case []float32:
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1,
			blas32.General{Rows: rows, Cols: inner, Stride: inner, Data: any(a).([]float32)},
			blas32.General{Rows: inner, Cols: cols, Stride: cols, Data: any(b).([]float32)}, 0,
			blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: c})
	case []float64:
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1,
			blas64.General{Rows: rows, Cols: inner, Stride: inner, Data: any(a).([]float64)},
			blas64.General{Rows: inner, Cols: cols, Stride: cols, Data: any(b).([]float64)}, 0,
			blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: c})
	}
}
