package metrics

import (
	"cmp"
	"iter"
	"slices"
)

// Ties says how documents of equal scores are ranked. The zero value is TiesRandom.
type Ties int

const (
	// TiesRandom gives the expected value under random order of documents of equal
	// scores, for every metric exactly (McSherry & Najork, ECIR 2008, have most of
	// the formulas), for measures of one's own on average over some orders. It does not
	// depend on the order of the documents.
	TiesRandom Ties = iota
	// TiesOrder ranks them in the order in which they stand: a constant score then ranks
	// as the file does.
	TiesOrder
)

var tiesNames = []string{TiesRandom: "random", TiesOrder: "order"}

// String is the name that ParseTies reads: "random" or "order".
func (t Ties) String() string { return nameOf(tiesNames, int(t), "Ties") }

// ParseTies reads "random" or "order".
func ParseTies(name string) (Ties, error) {
	i, err := indexOf(tiesNames, name, "way to rank ties")
	return Ties(i), err
}

// ranking is the documents of a query, numbered from 0, by rank, the first of them
// at least. Where ties are random, documents of equal scores are in one block.
type ranking struct {
	documents []int
	ends      []int // where each block ends; none: every document is one
}

// rank fills r with the documents of the first depth ranks by descending score. Where
// ties are random, the last block may reach further.
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

// blocks gives the rank of the first document of every block, from 0, and the block.
func (r *ranking) blocks() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		if len(r.ends) == 0 {
			for k := range r.documents {
				if !yield(k, r.documents[k:k+1]) {
					return
				}
			}
			return
		}
		first := 0
		for _, end := range r.ends {
			if !yield(first, r.documents[first:end]) {
				return
			}
			first = end
		}
	}
}

// Rank orders rows by descending score, ties by row. Scores must not be NaN.
func Rank(scores []float64) []int {
	return rankInto(make([]int, len(scores)), scores)
}

// rankInto is Rank into a slice of the length of the scores.
func rankInto(ranking []int, scores []float64) []int {
	for i := range ranking {
		ranking[i] = i
	}
	slices.SortFunc(ranking, func(a, b int) int {
		if c := cmp.Compare(scores[b], scores[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return ranking
}

// top is the first k of the ranking that Rank gives, in a slice that is reused.
func top(ranking []int, scores []float64, k int) []int {
	if k > 32 { // insertion would cost k operations a row where scores rise
		return rankInto(grow(ranking, len(scores)), scores)[:k]
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
