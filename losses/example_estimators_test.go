package losses_test

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
)

// showSampled is show for a loss on rankings that the sampler draws.
func showSampled(loss func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error)) {
	show(func(b losses.Batch) (*G.Node, error) {
		rankings, err := ops.Rankings(b.Lists, b.Sampler)
		if err != nil {
			return nil, err
		}
		return loss(b.Lists, b.Gains, rankings, b.Discounts)
	})
}

func ExamplePLRank1() {
	showSampled(losses.PLRank1)
	// Output: -2.20 [-0.48 0.46 0.02]
}

func ExamplePLRank2() {
	showSampled(losses.PLRank2)
	// Output: -2.20 [-0.64 0.46 0.04]
}

func ExamplePLRankRB() {
	showSampled(losses.PLRankRB)
	// Output: -2.33 [-0.61 0.50 0.12]
}

// The value is that of a surrogate: only its gradient is of use.
func ExamplePLRankExact() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.PLRankExact(b.Lists, b.Gains, b.Discounts)
	})
	// Output: -2.32 [-0.59 0.49 0.10]
}

func ExamplePolicyGradient() {
	showSampled(losses.PolicyGradient)
	// Output: 3.13 [-0.47 0.43 0.03]
}

// The value is that of a surrogate; the gradient is PL-Rank-1's, ranking by ranking.
func ExamplePlacementPolicyGradient() {
	showSampled(losses.PlacementPolicyGradient)
	// Output: 2.39 [-0.48 0.46 0.02]
}

func ExampleLambdaLoss() {
	show(func(b losses.Batch) (*G.Node, error) {
		noise, err := ops.Gumbel(b.Lists, b.Sampler)
		if err != nil {
			return nil, err
		}
		return losses.LambdaLoss(b.Lists, b.Gains, noise, b.Discounts)
	})
	// Output: 4.10 [-1.64 0.89 0.75]
}
