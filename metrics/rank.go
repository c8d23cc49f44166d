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

// top is the first k of the ranking that Rank gives, in a slice that is reused.
func top(ranking []int, scores []float64, k int) []int {
	if k > 32 { // insertion would cost k operations a row where scores rise
		return RankInto(grow(ranking, len(scores)), scores)[:k]
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

// IdealDCG is the highest DCG that documents of these gains can reach,
// Σ_k θ_k ρ_(k) with ρ_(1) ≥ ρ_(2) ≥ …, over as many ranks as there are
// discounts and documents. Discounts must not grow with the rank.
func IdealDCG(gains, discounts []float64) float64 {
	ideal := 0.0
	for k, d := range top(nil, gains, min(len(gains), len(discounts))) {
		ideal += discounts[k] * gains[d]
	}
	return ideal
}
