package piecewise

import (
	"math"
	"unsafe"
)

// kernels do the work for a block of units. A row of a table, of y, dz and dw, has as many
// numbers as a block; the rows lie one after another.
type kernels[T Float] struct {
	name  string
	width int // units of a block

	// split sets at to first plus the bin of a position x, of so many, and part to the part of the bin.
	split func(x, bins []T, first, at []uint32, part []T)

	// forward adds to every row of y, for each of the features, row at of the table times 1−part and
	// the row after it times part. From one row of at and part to the next are stride numbers.
	forward func(rows, features int, at []uint32, part []T, stride int, table, y []T)

	// backward adds to row b of dw the rows of dz of all entries in bins above b, and those in bin b
	// times part. The entries lie bin by bin, those of the last bin first, and counts has their
	// numbers, those of the first bin first.
	backward func(counts []int, entries []entry[T], dz, dw []T)
}

// An entry is a row of dz, and the part of a bin.
type entry[T Float] struct {
	row  uint32
	part T
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

// ofPointers are kernels whose functions take addresses; split takes multiples of step numbers.
func ofPointers(name string, width, step int,
	split func(n int, x, bins *float32, first, at *uint32, part *float32),
	forward func(rows, features int, at *uint32, part *float32, stride int, table, y *float32),
	backward func(bins int, counts *int, entries *uint64, dz, dw *float32),
) kernels[float32] {
	return kernels[float32]{
		name: name, width: width,
		split: func(x, bins []float32, first, at []uint32, part []float32) {
			n := 0
			if split != nil && len(x) >= step {
				n = len(x) / step * step
				split(n, &x[0], &bins[0], &first[0], &at[0], &part[0])
			}
			plainSplit(x[n:], bins[n:], first[n:], at[n:], part[n:])
		},
		forward: func(rows, features int, at []uint32, part []float32, stride int, table, y []float32) {
			forward(rows, features, &at[0], &part[0], stride, &table[0], &y[0])
		},
		backward: func(counts []int, entries []entry[float32], dz, dw []float32) {
			backward(len(counts), &counts[0], (*uint64)(unsafe.Pointer(&entries[0])), &dz[0], &dw[0])
		},
	}
}

// plainWidth is the units of a block without vector instructions.
const plainWidth = 16

// plain are the kernels in Go.
func plain[T Float]() kernels[T] {
	return kernels[T]{name: "Go", width: plainWidth, split: plainSplit[T], forward: plainForward[T], backward: plainBackward[T]}
}

func plainSplit[T Float](x, bins []T, first, at []uint32, part []T) {
	for f, p := range x {
		p = min(max(p, 0), bins[f]) // NaN stays
		fixed := uint32(0)
		if p == p {
			fixed = uint32(math.RoundToEven(float64(p) * Steps))
		}
		bin := min(fixed/Steps, uint32(bins[f])-1)
		at[f], part[f] = first[f]+bin, T(fixed-bin*Steps)/Steps+(p-p)
	}
}

func plainForward[T Float](rows, features int, at []uint32, part []T, stride int, table, y []T) {
	for r := range rows {
		sums := y[r*plainWidth:][:plainWidth]
		for f, k := range at[r*stride:][:features] {
			pair, high := table[k*plainWidth:][:2*plainWidth], part[r*stride+f]
			for u := range sums {
				sums[u] += (1-high)*pair[u] + high*pair[plainWidth+u]
			}
		}
	}
}

func plainBackward[T Float](counts []int, entries []entry[T], dz, dw []T) {
	var above [plainWidth]T
	for b := len(counts) - 1; b >= 0; b-- {
		sums := dw[b*plainWidth:][:plainWidth]
		for u, v := range above {
			sums[u] += v
		}
		for _, e := range entries[:counts[b]] {
			for u, v := range dz[e.row*plainWidth:][:plainWidth] {
				above[u] += v
				sums[u] += e.part * v
			}
		}
		entries = entries[counts[b]:]
	}
}
