package piecewise

import (
	"math"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
)

const (
	// forwardRows is how many documents are computed at a time: what is kept of them stays in the
	// second cache.
	forwardRows = 256

	// tableBytes is the size of the tables that are used at a time: they stay in the first cache.
	tableBytes = 24 << 10
)

// A Layer is one with weights that stay as they are. It may be used by several goroutines at once.
type Layer[T Float] struct {
	kernels[T]
	inputs   inputs[T] // all columns: those that are bent, with rows of a block of units, and the straight ones
	bent     int       // how many of them
	out      int
	straight blas.Right[T] // the weights of the others
	bias     []T
	relu     bool
	groups   []int // the features with which groups begin that are used at a time, and the number of features
	table    *table[T]
}

// A table has the sums C of the weights, block of units after block.
type table[T Float] struct{ sums []T }

// blocks returns the number of blocks of that number of units.
func (k kernels[T]) blocks(out int) int { return (out + k.width - 1) / k.width }

// NewLayer makes the layer of weights w and what end says, on all cores.
func NewLayer[T Float](c Columns, out int, w []T, end blas.End[T]) *Layer[T] {
	columns := append(c.bent[:len(c.bent):len(c.bent)], c.straight...)
	l := &Layer[T]{
		kernels: inUse[T](), inputs: newInputs[T](columns, 1), bent: len(c.bent), out: out, bias: end.Bias, relu: end.ReLU,
		table: take[table[T]](),
	}
	dense := make([]T, len(c.straight)*out)
	for i, row := range c.StraightRows() {
		copy(dense[i*out:][:out], w[row*out:])
	}
	l.straight = blas.NewRight(blas.RowMajor(dense, len(c.straight), out))
	together := 0 // bytes
	for f, c := range c.bent {
		size := (c.bins + 1) * l.width * 4
		if together += size; together > tableBytes || f == 0 {
			l.groups, together = append(l.groups, f), size
		}
	}
	l.groups = append(l.groups, l.bent)
	l.table.sums = num.Sized(l.table.sums, l.blocks(out)*l.inputs.rows*l.width)
	parallel.For(l.bent, parallel.Workers(l.bent), func(_, f int) {
		for b := range l.blocks(out) {
			l.addUp(f, b, w)
		}
	})
	return l
}

// addUp sets a block of units of the table of a feature.
func (l *Layer[T]) addUp(f, block int, w []T) {
	from, to, c := block*l.width, min((block+1)*l.width, l.out), l.inputs.columns[f]
	sums := l.table.sums[(block*l.inputs.rows+int(l.inputs.first[f]))*l.width:]
	clear(sums[:l.width])
	for row := c.row; row < c.row+c.bins; row++ {
		add(sums[l.width:], sums, w[row*l.out+from:row*l.out+to])
		sums = sums[l.width:]
	}
}

// Free gives the memory back for other layers. It need not be called.
func (l *Layer[T]) Free() { give(l.table) }

// add sets sum to a + b, as many numbers as b has.
func add[T Float](sum, a, b []T) {
	if b, ok := any(b).([]float32); ok {
		vek32.Add_Into(any(sum).([]float32), any(a).([]float32)[:len(b)], b)
		return
	}
	for i, v := range b {
		sum[i] = a[i] + v
	}
}

// Run sets y [rows, out] to e(x)·w, and what end says, on the calling goroutine.
func (l *Layer[T]) Run(x []T, stride int, y []T) {
	room := take[forwardRoom[T]]()
	defer give(room)
	for rows := len(y) / l.out; rows > 0; {
		n := min(rows, forwardRows)
		room.read(l.kernels, l.inputs, x[:n*stride], stride)
		straight := blas.Matrix[T]{Data: room.part[l.bent:], Rows: n, Cols: len(l.inputs.columns) - l.bent, Row: room.width, Col: 1}
		l.straight.Product(blas.RowMajor(y, n, l.out), straight, blas.End[T]{Bias: l.bias, ReLU: l.relu && l.bent == 0})
		if l.bent > 0 {
			for b := range l.blocks(l.out) {
				l.addBlock(b, n, room, y)
			}
		}
		rows, x, y = rows-n, x[n*stride:], y[n*l.out:]
	}
}

type forwardRoom[T Float] struct {
	positions[T]
	y []T
}

// addBlock adds to a block of units of some documents what is bent. Only a whole block stays where it is
// until the last group, as kernels write all units.
func (l *Layer[T]) addBlock(b, rows int, room *forwardRoom[T], y []T) {
	width := l.kernels.width
	room.y = num.Sized(room.y, rows*width)
	kept := block[T]{room.y, width}
	first, last, whole := block[T]{y[b*width:], l.out}, block[T]{y[b*width:], l.out}, (b+1)*width <= l.out
	if !whole {
		gather(room.y, width, y, l.out, b)
		first, last = kept, kept
	}
	sums, floor := l.table.sums[b*l.inputs.rows*width:], T(math.Inf(-1))
	for g, f := range l.groups[:len(l.groups)-1] {
		to := kept
		if g == len(l.groups)-2 {
			if to = last; l.relu {
				floor = 0
			}
		}
		l.forward(rows, l.groups[g+1]-f, room.at[f:], room.part[f:], room.width, sums, first, to, floor)
		first = kept
	}
	if !whole {
		for r := range rows {
			copy(y[r*l.out+b*width:(r+1)*l.out], room.y[r*width:])
		}
	}
}

// gather copies a block of units of as many rows of y [rows, out] as to has, which are width long.
func gather[T Float](to []T, width int, y []T, out, block int) {
	from, end := block*width, min((block+1)*width, out)
	for r := range len(to) / width {
		copy(to[r*width:][:width], y[r*out+from:r*out+end])
	}
}
