package fusion

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// A Form says how the scores of a run become features. A document that the run lacks has the feature 0, as in all engines.
type Form string

// The forms, over the documents that the run retrieved for the query. s is the score, r its rank from 1.
const (
	MinMax     Form = "minmax" // (s − min)/(max − min)
	L2         Form = "l2"     // s/√Σs²
	ZScore     Form = "zscore" // (s − mean)/sd, .001 at least, as in OpenSearch
	DBSF       Form = "dbsf"   // (s − mean + 3 sd)/(6 sd): distribution-based score fusion
	Reciprocal Form = "rrf"    // 1/(k + r)
)

// Forms lists them.
var Forms = []Form{MinMax, L2, ZScore, DBSF, Reciprocal}

// ranks returns the ranks of the documents of a query in a run, from 1 by descending score, and for equal scores in their order;
// 0 for documents without a score (NaN).
func ranks(scores []float64) []int {
	byDocument := make([]int, len(scores))
	var order []int
	for d, s := range scores {
		if !math.IsNaN(s) {
			order = append(order, d)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for rank, d := range order {
		byDocument[d] = rank + 1
	}
	return byDocument
}

// Features returns the features of the documents of a query from the scores of a run, NaN for documents that it lacks. If all scores
// are equal, the features of what is retrieved are 1, and by DBSF ½. k is the constant of [Reciprocal].
func (f Form) Features(scores []float64, k float64) []float64 {
	features, found := make([]float64, len(scores)), make([]float64, 0, len(scores))
	for _, s := range scores {
		if !math.IsNaN(s) {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return features
	}
	_, exponent := math.Frexp(floats.Norm(found, math.Inf(1)))
	scale := func(s float64) float64 { return math.Ldexp(s, -exponent) } // is exact; no square overflows or vanishes
	for i, s := range found {
		found[i] = scale(s)
	}
	low, high := floats.Min(found), floats.Max(found)
	mean, norm := stat.Mean(found, nil), floats.Norm(found, 2)
	normal := map[Form]func(s float64) float64{
		MinMax: func(s float64) float64 { return (s - low) / (high - low) },
		L2:     func(s float64) float64 { return s / norm },
		ZScore: func(s float64) float64 { return max(0.001, (s-mean)/stat.StdDev(found, nil)) },
		DBSF:   func(s float64) float64 { return 0.5 + (s-mean)/(6*stat.StdDev(found, nil)) },
	}[f]
	constant := high == low && f != L2 || norm == 0
	for d, rank := range ranks(scores) {
		switch {
		case rank == 0:
		case f == Reciprocal:
			features[d] = 1 / (k + float64(rank))
		case constant && f == DBSF:
			features[d] = 0.5
		case constant:
			features[d] = 1
		default:
			features[d] = normal(scale(scores[d]))
		}
	}
	return features
}
