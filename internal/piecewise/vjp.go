package piecewise

import (
	"math"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
)

const (
	// backwardRows is how many documents are sorted at a time: a block of units of theirs stays in the
	// first cache, and 8 bits tell them apart.
	backwardRows = 128

	leastFeatures, mostFeatures = 4, 40 // that are sorted at a time
)

// WeightsVJP sets the rows of dw [rows, out] of the columns that are bent to the derivatives by the
// weights, given those by the output, dz [rows, out], on all cores.
func WeightsVJP[T Float](c Columns, out int, x []T, dz, dw []T) {
	k, rows, n := inUse[T](), len(dz)/out, len(c.bent)
	if n == 0 {
		return
	}
	blocks := take[dzBlocks[T]]()
	defer give(blocks)
	blocks.copy(k, dz, rows, out)
	size := min(max(n/(4*parallel.Workers(n)), leastFeatures), mostFeatures)
	tasks := (n + size - 1) / size
	parallel.For(tasks, parallel.Workers(tasks), func(_, i int) {
		s := take[sweep[T]]()
		defer give(s)
		s.kernels, s.inputs = k, newInputs[T](c.bent[i*size:min((i+1)*size, n)], 0)
		s.run(x, c.in, blocks.dz, rows, out)
		s.store(dw, out)
	})
}

// dzBlocks has the derivatives by the output of backwardRows documents after others, block of
// units after block.
type dzBlocks[T Float] struct{ dz []T }

func (r *dzBlocks[T]) copy(k kernels[T], dz []T, rows, out int) {
	blocks, parts := k.blocks(out), (rows+backwardRows-1)/backwardRows
	r.dz = num.Sized(r.dz, rows*blocks*k.width)
	parallel.For(parts, parallel.Workers(parts), func(_, i int) {
		from, to := i*backwardRows, min((i+1)*backwardRows, rows)
		n := (to - from) * k.width
		for b := range blocks {
			gather(r.dz[from*blocks*k.width+b*n:][:n], k.width, dz[from*out:to*out], out, b)
		}
	})
}

// A sweep adds up the derivatives by the weights of some features.
type sweep[T Float] struct {
	kernels[T]
	inputs inputs[T]
	positions[T]
	counts  []uint32 // of documents in the bins of all features
	next    []uint32 // by bin: where its next entry goes
	entries []uint32 // one for each feature and document, the last bin first
	sums    []T      // block of units after block
}

func (s *sweep[T]) run(x []T, stride int, dz []T, rows, out int) {
	width, blocks := s.kernels.width, s.blocks(out)
	s.sums = num.Sized(s.sums, blocks*s.inputs.rows*width)
	clear(s.sums)
	for rows > 0 {
		n := min(rows, backwardRows)
		s.sort(x[:n*stride], stride)
		for b := range blocks {
			dz, sums := dz[b*n*width:], s.sums[b*s.inputs.rows*width:]
			for f, c := range s.inputs.columns {
				first := int(s.inputs.first[f])
				s.backward(s.counts[first:first+c.bins], s.entries[f*n:], dz, sums[first*width:])
			}
		}
		rows, x, dz = rows-n, x[n*stride:], dz[n*blocks*width:]
	}
}

// sort sorts the documents in rows of x by their bins, feature by feature.
func (s *sweep[T]) sort(x []T, stride int) {
	s.read(s.kernels, s.inputs, x, stride)
	rows, n := len(x)/stride, len(s.inputs.columns)
	s.counts, s.next = num.Sized(s.counts, s.inputs.rows), num.Sized(s.next, s.inputs.rows)
	s.entries = num.Sized(s.entries, rows*n)
	counts := s.counts
	clear(counts)
	for r := range rows {
		for _, bin := range s.at[r*s.positions.width:][:n] {
			counts[bin]++
		}
	}
	for f, c := range s.inputs.columns {
		place, first := uint32(f*rows), int(s.inputs.first[f])
		for bin := first + c.bins - 1; bin >= first; bin-- {
			s.next[bin], place = place, place+counts[bin]
		}
	}
	next, entries := s.next, s.entries
	for r := range rows {
		bins := s.at[r*s.positions.width:][:n]
		for f, part := range s.part[r*s.positions.width:][:len(bins)] {
			place := next[bins[f]]
			next[bins[f]] = place + 1
			entries[place] = newEntry(r, float32(part))
		}
	}
}

// store copies the sums to the rows of dw.
func (s *sweep[T]) store(dw []T, out int) {
	width := s.kernels.width
	for b := range s.blocks(out) {
		from, to := b*width, min((b+1)*width, out)
		for f, c := range s.inputs.columns {
			for k := range c.bins {
				row := b*s.inputs.rows + int(s.inputs.first[f]) + k
				copy(dw[(c.row+k)*out+from:(c.row+k)*out+to], s.sums[row*width:])
			}
		}
	}
}

// newEntry is the part of a bin, a multiple of 1/Steps whose last eight bits are 0, and a document below
// 256 in these bits.
func newEntry(row int, part float32) uint32 { return math.Float32bits(part)&^255 | uint32(row) }

// ofEntry is the way back.
func ofEntry(e uint32) (row int, part float32) {
	return int(e % 256), math.Float32frombits(e &^ 255)
}
