package blas

import (
	"sync"

	"golang.org/x/sys/cpu"
)

var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F
)

// Tiles of c are of up to 4 rows, and of 16 columns with AVX2, 32 with AVX-512.
const (
	tileRows = 4
	mostCols = 32

	columnRows = 8 // where there is one column
)

// tile4x16 sets 4 rows of 16 columns of c to the product of 4 rows of a, with inner
// columns, and 16 columns of b, with inner rows. Strides, from row to row, are in
// bytes; inner is 1 or more.
//
//go:noescape
func tile4x16(inner int, a *float32, aStride int, b *float32, bStride int, c *float32, cStride int)

// tile1x16 is the same for one row.
//
//go:noescape
func tile1x16(inner int, a *float32, b *float32, bStride int, c *float32)

//go:noescape
func tile4x32(inner int, a *float32, aStride int, b *float32, bStride int, c *float32, cStride int)

//go:noescape
func tile1x32(inner int, a *float32, b *float32, bStride int, c *float32)

// column8 sets 8 entries of c to the product of 8 rows of a and the only column of b.
//
//go:noescape
func column8(inner int, a *float32, aStride int, b *float32, c *float32)

// tiled is what the tiles of a product share.
type tiled struct {
	b           []float32
	inner, cols int
	width       int        // columns of a tile
	tail        *[]float32 // the last columns of b, where these are no whole tile, with zeros behind them: [inner, width]
}

var tails = sync.Pool{New: func() any { return new([]float32) }}

func newTiled(b []float32, inner, cols int) *tiled {
	t := &tiled{b: b, inner: inner, cols: cols, width: 16}
	if inUse == avx512 {
		t.width = 32
	}
	first := cols / t.width * t.width
	if first == cols {
		return t
	}
	t.tail = tails.Get().(*[]float32)
	if cap(*t.tail) < inner*t.width {
		*t.tail = make([]float32, inner*t.width)
	}
	*t.tail = (*t.tail)[:inner*t.width]
	clear(*t.tail)
	for k := range inner {
		copy((*t.tail)[k*t.width:], b[k*cols+first:(k+1)*cols])
	}
	return t
}

// free gives the memory back.
func (t *tiled) free() {
	if t.tail != nil {
		tails.Put(t.tail)
	}
}

// product sets rows of c to those of a times b.
func (t *tiled) product(c, a []float32, rows int) {
	const size = 4 // bytes of a number
	if t.cols == 1 && rows >= columnRows {
		for r := 0; r < rows; r += columnRows {
			r = min(r, rows-columnRows) // the last ones, some of them again
			column8(t.inner, &a[r*t.inner], t.inner*size, &t.b[0], &c[r])
		}
		return
	}
	var tile [tileRows * mostCols]float32
	for r := 0; r < rows; {
		height := tileRows
		if rows-r < tileRows {
			height = 1
		}
		ar, aStride := &a[r*t.inner], t.inner*size
		for j := 0; j < t.cols; j += t.width {
			b, bStride := &t.b[j], t.cols*size
			to, cStride := &c[r*t.cols+j], t.cols*size
			width := min(t.width, t.cols-j)
			if width < t.width {
				b, bStride = &(*t.tail)[0], t.width*size
				to, cStride = &tile[0], t.width*size
			}
			switch {
			case t.width == 32 && height == 1:
				tile1x32(t.inner, ar, b, bStride, to)
			case t.width == 32:
				tile4x32(t.inner, ar, aStride, b, bStride, to, cStride)
			case height == 1:
				tile1x16(t.inner, ar, b, bStride, to)
			default:
				tile4x16(t.inner, ar, aStride, b, bStride, to, cStride)
			}
			if width < t.width {
				for i := range height {
					copy(c[(r+i)*t.cols+j:][:width], tile[i*t.width:])
				}
			}
		}
		r += height
	}
}
