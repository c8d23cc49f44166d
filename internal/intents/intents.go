// Package intents holds sets of intents in ints, as many for each document: bit i%PerInt of int i/PerInt is set if the document
// is relevant to intent i of its query.
package intents

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
)

// PerInt is how many intents an int has room for, as it is not negative.
const PerInt = bits.UintSize - 1

// Want is what the ints of a document must be, in messages.
const Want = "bits of intents, not below 0"

// Check returns an error if there are not as many ints for each document, one at least, or one is negative.
func Check(sets []int, documents int) error {
	if len(sets) < documents || len(sets)%max(1, documents) != 0 {
		return fmt.Errorf("%d intents of %d documents: want an int of each, or as many of each", len(sets), documents)
	}
	for i, set := range sets {
		if set < 0 {
			return fmt.Errorf("document %d: the intents are %d: want %s", i*documents/len(sets), set, Want)
		}
	}
	return nil
}

// All yields every intent that a set has: in which of the ints of a document, and its bit there.
func All(sets []int, ints int) iter.Seq2[int, int] {
	return func(yield func(at, bit int) bool) {
		for at := range ints {
			left := 0
			for i := at; i < len(sets); i += ints {
				left |= sets[i]
			}
			for ; left != 0; left &= left - 1 {
				if !yield(at, left&-left) {
					return
				}
			}
		}
	}
}

// Vectors returns a vector for each document, of length 1 or 0, row after row: 1 for its group, or if groups is nil, equal numbers for
// its intents. A negative group is none.
func Vectors(groups, sets []int, documents int) (vectors []float64, dimension int) {
	if groups != nil {
		at := map[int]int{}
		for _, group := range groups {
			if _, known := at[group]; group >= 0 && !known {
				at[group] = len(at)
			}
		}
		dimension = max(1, len(at))
		vectors = make([]float64, documents*dimension)
		for d, group := range groups {
			if group >= 0 {
				vectors[d*dimension+at[group]] = 1
			}
		}
		return vectors, dimension
	}
	ints := len(sets) / max(1, documents)
	for range All(sets, ints) {
		dimension++
	}
	dimension = max(1, dimension)
	vectors = make([]float64, documents*dimension)
	for d := range documents {
		size, i := 0, 0
		for _, set := range sets[d*ints : (d+1)*ints] {
			size += bits.OnesCount(uint(set))
		}
		for at, bit := range All(sets, ints) {
			if sets[d*ints+at]&bit != 0 {
				vectors[d*dimension+i] = 1 / math.Sqrt(float64(size))
			}
			i++
		}
	}
	return vectors, dimension
}
