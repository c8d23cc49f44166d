package columns

import (
	"math"
	"slices"
)

// rankRoom is the number of documents of a query up to which ranks need no memory but the
// stack.
const rankRoom = 256

// Rank maps a value to √3·(b − a)/n, where of the n documents of the query that have the
// feature b have a lower value and a a higher one; missing ones to 0. It sorts keys whose two
// halves are the value and the document.
func Rank(q Rows) {
	dst, rows, inputs, stride := q.To, q.From, q.Inputs, q.Stride
	var room [rankRoom]uint64
	keys := room[:0]
	for i, c := range q.Columns {
		keys = keys[:0]
		for d := range len(rows) / inputs {
			x := Finite(rows[d*inputs+c]) + 0 // no −0
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
			for _, key := range keys[first:end] {
				dst[int(uint32(key))*stride+i] = rankOf(first-(n-end), n)
			}
		}
	}
}

// rankOf is the rank of a document by how many more have a lower value than a higher one, of n
// that have one.
func rankOf(difference, n int) float32 {
	return float32(math.Sqrt(3) * float64(difference) / float64(n))
}
