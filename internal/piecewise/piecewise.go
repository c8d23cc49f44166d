// Package piecewise computes layers whose inputs are encoded by bins. A feature of so many bins has
// a position p, and the encoding (Gorishniy, Rubachev & Babenko 2022, section 3.1)
//
//	e_k(p) = min(max(p − k, 0), 1),   k = 0, …, bins−1,
//
// one number a bin, with a row of weights each. The layer adds Σ_f Σ_k e_k(p_f)·w_f,k to the units of
// a document. With i the whole part of p and a the rest, that is (1−a)·C_i + a·C_i+1 for a
// feature, where C_i is the sum of the first i rows of its weights: two rows of a table,
// however many bins there are. The derivative by w_f,k is the sum of e_k·dz over the documents: those
// above the bin count whole, which one sweep from the last bin to the first adds up.
//
// Positions are rounded to multiples of 2^−16. Weights [Σ bins, units] have the rows of one feature
// after those of another. AVX-512, AVX2 and NEON instructions are used where the machine has them,
// for float32; results are bit-identical for any GOMAXPROCS.
package piecewise

import (
	"fmt"
	"sync"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/internal/scratch"
)

// Float is the type of the numbers.
type Float = blas.Float

const (
	Steps    = 1 << 16 // positions that are told apart in a bin
	MostBins = 255     // of a feature: 8 bits and 16 hold a position, as does a float32
)

const (
	// forwardRows and backwardRows are how many documents are computed at a time: what is kept of
	// them stays in the second cache.
	forwardRows, backwardRows = 256, 128

	// tableBytes is the size of the tables that are used at a time: they stay in the first cache.
	tableBytes = 24 << 10

	// sweepFeatures is how many features are swept one after another in the same documents.
	sweepFeatures = 32
)

// Rows is the number of rows of the weights.
func Rows(bins []int) (rows int) {
	for _, n := range bins {
		rows += n
	}
	return rows
}

// Check is an error where there are more bins than columns, or a feature has not 1 to MostBins.
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

// features are the bins of all features as the kernels want them, and the first of the rows of each,
// which has more rows than bins.
type features[T Float] struct {
	bins  []T
	first []uint32
	rows  int
}

func newFeatures[T Float](bins []int, more int) (f features[T]) {
	for _, n := range bins {
		f.bins, f.first = append(f.bins, T(n)), append(f.first, uint32(f.rows))
		f.rows += n + more
	}
	return f
}

// positions are the rows and the parts that belong to the positions of some documents.
type positions[T Float] struct {
	at   []uint32
	part []T
}

// split reads the positions of rows of x.
func (p *positions[T]) split(k kernels[T], f features[T], x []T, stride, rows int) {
	n := len(f.bins)
	p.at, p.part = scratch.Sized(p.at, rows*n), scratch.Sized(p.part, rows*n)
	for r := range rows {
		k.split(x[r*stride:][:n], f.bins, f.first, p.at[r*n:], p.part[r*n:])
	}
}

// A Table has the sums C of a layer's weights, prepared for any number of documents. It may be used
// by several goroutines at once.
type Table[T Float] struct {
	kernels[T]
	features[T] // with rows of a block of units
	out         int
	groups      []int // the features with which groups begin that are used at a time, and the number of features
	sums        []T   // block after block
}

// blocks is the number of blocks of so many units.
func (k kernels[T]) blocks(out int) int { return (out + k.width - 1) / k.width }

// NewTable makes the table of weights w [Rows(bins), out].
func NewTable[T Float](bins []int, out int, w []T) *Table[T] {
	t := &Table[T]{kernels: inUse[T](), features: newFeatures[T](bins, 1), out: out}
	t.sums = make([]T, t.blocks(out)*t.rows*t.width)
	together := 0 // bytes
	for f, n := range bins {
		size := (n + 1) * t.width * 4
		if together += size; together > tableBytes || f == 0 {
			t.groups, together = append(t.groups, f), size
		}
	}
	t.groups = append(t.groups, len(bins))
	blocks := t.blocks(out)
	parallel.For(blocks, parallel.Workers(blocks), func(_, b int) {
		w, sums := w[b*t.width:], t.sums[b*t.rows*t.width:]
		for _, n := range bins {
			for range n {
				add(sums[t.width:], sums, w[:min(t.width, out-b*t.width)])
				w, sums = w[min(out, len(w)):], sums[t.width:]
			}
			sums = sums[t.width:]
		}
	})
	return t
}

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

// Add adds the layer to y [rows, out], on the calling goroutine. The positions of a document are the
// first numbers of a row of x, which is stride long.
func (t *Table[T]) Add(x []T, stride int, y []T) {
	room := take[forwardRoom[T]]()
	defer give(room)
	for rows := len(y) / t.out; rows > 0; {
		n := min(rows, forwardRows)
		room.split(t.kernels, t.features, x, stride, n)
		for b := range t.blocks(t.out) {
			t.addBlock(b, n, room, y)
		}
		rows, x, y = rows-n, x[min(n*stride, len(x)):], y[n*t.out:]
	}
}

