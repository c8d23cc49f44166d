package losses_test

import (
	"math"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// estimated is the loss by an estimator.
func estimated(e plackett.Estimator) losses.Func {
	return losses.Expected(losses.DCG, losses.Sampled(e)).Build
}

var (
	byPlacement         = losses.Expected(losses.DCG, losses.PlacementPolicyGradient).Build
	lambdaLossObjective = losses.Pairwise(losses.Log2, losses.PairWeights{Distance: 1, Noise: true})
)

// The independent test vectors: every loss on given rankings, and LambdaLoss on given
// noise.
func TestLossesHaveTheGoldenGradients(t *testing.T) {
	var file struct {
		Cases []struct {
			Name                  string
			D, K, N               int
			Dtype                 string
			Theta, Labels, Scores []float64
			Rankings              [][]int
			Scale                 float64
			Truth                 map[string][]float64
			Gumbel                [][]float64
		}
	}
	testkit.Golden(t, "estimators.json", &file)
	onRankings := map[string]losses.Func{
		"plrank1": estimated(plackett.PLRank1), "plrank2": estimated(plackett.PLRank2), "plrank_rb": estimated(plackett.PLRankRB),
		"policy_gradient": estimated(plackett.PolicyGradient), "placement": byPlacement,
	}
	for _, c := range file.Cases {
		dt, tolerance := tensor.Float64, 1e-13
		if c.Dtype == "float32" {
			dt, tolerance = tensor.Float32, 2e-6
		}
		c.Truth["placement"] = c.Truth["plrank1"]
		check := func(name string, gradient []float64) {
			for d, want := range c.Truth[name] {
				// The truth is the direction of ascent.
				if diff := math.Abs(-gradient[d]-want) / c.Scale; !(diff <= tolerance) {
					t.Errorf("%s: %s: −gradient[%d] = %v, want %v: off by %.2g of scale", c.Name, name, d, -gradient[d], want, diff)
				}
			}
		}
		for name, f := range onRankings {
			g := G.NewGraph()
			l := ops.Lists{Scores: vector(g, "scores", dt, c.Scores)}
			loss, err := losses.Mean(f, losses.Batch{
				Lists: l, Gains: vector(g, "gains", dt, c.Labels), Rankings: ints(g, "rankings", slices.Concat(c.Rankings...), 1, c.N, c.D), Discounts: c.Theta,
			})
			if err != nil {
				t.Fatal(err)
			}
			_, gradient := differentiate(t, loss, l.Scores)
			check(name, gradient)
			check(name, lispGradient(t, loss, l.Scores))
		}
		if c.Gumbel == nil {
			continue
		}
		g := G.NewGraph()
		l := ops.Lists{Scores: vector(g, "scores", dt, c.Scores)}
		loss, err := lambdaLossObjective.Mean(losses.Batch{
			Lists: l, Gains: vector(g, "gains", dt, c.Labels), Noise: vector(g, "noise", dt, flat(c.Gumbel)), Discounts: c.Theta,
		})
		if err != nil {
			t.Fatal(err)
		}
		_, gradient := differentiate(t, loss, l.Scores)
		check("lambdaloss", gradient)
	}
}

// The gradients of the losses for the expected metric have it as expectation: all
// rankings of a small list, weighted by their probability. The REINFORCE losses
// have no other meaning.
func TestGradientsOfEstimatorsAreUnbiased(t *testing.T) {
	scores, gains, theta := []float64{.3, -1, 1.2, 0}, []float64{3, 0, 1, 7}, []float64{1, .63, .5}
	exact, err := testkit.EnumerateMoments(scores, gains, theta)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]losses.Func{
		"PLRank1": estimated(plackett.PLRank1), "PLRank2": estimated(plackett.PLRank2), "PLRankRB": estimated(plackett.PLRankRB),
		"PolicyGradient": estimated(plackett.PolicyGradient), "PlacementPolicyGradient": byPlacement,
	} {
		mean := make([]float64, len(scores))
		err := testkit.Enumerate(scores, len(theta), func(y []int, p float64) {
			g := G.NewGraph()
			l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, scores)}
			loss, err := losses.Mean(f, losses.Batch{
				Lists: l, Gains: vector(g, "gains", tensor.Float64, gains), Rankings: ints(g, "rankings", y, 1, 1, len(y)), Discounts: theta,
			})
			if err != nil {
				t.Fatal(err)
			}
			_, gradient := differentiate(t, loss, l.Scores)
			for d := range mean {
				mean[d] -= p * gradient[d]
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for d := range mean {
			if math.Abs(mean[d]-exact.Gradient[d]) > 1e-13 {
				t.Errorf("%s: E[−gradient][%d] = %v, want %v", name, d, mean[d], exact.Gradient[d])
			}
		}
	}
}
