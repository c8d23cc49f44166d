package blas

import (
	"sync"

	"github.com/plrank/plrank/internal/num"
)

// panels are a matrix on the right of products, cut into panels of as many columns as a
// tile has. Those that lie well stay where they are; the others are copied, row after row
// without gaps, and with zeros behind the last column.
type panels struct {
	b      Matrix[float32]
	width  int
	inB    int        // columns that stay in b
	all    int        // 0: rows of b that are multiplied by 0 are left out where that is quicker
	copied *[]float32 // the panels of the others
}

func newPanels(b Matrix[float32], rows int) panels {
	p := panels{b: b, width: inUse.cols, all: 1}
	// Rows that are far apart are in lines of memory that push each other out of the cache.
	const near = 256
	if b.Col == 1 && (b.Row <= near || rows <= inUse.rows) {
		p.inB = b.Cols / p.width * p.width
	}
	if p.inB == b.Cols || p.isColumn() {
		return p
	}
	rest := b.Slice(0, b.Rows, p.inB, b.Cols-p.inB)
	p.copied = take((rest.Cols + p.width - 1) / p.width * p.width * b.Rows)
	for j := 0; j < rest.Cols; j += p.width {
		width := min(p.width, rest.Cols-j)
		pack((*p.copied)[j*b.Rows:][:b.Rows*p.width], p.width, rest.Slice(0, b.Rows, j, width))
	}
	return p
}

// pack copies a matrix to rows that are row numbers apart, with zeros behind its own.
func pack[T Float](to []T, row int, m Matrix[T]) {
	if m.Cols < row {
		clear(to)
	}
	if m.Rows == 0 {
		return
	}
	if m.Col == 1 {
		for i := range m.Rows {
			copy(to[i*row:], m.Data[i*m.Row:][:m.Cols])
		}
		return
	}
	for j := range m.Cols {
		for i, v := range m.Data[j*m.Col:][:m.Rows] {
			to[i*row+j] = v
		}
	}
}

func (p *panels) free() {
	if p.copied != nil {
		pool.Put(p.copied)
	}
}

// start returns where row k of the panel of column j is, and the distance to the next row.
func (p *panels) start(k, j int) (*float32, int) {
	if j < p.inB {
		return &p.b.Data[k*p.b.Row+j], p.b.Row
	}
	return &(*p.copied)[(j-p.inB)*p.b.Rows+k*p.width], p.width
}

const size = 4 // bytes of a number

// isColumn says that there are instructions of their own for matrices of one column.
func (p *panels) isColumn() bool { return inUse.column8 != nil && p.b.Cols == 1 }

// column is product for a matrix of one column, eight rows at a time: at the end some of them
// again, and where there are fewer, eight times the same row.
func (p *panels) column(c, a Matrix[float32]) {
	step, next := 8, 1
	if c.Rows < step {
		step, next = 1, 0
	}
	for i := 0; i < c.Rows; i += step {
		i := min(i, c.Rows-step)
		inUse.column8(a.Cols, &a.Data[i*a.Row], next*a.Row*size, a.Col*size,
			&p.b.Data[0], p.b.Row*size, &c.Data[i*c.Row], next*c.Row*size)
	}
}

// product sets c = a·b, and what end says. Every entry is a sum in the order of the inner
// index, each term added by one fused multiplication, whichever tile it is in. Numbers
// below the smallest normal one count as 0.
func (p *panels) product(c, a Matrix[float32], end End[float32]) {
	if p.isColumn() {
		p.column(c, a)
		end.apply(c)
		return
	}
	first := 0
	if c.Rows == 1 {
		first = p.row(c, a, end)
	}
	whole := c.Cols / p.width * p.width
	var last, padded []float32 // the columns of the last panel, if it is not whole, and their bias
	if whole < c.Cols {
		room := take((c.Rows + 1) * p.width)
		defer pool.Put(room)
		last, padded = (*room)[:c.Rows*p.width], (*room)[c.Rows*p.width:]
		clear(padded)
		if end.Bias != nil {
			copy(padded, end.Bias[whole:])
		}
	}
	const chunk = 256 // rows of b at a time: the rows of a panel stay in the fastest cache
	for k := 0; k < a.Cols; k += chunk {
		var now End[float32] // with the last chunk
		if k+chunk >= a.Cols {
			now = end
		}
		for j := first; j < c.Cols; j += p.width {
			to, row := &c.Data[j], c.Row
			bias, relu := now.fromColumn(j)
			if j == whole {
				to, row = &last[0], p.width
				if bias != nil {
					bias = &padded[0]
				}
			}
			b, bRow := p.start(k, j)
			// The sums go on from the chunks before.
			inUse.tiles(c.Rows, min(chunk, a.Cols-k), &a.Data[k*a.Col], inUse.rows*a.Row*size, a.Row*size, a.Col*size,
				b, bRow*size, to, row*size, min(k, 1), bias, relu)
		}
	}
	if whole < c.Cols {
		for i := range c.Rows {
			copy(c.Data[i*c.Row+whole:][:c.Cols-whole], last[i*p.width:])
		}
	}
}

// row is product for the whole panels of a single row, where they lie side by side. It
// gives the number of columns that are done.
func (p *panels) row(c, a Matrix[float32], end End[float32]) (done int) {
	if inUse.row == nil || p.b.Col != 1 {
		return 0
	}
	for left := c.Cols / p.width; left > 0; {
		n := min(left, rowPanels)
		bias, relu := end.fromColumn(done)
		inUse.row(a.Cols, &a.Data[0], a.Col*size, &p.b.Data[done], p.b.Row*size, &c.Data[done], n, bias, relu, p.all)
		left, done = left-n, done+n*p.width
	}
	return done
}

// pool has memory for use again.
var pool = sync.Pool{New: func() any { return new([]float32) }}

func take(n int) *[]float32 {
	s := pool.Get().(*[]float32)
	*s = num.Sized(*s, n)
	return s
}