type forwardRoom[T Float] struct {
	positions[T]
	y []T
}

// addBlock adds a block of units of some documents.
func (t *Table[T]) addBlock(b, rows int, room *forwardRoom[T], y []T) {
	room.y = scratch.Sized(room.y, rows*t.width)
	gather(room.y, t.width, y, t.out, b)
	for g, f := range t.groups[:len(t.groups)-1] {
		t.forward(rows, t.groups[g+1]-f, room.at[f:], room.part[f:], len(t.bins), t.sums[b*t.rows*t.width:], room.y)
	}
	from, to := b*t.width, min((b+1)*t.width, t.out)
	for r := range rows {
		copy(y[r*t.out+from:r*t.out+to], room.y[r*t.width:])
	}
}

// gather copies a block of units of as many rows of y [rows, out] as to has, which are width long.
func gather[T Float](to []T, width int, y []T, out, block int) {
	from, end := block*width, min((block+1)*width, out)
	for r := range len(to) / width {
		copy(to[r*width:][:width], y[r*out+from:r*out+end])
	}
}

// WeightsVJP sets dw [Rows(bins), out] to the derivatives by the weights, given those by the output,
// dz [rows, out], on all cores.
func WeightsVJP[T Float](bins []int, out int, x []T, stride int, dz, dw []T) {
	k, f, rows := inUse[T](), newFeatures[T](bins, 0), len(dz)/out
	parts := make([]*sorted[T], (rows+backwardRows-1)/backwardRows)
	parallel.For(len(parts), parallel.Workers(len(parts)), func(_, i int) {
		from, to := i*backwardRows, min((i+1)*backwardRows, rows)
		parts[i] = take[sorted[T]]()
		parts[i].sort(k, f, bins, out, x[from*stride:], stride, dz[from*out:to*out])
	})
	groups, blocks := (len(bins)+sweepFeatures-1)/sweepFeatures, k.blocks(out)
	parallel.For(groups*blocks, parallel.Workers(groups*blocks), func(_, i int) {
		from := i / blocks * sweepFeatures
		k.sweep(bins, from, min(from+sweepFeatures, len(bins)), out, i%blocks, parts, dw)
	})
	for _, s := range parts {
		give(s)
	}
}

// sorted are the documents of a block of rows, by feature and by bin.
type sorted[T Float] struct {
	positions[T]
	rows    int
	entries []entry[T] // rows entries a feature, those of the last bin first
	counts  []int      // of the bins of all features
	next    []int      // by bin: where its next entry goes
	dz      []T        // by block of units
}

func (s *sorted[T]) sort(k kernels[T], f features[T], bins []int, out int, x []T, stride int, dz []T) {
	n := len(bins)
	s.rows = len(dz) / out
	s.split(k, f, x, stride, s.rows)
	s.counts, s.next = scratch.Sized(s.counts, f.rows), scratch.Sized(s.next, f.rows)
	clear(s.counts)
	for _, bin := range s.at {
		s.counts[bin]++
	}
	bin, at := f.rows, s.rows*n
	for i := n - 1; i >= 0; i-- {
		at -= s.rows
		bin -= bins[i]
		place := at
		for b := bin + bins[i] - 1; b >= bin; b-- {
			s.next[b], place = place, place+s.counts[b]
		}
	}
	s.entries = scratch.Sized(s.entries, s.rows*n)
	const together = 16 // features: the memory that is written to stays in the first cache
	for from := 0; from < n; from += together {
		to := min(from+together, n)
		for r := range s.rows {
			parts := s.part[r*n+from : r*n+to]
			for i, bin := range s.at[r*n+from : r*n+to] {
				s.entries[s.next[bin]] = entry[T]{uint32(r), parts[i]}
				s.next[bin]++
			}
		}
	}
	s.dz = scratch.Sized(s.dz, k.blocks(out)*s.rows*k.width)
	for b := range k.blocks(out) {
		gather(s.dz[b*s.rows*k.width:][:s.rows*k.width], k.width, dz, out, b)
	}
}

// sweep sets the derivatives of a block of units by the weights of features from to to−1.
func (k kernels[T]) sweep(bins []int, from, to, out, block int, parts []*sorted[T], dw []T) {
	first, n := Rows(bins[:from]), Rows(bins[from:to])
	sums := make([]T, n*k.width)
	for _, s := range parts {
		at := 0
		for f := from; f < to; f++ {
			k.backward(s.counts[first+at:][:bins[f]], s.entries[f*s.rows:], s.dz[block*s.rows*k.width:], sums[at*k.width:])
			at += bins[f]
		}
	}
	width := min(k.width, out-block*k.width)
	for r := range n {
		copy(dw[(first+r)*out+block*k.width:][:width], sums[r*k.width:])
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
