package datasets

import (
	"math"
	"slices"
)

// rankRoom is the number of documents of a query up to which ranks need no memory but the
// stack.
const rankRoom = 256

// applyRank sorts the documents that have a feature by it: the value and the document are
// the two halves of a key.
func applyRank(_ *TransformPart, dst []float32, stride int, rows []float32, inputs int, columns []int) {
	var room [rankRoom]uint64
	keys := room[:0]
	for i, c := range columns {
		keys = keys[:0]
		for d := range len(rows) / inputs {
			x := finite(rows[d*inputs+c]) + 0 // no −0
			if x != x {
				dst[d*stride+i] = 0
				continue
			}
			keys = append(keys, uint64(orderedKey(x))<<32|uint64(d))
		}
		slices.Sort(keys)
		n := len(keys)
		for first, end := 0, 0; first < n; first = end {
			for end = first + 1; end < n && keys[end]>>32 == keys[first]>>32; end++ {
			}
			below, above := first, n-end
			rank := float32(math.Sqrt(3) * float64(below-above) / float64(n))
			for _, key := range keys[first:end] {
				dst[int(uint32(key))*stride+i] = rank
			}
		}
	}
}
