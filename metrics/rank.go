package metrics

import (
	"cmp"
	"math"
	"slices"
)

// Discounts are DCG's rank discounts θ_k = 1/log2(k+1) for ranks k = 1 … n
// (Burges et al. 2005).
func Discounts(n int) []float64 {
	theta := make([]float64, n)
	for i := range theta {
		theta[i] = 1 / math.Log2(float64(i+2))
	}
	return theta
}

// Rank orders rows by descending score, ties by row. Scores must not be NaN.
func Rank(scores []float64) []int {
	return RankInto(make([]int, len(scores)), scores)
}

// RankInto is Rank into a slice that is reused: ranking has the length of
// scores, and is returned.
func RankInto(ranking []int, scores []float64) []int {
	if len(ranking) != len(scores) {
		panic("metrics: ranking and scores differ in length")
	}
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

// IdealDCG is the highest DCG that documents of these gains can reach,
// Σ_k θ_k ρ_(k) with ρ_(1) ≥ ρ_(2) ≥ …, over as many ranks as there are
// discounts and documents. Discounts must not grow with the rank.
func IdealDCG(gains, discounts []float64) float64 {
	return idealDCG(slices.Clone(gains), discounts)
}

// idealDCG is IdealDCG at the price of sorting gains in place.
func idealDCG(gains, discounts []float64) float64 {
	slices.Sort(gains)
	ideal := 0.0
	for k := range min(len(gains), len(discounts)) {
		ideal += discounts[k] * gains[len(gains)-1-k]
	}
	return ideal
}
