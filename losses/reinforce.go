package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// PolicyGradient is the REINFORCE loss (Williams 1992) of whole rankings,
//
//	−mean_q (1/N) Σ_i (Σ_k θ_k ρ_{y_k}) log π(y),
//
// differentiated by Gorgonia through [ops.LogProbs]: its gradient, not its value,
// is an estimate for the expected metric. Shapes and errors are those of [ops.PLRank1].
func PolicyGradient(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(policyGradient(l, gains, rankings, discounts))
}

func policyGradient(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return reinforce(l, gains, rankings, discounts, lossops.Rewards)
}

// PlacementPolicyGradient is [PolicyGradient] with every placement rewarded by what
// the ranking earns from there on (Oosterhuis, SIGIR 2021, §5.1),
//
//	−mean_q (1/N) Σ_i Σ_k (Σ_{x≥k} θ_x ρ_{y_x}) log P(y_k | y_1..k−1).
func PlacementPolicyGradient(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(placementPolicyGradient(l, gains, rankings, discounts))
}

func placementPolicyGradient(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return reinforce(l, gains, rankings, discounts, lossops.RewardsToGo)
}

func reinforce(l ops.Lists, gains, rankings *G.Node, discounts []float64,
	rewards func(ops.Lists, *G.Node, *G.Node, []float64) (*G.Node, error)) (perQuery *G.Node, err error) {
	weights, err := rewards(l, gains, rankings, discounts)
	if err != nil {
		return nil, err
	}
	logs, err := ops.LogProbs(l, rankings)
	if err != nil {
		return nil, err
	}
	defer caught(&err)
	return neg(G.Must(G.Sum(mul(weights, logs), 1, 2))), nil
}
