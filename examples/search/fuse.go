package main

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/plrank/plrank/fusion"
)

// fused combines words and meaning until clicks teach how: reciprocal rank fusion. With some judged queries, plrank fuse prints weights
// that may go here.
var fused = fusion.Weights{Form: fusion.Reciprocal, K: 60, Runs: []float64{.5, .5}}

// foundBy names the parts of the search, in the order of fused.Runs.
var foundBy = []string{"words", "meaning"}

// A Hit is a candidate with its scores.
type Hit struct {
	*Product
	Found         string  // by which part of the search: one of foundBy, or both
	Score         float64 // of the fusion
	BM25, Meaning float64
	Fields        []float64 // BM25 of the fields, in the order of boosts; 0 where nothing matches
}

// fuse merges what the parts of the search found, each with its scores, the best by the fusion first.
func fuse(found ...map[*Product]float64) []Hit {
	var hits []Hit
	places := map[*Product]int{}
	for part, scores := range found {
		for p := range scores {
			if place, known := places[p]; known {
				hits[place].Found = "both"
				continue
			}
			places[p] = len(hits)
			hits = append(hits, Hit{Product: p, Found: foundBy[part]})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int { return strings.Compare(a.ID, b.ID) }) // maps have no order
	q := &fusion.Query{Gains: make([]float64, len(hits))}
	for _, scores := range found {
		run := make([]float64, len(hits))
		for i, h := range hits {
			score, ok := scores[h.Product]
			if run[i] = score; !ok {
				run[i] = math.NaN()
			}
		}
		q.Scores = append(q.Scores, run)
	}
	for i, score := range fused.Scores(q) {
		hits[i].Score = score
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}
