package metrics

import (
	"iter"
	"slices"

	"github.com/plrank/plrank/internal/order"
)

// ranking is the documents of a query, numbered from 0, by rank: the first of them at
// least. If ties are random, documents of equal scores are in one block.
type ranking struct {
	documents []int
	ends      []int // where each block ends; none: every document is a block
}

// rank fills r with the documents of the first depth ranks by descending score. If ties
// are random, the last block may reach further.
func (r *ranking) rank(scores []float64, depth int, ties Ties) {
	r.documents = top(r.documents, scores, depth)
	r.ends = r.ends[:0]
	if ties == TiesOrder || len(r.documents) == 0 {
		return
	}
	if depth < len(scores) { // the last block may not be whole
		last := scores[r.documents[depth-1]]
		first := slices.IndexFunc(r.documents, func(d int) bool { return scores[d] == last })
		r.documents = r.documents[:first]
		for d, s := range scores {
			if s == last {
				r.documents = append(r.documents, d)
			}
		}
	}
	for k, d := range r.documents {
		if k+1 == len(r.documents) || scores[r.documents[k+1]] != scores[d] {
			r.ends = append(r.ends, k+1)
		}
	}
}

// blocks gives every block with the rank of its first document, from 0.
func (r *ranking) blocks() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		first := 0
		for i := 0; first < len(r.documents); i++ {
			end := first + 1
			if len(r.ends) > 0 {
				end = r.ends[i]
			}
			if !yield(first, r.documents[first:end]) {
				return
			}
			first = end
		}
	}
}

// Rank gives the rows by descending score, ties by row. Scores must not be NaN.
func Rank(scores []float64) []int {
	return order.Descending(nil, scores)
}

// top is the first k of the ranking that Rank gives, in a slice that is reused.
func top(ranking []int, scores []float64, k int) []int {
	if k > 32 { // insertion would cost up to k operations a row
		return order.Descending(ranking[:0], scores)[:k]
	}
	ranking = ranking[:0]
	for d, score := range scores {
		at := len(ranking)
		for at > 0 && score > scores[ranking[at-1]] {
			at--
		}
		if at == k {
			continue
		}
		if len(ranking) < k {
			ranking = append(ranking, d)
		}
		copy(ranking[at+1:], ranking[at:])
		ranking[at] = d
	}
	return ranking
}
