package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// StochasticRank is minus the expected metric, as [PLRank1], with the gradient of
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
// scale-free acceleration and the tuning of the noise, are left out.)
//
// noise is [samples × rows], of the dtype of the scores, from [ops.Gumbel] or
// elsewhere, see there for absent samples. It costs O(N·D·K) for a query.
func StochasticRank(l ops.Lists, gains, noise *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(stochasticRank(l, gains, noise, discounts))
}

func stochasticRank(l ops.Lists, gains, noise *G.Node, discounts []float64) (perQuery *G.Node, err error) {
	order, err := lossops.Order(l, noise)
	if err != nil {
		return nil, err
	}
	defer caught(&err)
	return neg(G.Must(lossops.StochasticRank(l, gains, noise, order, discounts))), nil
}
