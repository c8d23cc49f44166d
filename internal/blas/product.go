package blas

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/viterin/vek"
	"github.com/viterin/vek/vek32"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Float is what matrices are made of.
type Float interface{ float32 | float64 }

// Product sets c = a·b for matrices in row-major order, on all cores: a is
// [rows, inner], b [inner, cols], c [rows, cols]. The result does not depend on
// how many cores there are. It panics where the slices are too short.
func Product[T Float](c, a, b []T, rows, inner, cols int) {
	c, a, b = c[:rows*cols], a[:rows*inner], b[:inner*cols]
	if len(c) == 0 {
		return
	}
	if inUse == avx2 { // which splits the rows itself
		switch c := any(c).(type) {
		case []float32:
			vek32.MatMul_Into(c, any(a).([]float32), any(b).([]float32), inner)
		case []float64:
			vek.MatMul_Into(c, any(a).([]float64), any(b).([]float64), inner)
		}
		return
	}
	block := blockRows(rows)
	one := func(i int) {
		from, to := i*block, min((i+1)*block, rows)
		gemm(c[from*cols:to*cols], a[from*inner:to*inner], b, to-from, inner, cols)
	}
	const worthwhile = 1 << 15 // products; starting goroutines for fewer costs more than it saves
	blocks := (rows + block - 1) / block
	workers := min(blocks, runtime.GOMAXPROCS(0))
	if workers == 1 || rows*inner*cols < worthwhile {
		for i := range blocks {
			one(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < blocks; i = int(next.Add(1)) - 1 {
				one(i)
			}
		})
	}
	all.Wait()
}

// blockRows is the number of rows that are computed at a time: a library packs b
// for each block, so they should not be small, nor too few for the cores.
func blockRows(rows int) int {
	const step, most = 16, 128
	half := (rows + 1) / 2
	return min(most, (half+step-1)/step*step)
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
