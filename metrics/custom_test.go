package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// ofTop is a custom measure that does not handle ties: the label on top.
var ofTop = NewMeasure("top", false, func(in Queries) ([]float64, error) {
	var perQuery []float64
	for q, first := range in.Offsets[:len(in.Offsets)-1] {
		top := Rank(in.Scores[first:in.Offsets[q+1]])[0]
		perQuery = append(perQuery, float64(in.Labels[first+top]))
	}
	return perQuery, nil
})

// With the relevant documents first, equal scores are as good as random order, not ideal.
func TestCustomMeasureOfTiesDoesNotDependOnTheOrderOfTheFile(t *testing.T) {
	for name, c := range map[string]struct {
		scores []float64
		want   float64
	}{
		"all equal":     {[]float64{0, 0, 0, 0, 0}, 2. / 5},
		"equal and low": {slices.Repeat([]float64{-math.MaxFloat64}, 5), 2. / 5},
		"two on top":    {[]float64{1, 0, 0, 0, 1}, 1. / 2},
		"one on top":    {[]float64{0, 0, 1, 0, 0}, 0},
		"neighbours":    {[]float64{0, math.SmallestNonzeroFloat64, 0, 0, 0}, 1},
	} {
		const queries = 400
		in := Queries{Offsets: []int{0}}
		for range queries {
			in.Scores = append(in.Scores, c.scores...)
			in.Labels = append(in.Labels, 1, 1, 0, 0, 0)
			in.Offsets = append(in.Offsets, len(in.Scores))
		}
		before := slices.Clone(in.Scores)
		values, err := ofTop.PerQuery(in)
		if err != nil {
			t.Fatal(err)
		}
		// The standard error of a share of the queries.
		if mean := Mean(values, LabelFreeSkip); !(math.Abs(mean-c.want) <= 5*math.Sqrt(c.want*(1-c.want)/queries)) {
			t.Errorf("%s: %g, want %g", name, mean, c.want)
		}
		again, err := ofTop.PerQuery(in)
		if err != nil || !slices.Equal(again, values) || !slices.Equal(in.Scores, before) {
			t.Errorf("%s: another value the second time, or changed scores: %v", name, err)
		}
		in.Ties = TiesOrder
		if s, err := Means(in, []Measure{ofTop}); err != nil || name == "all equal" && s[0] != 1 {
			t.Errorf("%s: in the order of the file: %+v, %v", name, s, err)
		}
	}
}

// A custom measure rejects a score that is not finite, as other measures do: with ties it made all scores of its
// query NaN, and the function did not see which was wrong.
func TestCustomMeasureGetsFiniteScores(t *testing.T) {
	for _, ties := range []Ties{TiesRandom, TiesOrder} {
		in := Queries{Scores: []float64{0, 1, 1, math.NaN()}, Labels: make([]float32, 4), Offsets: []int{0, 1, 4}, Ties: ties}
		if _, err := ofTop.PerQuery(in); err == nil || !strings.Contains(err.Error(), "query 1, row 3: score NaN") {
			t.Errorf("%v: error %v", ties, err)
		}
		in.Offsets = []int{0, 1, 3} // the last row is padding
		if _, err := ofTop.PerQuery(in); err != nil {
			t.Error(err)
		}
	}
}

// By next to nothing, keeping the order of the others, whatever other queries there are.
func TestBreakTiesMovesEqualScoresApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	in := Queries{Offsets: []int{0}}
	for range 30 {
		for range rng.IntN(6) {
			in.Scores = append(in.Scores, float64(rng.IntN(4))-1)
			in.Labels = append(in.Labels, 1)
		}
		in.Offsets = append(in.Offsets, len(in.Scores))
	}
	scores := in.breakTies(3)
	for q, first := range in.Offsets[:30] {
		for i := first; i < in.Offsets[q+1]; i++ {
			if math.Abs(scores[i]-in.Scores[i]) > 1e-12 {
				t.Errorf("row %d: %g, was %g", i, scores[i], in.Scores[i])
			}
			for j := first; j < in.Offsets[q+1]; j++ {
				if in.Scores[i] < in.Scores[j] && scores[i] >= scores[j] {
					t.Errorf("query %d: rows %d and %d change their order", q, i, j)
				}
				if i != j && scores[i] == scores[j] {
					t.Errorf("query %d: rows %d and %d are tied", q, i, j)
				}
			}
		}
	}
	part := in
	part.Offsets = slices.Clone(in.Offsets)
	for q := range part.Offsets[:10] {
		part.Offsets[q] = in.Offsets[10]
	}
	from := in.Offsets[10]
	if !slices.Equal(part.breakTies(3)[from:], scores[from:]) {
		t.Error("different scores if some queries are empty")
	}
}

func TestTieAwareMeasureGetsItsScores(t *testing.T) {
	m := NewMeasure("spread", true, func(in Queries) ([]float64, error) {
		return []float64{in.Scores[1] - in.Scores[0]}, nil
	}).TieAware()
	in := Queries{Scores: []float64{2, 2}, Labels: []float32{1, 0}, Offsets: []int{0, 2}}
	if values, err := m.PerQuery(in); err != nil || values[0] != 0 {
		t.Errorf("%v, %v", values, err)
	}
}
