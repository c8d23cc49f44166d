package blas

import (
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
	c, a, b = exactly(c, rows*cols), exactly(a, rows*inner), exactly(b, inner*cols)
	if len(c) == 0 {
		return
	}
	right := Right[T]{b: b, inner: inner, cols: cols}
	if rows >= leastForTiles {
		right = NewRight(b, inner, cols)
		defer right.Free()
	}
	block := blockRows(rows, inner, cols)
	blocks := (rows + block - 1) / block
	parallel.For(blocks, parallel.Workers(blocks), func(_, i int) {
		from, to := i*block, min((i+1)*block, rows)
		part := c[from*cols : to*cols]
		right.Product(part, a[from*inner:to*inner], to-from)
		if then != nil {
			then(part)
		}
	})
}

// A Right is a matrix on the right of products, prepared for them. It may be used by
// several goroutines at once.
type Right[T Float] struct {
	b           []T
	inner, cols int
	tiled       *tiled // nil: products go to a library
}

// NewRight prepares b, [inner, cols], which it keeps. It panics where the slice is too
// short.
func NewRight[T Float](b []T, inner, cols int) Right[T] {
	b = exactly(b, inner*cols)
	r := Right[T]{b: b, inner: inner, cols: cols}
	if b32, ok := any(b).([]float32); ok && inner > 0 && (inUse == avx2 || inUse == avx512) {
		r.tiled = newTiled(b32, inner, cols)
	}
	return r
}

// Free gives the memory back. It need not be called.
func (r Right[T]) Free() {
	if r.tiled != nil {
		r.tiled.free()
	}
}

// Product sets c = a·b on the calling goroutine: a is [rows, inner], c [rows, cols].
// A row of c is the same, bit for bit, as in [Product] with many rows.
func (r Right[T]) Product(c, a []T, rows int) {
	switch {
	case r.inner == 0:
		clear(c)
	case r.tiled != nil:
		r.tiled.product(any(c).([]float32), any(a).([]float32), rows)
	default:
		gemm(c, a, r.b, rows, r.inner, r.cols)
	}
}

// exactly is the first n numbers of s, which must have them within its length.
func exactly[T Float](s []T, n int) []T { return s[:len(s):len(s)][:n] }

// For fewer rows, tiles are no use. gonum's product, which is used then, differs in one
// more thing than the last digits: for it, 0 times NaN or Inf is 0.
const leastForTiles = 4

// blockRows is the number of rows that are computed at a time: few enough for all
// cores, but so many that starting goroutines for them, and packing b for each block,
// as libraries do, costs little.
func blockRows(rows, inner, cols int) int {
	const (
		worthwhile = 1 << 18 // multiplications
		step, most = 16, 128
	)
	if rows*inner*cols < worthwhile {
		return rows
	}
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
