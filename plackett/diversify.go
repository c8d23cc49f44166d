package plackett

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Diversify writes the offsets of the scores that rank documents by maximal marginal relevance (Carbonell & Goldstein, SIGIR
// 1998): the one that comes next has the largest
//
//	m_d − (1 − λ)/λ · max cos(v_d, v_e) over the documents e above,
//
// which is its score plus its offset. It never rises from one rank to the next, so that the documents in descending order of
// the sums are the ranking, and the Plackett–Luce policy of the sums draws near it. vectors is documents × dimension, row-major;
// a vector of zeros is like no other. The documents of first stand above all others; their offsets are 0. λ is above 0, and 1
// changes nothing.
func Diversify(scores, vectors []float64, dimension int, lambda float64, first []int, offsets []float64) error {
	err := cmp.Or(checkFinite("score", scores), checkVectors(vectors, dimension, scores), checkLength("offsets", len(offsets), len(scores)))
	if err != nil {
		return err
	}
	price := (1 - lambda) / lambda
	if !(price >= 0 && price <= largestScale) {
		return fmt.Errorf("lambda %v: want a number above 0, up to 1", lambda)
	}
	unit := make([]float64, len(vectors))
	row := func(d int) []float64 { return unit[d*dimension : (d+1)*dimension] }
	nearest, placed := make([]float64, len(scores)), make([]bool, len(scores))
	for d := range scores {
		v := vectors[d*dimension : (d+1)*dimension]
		if largest := floats.Norm(v, math.Inf(1)); largest > 0 { // whose square may be beyond float64
			floats.ScaleTo(row(d), 1/largest, v)
			floats.Scale(1/floats.Norm(row(d), 2), row(d))
		}
		nearest[d] = math.Inf(-1)
	}
	clear(offsets)
	place := func(d int) {
		placed[d] = true
		for e := range scores {
			if !placed[e] {
				nearest[e] = max(nearest[e], floats.Dot(row(d), row(e)))
				offsets[e] = -price * nearest[e]
			}
		}
	}
	for _, d := range first {
		placed[d] = true
	}
	for _, d := range first {
		place(d)
	}
	for range len(scores) - len(first) {
		best := -1
		for d, m := range scores {
			if !placed[d] && (best < 0 || m+offsets[d] > scores[best]+offsets[best]) {
				best = d
			}
		}
		place(best)
	}
	return nil
}
