package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// expected is the loss of [PLRankExact].
func expected(b *batch) *G.Node {
	return neg(G.Must(ops.ExpectedMetric(b.Lists, b.gains(), b.discounts())))
}

// estimated is minus the expected metric as an estimator has it, with its gradient.
func estimated(e plackett.Estimator) builder {
	if e == plackett.PolicyGradient {
		return policyGradient // the same gradient, by Gorgonia's differentiation
	}
	return func(b *batch) *G.Node {
		return neg(G.Must(ops.PLRankBy(e, b.Lists, b.gains(), b.rankings(), b.discounts())))
	}
}

// policyGradient and placementPolicyGradient are the losses of [PolicyGradient] and
// [PlacementPolicyGradient].
func policyGradient(b *batch) *G.Node          { return reinforce(b, lossops.Rewards) }
func placementPolicyGradient(b *batch) *G.Node { return reinforce(b, lossops.RewardsToGo) }

func reinforce(b *batch, rewards func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error)) *G.Node {
	weights := G.Must(rewards(b.Lists, b.gains(), b.rankings(), b.discounts()))
	return neg(G.Must(G.Sum(mul(weights, G.Must(ops.LogProbs(b.Lists, b.rankings()))), 1, 2)))
}

// stochasticRank is minus the expected metric with the gradient of
// StochasticRank (Ustimenko & Prokhorenkova, ICML 2020) smoothed with Gumbel noise,
// which makes the policy that of Plackett–Luce. With ŝ = m + noise,
//
//	R_q ≈ mean over samples of Σ_k θ_k ρ_{y_k}, y the ranking by ŝ,
//
// and the gradient is the mean over samples of the derivative of R given the noisy
// scores of the other documents, whose ranking is y': R jumps where m_i plus its own
// noise passes one of them, so that
//
//	λ_i = Σ_k (θ_k − θ_{k+1}) (ρ_i − ρ_{y'_k}) p(ŝ_{y'_k} − m_i),
//
// with p(x) = exp(−x − exp(−x)) the density of the noise and θ = 0 beyond the last
// discount. Its expectation is the gradient of R. (The paper's other parts, its
// scale-free acceleration and the tuning of the noise, are left out.) It costs O(N·D·K)
// for a query.
func stochasticRank(b *batch) *G.Node {
	order := G.Must(lossops.Order(b.Lists, b.noise()))
	return neg(G.Must(lossops.StochasticRank(b.Lists, b.gains(), b.noise(), order, b.discounts())))
}
