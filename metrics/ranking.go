package metrics

import (
	"iter"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/num"
)

// ranking holds the documents of a query, numbered from 0, by rank, or at least the first of
// them. Neighbours with equal scores form a block.
type ranking struct {
	documents []int
	scores    []float64 // by document; nil: every document is a block
}

// rank fills r with the documents of the first depth ranks by descending score. Documents with
// the score −Inf have no rank. If ties are random, the last block may reach further.
func (r *ranking) rank(scores []float64, depth int, ties Ties) {
	r.documents, r.scores = top(r.documents, scores, depth), nil
	for n := len(r.documents); n > 0 && math.IsInf(scores[r.documents[n-1]], -1); n-- {
		r.documents = r.documents[:n-1]
	}
	if ties == TiesOrder {
		return
	}
	r.scores = scores
	if 0 < depth && depth < len(scores) && len(r.documents) == depth { // the last block may not be whole
		last := scores[r.documents[depth-1]]
		first := slices.IndexFunc(r.documents, func(d int) bool { return scores[d] == last })
		r.documents = r.documents[:first]
		for d, s := range scores {
			if s == last {
				r.documents = append(r.documents, d)
			}
		}
	}
}

// blocks yields every block with the rank of its first document, from 0.
func (r *ranking) blocks() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		for first, end := 0, 0; first < len(r.documents); first = end {
			end = first + 1
			for r.scores != nil && end < len(r.documents) && r.scores[r.documents[end]] == r.scores[r.documents[first]] {
				end++
			}
			if !yield(first, r.documents[first:end]) {
				return
			}
		}
	}
}

// Rank returns the rows by descending score, ties by row. Scores must not be NaN.
func Rank(scores []float64) []int {
	return num.DescendingOrder(nil, scores)
}

// top returns the first k rows of [Rank]. It reuses the slice ranking.
func top(ranking []int, scores []float64, k int) []int {
	if k > 32 { // insertion would cost up to k operations a row
		return num.DescendingOrder(ranking[:0], scores)[:k]
	}
	ranking = ranking[:0]
	for d, score := range scores {
		at := len(ranking)
		for at > 0 && score > scores[ranking[at-1]] {
			at--
		}
		if at < k {
			ranking = slices.Insert(ranking[:min(len(ranking), k-1)], at, d)
		}
	}
	return ranking
}
