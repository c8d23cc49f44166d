// Package piecewise computes layers whose inputs are encoded by bins. A feature of n bins has
// a position p, and the encoding (Gorishniy, Rubachev & Babenko 2022, section 3.1)
//
//	e_k(p) = min(max(p − k, 0), 1),   k = 0, …, bins−1,
//
// one number a bin, with a row of weights each. The layer adds Σ_f Σ_k e_k(p_f)·w_f,k to the units of
// a document. With i the whole part of p and a the rest, that is (1−a)·C_i + a·C_i+1 for a
// feature, where C_i is the sum of the first i rows of its weights: two rows of a table,
// however many bins there are. The derivative by w_f,k is the sum of e_k·dz over the documents: those
// above the bin count whole, which one sweep from the last bin to the first adds up. Features of one bin,
// such as features of two values, are inputs of a dense layer, and so are features without bins.
//
// Positions are rounded to multiples of 2^−16. Weights [Σ bins, units] have the rows of one feature
// after the rows of another. AVX-512, AVX2 and NEON instructions are used where the machine has them,
// for float32; results are bit-identical for any GOMAXPROCS.
package piecewise

import (
	"fmt"
	"sync"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
)

// Float is the type of the numbers.
type Float = blas.Float

const (
	Steps    = 1 << 16 // positions that are told apart in a bin
	MostBins = 255     // of a feature: 8 bits and 16 hold a position, as does a float32
)

// Rows returns the number of rows of the weights.
func Rows(bins []int) (rows int) {
	for _, n := range bins {
		rows += n
	}
	return rows
}

// Check returns an error if there are more bins than columns, or a feature does not have 1 to MostBins.
func Check(bins []int, columns int) error {
	if len(bins) > columns {
		return fmt.Errorf("bins of %d features for %d columns", len(bins), columns)
	}
	for f, n := range bins {
		if n < 1 || n > MostBins {
			return fmt.Errorf("feature %d has %d bins: want 1 to %d", f, n, MostBins)
		}
	}
	return nil
}

// A column of x has bins, 0 for none, and rows of the weights from one on.
type column struct{ at, bins, row int }

// Columns describes the columns of the inputs x of a layer.
type Columns struct {
	bent     []column // two bins or more
	straight []column // one bin, and behind them those without: inputs of a dense layer
	in       int
}

// NewColumns returns that number of columns, the first of them with bins.
func NewColumns(bins []int, in int) Columns {
	c, row := Columns{in: in}, 0
	var plain []column
	for at := range in {
		now := column{at: at, row: row}
		if at < len(bins) {
			now.bins = bins[at]
		}
		switch {
		case now.bins > 1:
			c.bent = append(c.bent, now)
		case now.bins == 1:
			c.straight = append(c.straight, now)
		default:
			plain = append(plain, now)
		}
		row += max(now.bins, 1)
	}
	c.straight = append(c.straight, plain...)
	return c
}

// StraightRows returns the rows of the weights of a dense layer, whose inputs are [Straight].
func (c Columns) StraightRows() (rows []int) {
	for _, s := range c.straight {
		rows = append(rows, s.row)
	}
	return rows
}

// Straight copies the inputs of a dense layer from x, on all cores.
func Straight[T Float](c Columns, x []T) blas.Matrix[T] {
	k, f, n, rows := inUse[T](), newInputs[T](c.straight, 0), len(c.straight), len(x)/c.in
	to := blas.RowMajor(make([]T, rows*n), rows, n)
	parts := (rows + forwardRows - 1) / forwardRows
	parallel.For(parts, parallel.Workers(parts), func(_, i int) {
		p := take[positions[T]]()
		defer give(p)
		from, end := i*forwardRows, min((i+1)*forwardRows, rows)
		p.read(k, f, x[from*c.in:end*c.in], c.in)
		for r := range end - from {
			copy(to.Data[(from+r)*n:][:n], p.part[r*p.width:])
		}
	})
	return to
}

// inputs are columns as the kernels want them, those without bins last. Their arrays go on to the end
// of a register, with numbers that nobody reads.
type inputs[T Float] struct {
	columns []column
	binned  int  // how many have bins
	inRow   bool // these are neighbours in x
	bins    []T
	first   []uint32 // row of each where all rows stand one after another
	rows    int
}

// register is a multiple of the numbers that a register has.
const register = 16

// newInputs returns the inputs of columns; each that is bent has more rows than bins.
func newInputs[T Float](columns []column, more int) inputs[T] {
	in, n := inputs[T]{columns: columns}, (len(columns)+register-1)/register*register
	in.bins, in.first = make([]T, n), make([]uint32, n)
	for i, c := range columns {
		in.bins[i], in.first[i] = T(max(c.bins, 1)), uint32(in.rows)
		if c.bins > 0 {
			in.inRow = i == 0 || in.inRow && c.at == columns[i-1].at+1
			in.binned++
		}
		if c.bins > 1 {
			in.rows += c.bins + more
		}
	}
	return in
}

// positions are the rows and the parts that belong to the positions of some documents, width numbers
// each. Of columns without bins, the parts are their values.
type positions[T Float] struct {
	at    []uint32
	part  []T
	width int
}

// read reads rows of x, which are stride long.
func (p *positions[T]) read(k kernels[T], in inputs[T], x []T, stride int) {
	rows, n := len(x)/stride, (in.binned+register-1)/register*register
	p.width = len(in.bins)
	p.at, p.part = num.Sized(p.at, rows*p.width), num.Sized(p.part, rows*p.width)
	for r := range rows {
		from, at, part := x[r*stride:][:stride], p.at[r*p.width:], p.part[r*p.width:]
		if in.inRow {
			copy(part, from[in.columns[0].at:][:in.binned])
		} else {
			for i, c := range in.columns[:in.binned] {
				part[i] = from[c.at]
			}
		}
		k.split(part[:n], in.bins, in.first, at[:n])
		for i, c := range in.columns[in.binned:] {
			part[in.binned+i] = from[c.at]
		}
	}
}

// rooms have memory for use again, by type.
var rooms sync.Map

func take[R any]() *R {
	if pool, ok := rooms.Load((*R)(nil)); ok {
		return pool.(*sync.Pool).Get().(*R)
	}
	return new(R)
}

func give[R any](room *R) {
	pool, ok := rooms.Load((*R)(nil))
	if !ok {
		pool, _ = rooms.LoadOrStore((*R)(nil), &sync.Pool{New: func() any { return new(R) }})
	}
	pool.(*sync.Pool).Put(room)
}
