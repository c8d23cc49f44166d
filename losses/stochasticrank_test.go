package losses

import (
	"math"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ops"
)

// stochasticRankOf is the metric of one query and its gradient, on given noise.
func stochasticRankOf(t *testing.T, run optest.Machine, dt tensor.Dtype, scores, gains, noise, discounts []float64) (float64, []float64) {
	t.Helper()
	g := G.NewGraph()
	l := ops.Lists{Scores: optest.Vector(g, "scores", dt, scores)}
	b := batch{Batch: Batch{
		Lists: l, Gains: optest.Vector(g, "gains", dt, gains), Noise: optest.Vector(g, "noise", dt, noise), Discounts: discounts,
	}}
	metric := neg(StochasticRank.graph(&b))
	value, gradient, err := run(G.Must(G.Sum(metric)), l.Scores)
	if err != nil {
		t.Fatal(err)
	}
	return value[0], gradient
}

// The expectation over the noise is the exact gradient: by the midpoint rule over
// the noise of the two others of each of three documents, on which alone its
// derivative depends. (The error of the rule is below 2e-4.)
func TestStochasticRankIsUnbiased(t *testing.T) {
	scores, gains := []float64{.3, -1, 1.2}, []float64{3, 0, 1}
	for _, discounts := range [][]float64{{1}, {1, .63}, {1, .63, .5}} {
		exact, err := testkit.EnumerateMoments(scores, gains, discounts)
		if err != nil {
			t.Fatal(err)
		}
		const n = 150
		gumbel := func(i int) float64 { return -math.Log(-math.Log((float64(i) + .5) / n)) }
		for own := range scores {
			var noise []float64
			for i := range n {
				for j := range n {
					sample := []float64{gumbel(i), gumbel(j), 0}
					sample[own], sample[2] = sample[2], sample[own]
					noise = append(noise, sample...)
				}
			}
			_, gradient := stochasticRankOf(t, optest.Tape, tensor.Float64, scores, gains, noise, discounts)
			if math.Abs(gradient[own]-exact.Gradient[own]) > 5e-4 {
				t.Errorf("%d discounts: E λ[%d] = %v, want %v", len(discounts), own, gradient[own], exact.Gradient[own])
			}
		}
	}
}

// The metric belongs to the rankings by the noisy scores; the derivative belongs to
// the metric's expectation over a document's own noise, by its definition: where the
// document would have to land to change places, times the density there.
func TestStochasticRankHasItsDefinition(t *testing.T) {
	scores, gains, discounts := []float64{.3, -1, 1.2, .1}, []float64{3, 0, 1, 7}, []float64{1, .63}
	noise := []float64{.1, 2, -.5, .4, 1, 0, .2, -1, math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	metric := func(hat []float64) float64 {
		sum := 0.0
		for d := range hat {
			rank := 0
			for _, other := range hat {
				if other > hat[d] {
					rank++
				}
			}
			if rank < len(discounts) {
				sum += discounts[rank] * gains[d]
			}
		}
		return sum
	}
	want, wantGradient := 0.0, make([]float64, 4)
	for i := range 2 { // the third sample is absent
		hat := make([]float64, 4)
		for d := range hat {
			hat[d] = scores[d] + noise[4*i+d]
		}
		want += metric(hat) / 2
		for d := range hat {
			for j, at := range hat {
				if j == d {
					continue
				}
				above, below := append([]float64{}, hat...), append([]float64{}, hat...)
				above[d], below[d] = at+1e-9, at-1e-9
				x := at - scores[d]
				wantGradient[d] += (metric(above) - metric(below)) * math.Exp(-x-math.Exp(-x)) / 2
			}
		}
	}
	for name, run := range optest.Machines {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			value, gradient := stochasticRankOf(t, run, dt, scores, gains, noise, discounts)
			if math.Abs(value-want) > 1e-6 {
				t.Errorf("%s, %v: metric %v, want %v", name, dt, value, want)
			}
			for d := range gradient {
				if math.Abs(gradient[d]-wantGradient[d]) > 1e-6 {
					t.Errorf("%s, %v: λ[%d] = %v, want %v", name, dt, d, gradient[d], wantGradient[d])
				}
			}
		}
	}
}
