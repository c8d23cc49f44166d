package columns

import (
	"math"
	"slices"
)

// rankRoom is the number of documents of a query up to which ranks need no memory but the
// stack.
const rankRoom = 256

// Rank maps a value to √3·(b − a)/n, where of the n documents of the query that have the
// feature b have a lower value and a a higher one; missing ones to 0. With vector instructions,
// which do many columns at once, it compares all pairs of values; else it sorts.
func Rank(q Rows) {
	dst, rows, inputs, stride, columns := q.To, q.From, q.Inputs, q.Stride, q.Columns
	n := len(rows) / inputs
	if !wide || n > rankRoom {
		rankBySorting(q)
		return
	}
	var room rankCounts
	for difference := -n; difference <= n; difference++ {
		room.ranks[difference+n] = rankOf(difference, n)
	}
	for first := 0; first < len(columns); first += rankColumns {
		room.apply(dst[first:], stride, rows, inputs, columns[first:min(first+rankColumns, len(columns))])
	}
}

// rankOf is the rank of a document by how many more have a lower value than a higher one, of n
// that have one.
func rankOf(difference, n int) float32 {
	return float32(math.Sqrt(3) * float64(difference) / float64(n))
}

// rankColumns are the columns that countRanks does at once.
const rankColumns = 16

// rankCounts is room for at most rankRoom documents and rankColumns columns.
type rankCounts struct {
	values [rankRoom * rankColumns]float32
	lower  [rankRoom * rankColumns]int32 // documents below, less those above
	ranks  [2*rankRoom + 1]float32       // rankOf each difference from −n, if no document lacks the feature
}

func (r *rankCounts) apply(dst []float32, stride int, rows []float32, inputs int, columns []int) {
	n := len(rows) / inputs
	var missing [rankColumns]int
	for d := range n {
		row, values := rows[d*inputs:][:inputs], r.values[d*rankColumns:][:len(columns)]
		for i, c := range columns {
			values[i] = Finite(row[c])
			if values[i] != values[i] {
				missing[i]++
			}
		}
	}
	countRanks(&r.lower[0], &r.values[0], n)
	for d := range n {
		values, lower, ranks := r.values[d*rankColumns:], r.lower[d*rankColumns:], dst[d*stride:][:len(columns)]
		for i := range ranks {
			switch {
			case missing[i] == 0:
				ranks[i] = r.ranks[int(lower[i])+n]
			case values[i] == values[i]:
				ranks[i] = rankOf(int(lower[i]), n-missing[i])
			default:
				ranks[i] = 0
			}
		}
	}
}

// rankBySorting sorts the documents that have a feature by it: the value and the document
// are the two halves of a key.
func rankBySorting(q Rows) {
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
