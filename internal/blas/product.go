package blas

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/plrank/plrank/internal/parallel"
)

// Product sets c = a·b, and what end says, on all cores: a is [rows, inner], b [inner, cols],
// c [rows, cols], row after row. Blocks of rows of c that are ready are passed to then, if it is
// not nil, for what is to be done with them while they are in the cache: rows from to to−1. It
// panics where shapes do not fit or data is too short.
func Product[T Float](c, a, b Matrix[T], end End[T], then func(from, to int)) {
	check(c, a, b)
	end.check(c.Cols)
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	block := blockRows(a.Rows, a.Cols, b.Cols)
	if block >= c.Rows {
		multiply(c, a, b, end)
		if then != nil {
			then(0, c.Rows)
		}
		return
	}
	right := newRight(b, a.Rows)
	defer right.Free()
	blocks := (c.Rows + block - 1) / block
	parallel.For(blocks, parallel.Workers(blocks), func(_, i int) {
		from, to := i*block, min((i+1)*block, c.Rows)
		right.product(c.Slice(from, to-from, 0, c.Cols), a.Slice(from, to-from, 0, a.Cols), end)
		if then != nil {
			then(from, to)
		}
	})
}

// Multiply computes Product without an end, on the calling goroutine: the same numbers, bit for
// bit.
func Multiply[T Float](c, a, b Matrix[T]) {
	check(c, a, b)
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	multiply(c, a, b, End[T]{})
}

func multiply[T Float](c, a, b Matrix[T], end End[T]) {
	if c.Cols == 1 && c.Row == 1 && a.Row == 1 && a.Col > 1 {
		if end.Bias != nil { // one number, for what is now one row
			defer end.apply(c)
			end = End[T]{}
		}
		c, a, b = c.T(), b.T(), a.T() // a single row times a matrix that lies right
	}
	right := newRight(b, a.Rows)
	defer right.Free()
	right.product(c, a, end)
}

// A Right is a matrix on the right of products, prepared for them. It may be used by
// several goroutines at once.
type Right[T Float] struct {
	b      Matrix[T]
	panels panels // of no width: products go to a library
}

// NewRight prepares b for any number of products. It keeps b.
func NewRight[T Float](b Matrix[T]) Right[T] {
	b.check()
	return newRight(b, b.Rows*b.Cols)
}

// newRight prepares b for products with that number of rows in all.
func newRight[T Float](b Matrix[T], rows int) Right[T] {
	r := Right[T]{b: b}
	if b32, ok := any(b).(Matrix[float32]); ok && inUse.rows > 0 && b.Rows > 0 && b.Cols > 0 {
		r.panels = newPanels(b32, rows)
	}
	if r.panels.width == 0 && b.Col != 1 {
		// gonum's way with a transposed matrix on the right depends on the number of rows.
		r.b = RowMajor(make([]T, b.Rows*b.Cols), b.Rows, b.Cols)
		pack(r.b.Data, b.Cols, b)
	}
	return r
}

// SkipZeros makes products with a single row leave out what that row multiplies by 0, if all
// numbers of b are finite: that changes nothing then.
func (r Right[T]) SkipZeros() Right[T] {
	for _, v := range r.b.Data {
		if v-v != 0 {
			return r
		}
	}
	r.panels.all = 0
	return r
}

// Free gives memory back for use by others. It need not be called.
func (r Right[T]) Free() {
	r.panels.free()
}

// Product sets c = a·b, and what end says, on the calling goroutine. A row of c is the same, bit
// for bit, as in [Product] with more or fewer rows.
func (r Right[T]) Product(c, a Matrix[T], end End[T]) {
	check(c, a, r.b)
	end.check(c.Cols)
	r.product(c, a, end)
}

func (r Right[T]) product(c, a Matrix[T], end End[T]) {
	switch {
	case c.Rows == 0 || c.Cols == 0:
	case a.Cols == 0:
		for i := range c.Rows {
			row := c.Data[i*c.Row:][:c.Cols]
			clear(row[copy(row, end.Bias):])
		}
		End[T]{ReLU: end.ReLU}.apply(c)
	case r.panels.width > 0:
		r.panels.product(any(c).(Matrix[float32]), any(a).(Matrix[float32]), any(end).(End[float32]))
	default:
		gemm(c, a, r.b)
		end.apply(c)
	}
}

func check[T Float](c, a, b Matrix[T]) {
	if c.Rows != a.Rows || a.Cols != b.Rows || b.Cols != c.Cols {
		panic(fmt.Sprintf("blas: [%d, %d] = [%d, %d]·[%d, %d]", c.Rows, c.Cols, a.Rows, a.Cols, b.Rows, b.Cols))
	}
	if c.Col != 1 {
		panic("blas: a product is stored row after row")
	}
	c.check()
	a.check()
	b.check()
}

// blockRows is the number of rows that are computed at a time: few enough for all
// cores, but enough that starting goroutines for them costs little.
func blockRows(rows, inner, cols int) int {
	const (
		worthwhile = 1 << 21 // multiplications: some ten microseconds on one core, in which a goroutine starts
		step, most = 12, 120 // whole tiles
	)
	if rows*inner*cols < worthwhile {
		return rows
	}
	half := (rows + 1) / 2
	return min(most, (half+step-1)/step*step)
}

func gemm[T Float](c, a, b Matrix[T]) {
	tA, tB := transposed(a), transposed(b)
	switch c := any(c).(type) {
	case Matrix[float32]:
		blas32.Implementation().Sgemm(tA, tB, c.Rows, c.Cols, a.Cols, 1, any(a.Data).([]float32), a.stride(),
			any(b.Data).([]float32), b.stride(), 0, c.Data, c.stride())
	case Matrix[float64]:
		blas64.Implementation().Dgemm(tA, tB, c.Rows, c.Cols, a.Cols, 1, any(a.Data).([]float64), a.stride(),
			any(b.Data).([]float64), b.stride(), 0, c.Data, c.stride())
	}
}

func transposed[T Float](m Matrix[T]) blas.Transpose {
	if m.Col == 1 {
		return blas.NoTrans
	}
	return blas.Trans
}
