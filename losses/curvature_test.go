package losses_test

import (
	"math"
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
)

// The curvature is the second derivative by finite differences of the gradient, or a bound of it.
func TestCurvatureIsTheSecondDerivativeOrABound(t *testing.T) {
	bounds := []string{"plrank-exact", "query-rmse", "exact-err", "exact-mrr", "exact-success"}
	unlike := []string{"lambdaloss"} // which has no noise in its curvature
	for _, weights := range [][]float64{nil, {1, 4, 2, 1}} {
		s := newSmall()
		slopes := func(name string, scores []float64) []float64 {
			moved := s
			moved.scores = scores
			b := moved.batch()
			if weights != nil {
				b.DocumentWeights = vector(b.Lists.Scores.Graph(), "weights", tensor.Float64, weights)
			}
			if name == "listmle" { // by gain
				b.Rankings, b.Sampler = nil, ops.NewSampler(1, 4, 1)
			}
			f, err := losses.Parse("0.5*" + name)
			if err != nil {
				t.Fatal(err)
			}
			loss, err := losses.Mean(f, b)
			if err != nil {
				t.Fatal(err)
			}
			_, gradient := differentiate(t, loss, b.Lists.Scores)
			return gradient
		}
		known := 0
		for _, name := range losses.EntryNames() {
			terms, err := losses.Terms("0.5*" + name)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, 4)
			q := &losses.Query{Scores: s.scores, Gains: s.gains, Labels: s.labels, Discounts: s.discounts, Weights: weights}
			has, err := terms[0].Curvature(q, got)
			if err != nil || has != terms[0].HasCurvature() || !has && slices.Max(got) > 0 {
				t.Errorf("%s: %t, %v, error %v", name, has, got, err)
			}
			if !has || terms[0].Sampled && name != "xe-ndcg" || slices.Contains(unlike, name) {
				continue
			}
			known++
			const h = 1e-4
			for d := range got {
				up, down := slices.Clone(s.scores), slices.Clone(s.scores)
				up[d] += h
				down[d] -= h
				want := (slopes(name, up)[d] - slopes(name, down)[d]) / (2 * h)
				if slices.Contains(bounds, name) && got[d] >= math.Abs(want) && got[d] > 0 {
					continue
				}
				if math.Abs(got[d]-want) > 1e-5*(1+math.Abs(want)) {
					t.Errorf("%s, weights %v, document %d: %v, want %v", name, weights, d, got[d], want)
				}
			}
		}
		if known < 17 {
			t.Errorf("%d losses", known)
		}
	}
}
