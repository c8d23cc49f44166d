package piecewise

import "math"

// kernels do the work for a block of units. A row of a table, of y, dz and dw, has as many
// numbers as a block; the rows lie one after another.
type kernels[T Float] struct {
	name  string
	width int // units of a block

	// split sets at to first plus the bin of a position, and part, which has the positions, to
	// the part of the bin. There are whole registers of them.
	split func(part, bins []T, first, at []uint32)

	// forward sets every row of to to the row of from, plus, for each of the features, row at of the table
	// times 1−part and the row after it times part, but to floor at least. From one row of at and part to
	// the next are stride numbers.
	forward func(rows, features int, at []uint32, part []T, stride int, table []T, from, to block[T], floor T)

	// backward adds to row b of dw the rows of dz of all entries in bins above b, and those in bin b
	// times part, see newEntry. The entries lie bin by bin, the last bin first, and counts has
	// their numbers, the first bin first.
	backward func(counts, entries []uint32, dz, dw []T)
}

// A block is the units of some documents, which are row numbers apart.
type block[T Float] struct {
	units []T
	row   int
}

// available are the kernels for float32 that the program and the machine have, the best last.
var available = append([]kernels[float32]{plain[float32]()}, vectorKernels()...)

// inUse32 is what float32 is computed with; tests change it.
var inUse32 = available[len(available)-1]

func inUse[T Float]() kernels[T] {
	if k, ok := any(inUse32).(kernels[T]); ok {
		return k
	}
	return plain[T]()
}

// ofPointers are kernels whose functions take addresses. Without a split it is that in Go.
func ofPointers(name string, width int,
	split func(n int, part, bins *float32, first, at *uint32),
	forward func(rows, features int, at *uint32, part *float32, stride int, table, from *float32, fromRow int, to *float32, toRow int,
		floor float32),
	backward func(bins int, counts, entries *uint32, dz, dw *float32),
) kernels[float32] {
	k := kernels[float32]{
		name: name, width: width, split: plainSplit[float32],
		forward: func(rows, features int, at []uint32, part []float32, stride int, table []float32, from, to block[float32], floor float32) {
			const size = 4 // bytes
			forward(rows, features, &at[0], &part[0], stride*size, &table[0], &from.units[0], from.row*size, &to.units[0], to.row*size, floor)
		},
		backward: func(counts, entries []uint32, dz, dw []float32) {
			backward(len(counts), &counts[0], &entries[0], &dz[0], &dw[0])
		},
	}
	if split != nil {
		k.split = func(part, bins []float32, first, at []uint32) {
			if len(part) > 0 {
				split(len(part), &part[0], &bins[0], &first[0], &at[0])
			}
		}
	}
	return k
}

// plainWidth is the units of a block without vector instructions.
const plainWidth = 16

// plain are the kernels in Go.
func plain[T Float]() kernels[T] {
	return kernels[T]{name: "Go", width: plainWidth, split: plainSplit[T], forward: plainForward[T], backward: plainBackward[T]}
}

func plainSplit[T Float](part, bins []T, first, at []uint32) {
	for f, p := range part {
		p = min(max(p, 0), bins[f]) // NaN stays
		fixed := uint32(0)
		if p == p {
			fixed = uint32(math.RoundToEven(float64(p) * Steps))
		}
		bin := min(fixed/Steps, uint32(bins[f])-1)
		at[f], part[f] = first[f]+bin, T(fixed-bin*Steps)/Steps+(p-p)
	}
}

func plainForward[T Float](rows, features int, at []uint32, part []T, stride int, table []T, from, to block[T], floor T) {
	for r := range rows {
		sums := to.units[r*to.row:][:plainWidth]
		copy(sums, from.units[r*from.row:])
		for f, k := range at[r*stride:][:features] {
			pair, high := table[k*plainWidth:][:2*plainWidth], part[r*stride+f]
			for u := range sums {
				sums[u] += (1-high)*pair[u] + high*pair[plainWidth+u]
			}
		}
		for u, v := range sums {
			sums[u] = max(v, floor)
		}
	}
}

func plainBackward[T Float](counts, entries []uint32, dz, dw []T) {
	var above [plainWidth]T
	for b := len(counts) - 1; b >= 0; b-- {
		sums := dw[b*plainWidth:][:plainWidth]
		for u, v := range above {
			sums[u] += v
		}
		for _, e := range entries[:counts[b]] {
			row, part := ofEntry(e)
			for u, v := range dz[row*plainWidth:][:plainWidth] {
				above[u] += v
				sums[u] += T(part) * v
			}
		}
		entries = entries[counts[b]:]
	}
}
