package metrics

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTopAgreesWithRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var scores []float64
		for _, s := range rapid.SliceOfN(rapid.IntRange(-9, 9), 0, 80).Draw(t, "scores") {
			scores = append(scores, float64(s))
		}
		k := rapid.IntRange(0, len(scores)).Draw(t, "k")
		if got, want := top(nil, scores, k), Rank(scores)[:k]; !slices.Equal(got, want) {
			t.Errorf("the first %d of %v are %v, want %v", k, scores, got, want)
		}
	})
}

func TestRankGoesByScoreThenRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var scores []float64
		for _, s := range rapid.SliceOfN(rapid.IntRange(-3, 3), 0, 40).Draw(t, "scores") {
			scores = append(scores, float64(s))
		}
		ranking := Rank(scores)
		for k := 1; k < len(ranking); k++ {
			a, b := ranking[k-1], ranking[k]
			if scores[a] < scores[b] || scores[a] == scores[b] && a >= b {
				t.Errorf("%v are ranked %v", scores, ranking)
			}
		}
		if len(ranking) != len(scores) {
			t.Errorf("%v are ranked %v", scores, ranking)
		}
	})
}
