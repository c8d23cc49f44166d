package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/ops"
)

// StochasticRank is minus the expected metric, as [PLRank1], with the gradient of
// StochasticRank (Ustimenko & Prokhorenkova, ICML 2020) smoothed with Gumbel noise,
// which makes the policy that of Plackett–Luce: see [ops.StochasticRank]. noise is
// [samples × rows], from [ops.Gumbel] or elsewhere.
func StochasticRank(l ops.Lists, gains, noise *G.Node, discounts []float64) (loss *G.Node, err error) {
	order, err := ops.Order(l, noise)
	if err != nil {
		return nil, err
	}
	defer caught(&err)
	return G.Must(G.Neg(mean(l, G.Must(ops.StochasticRank(l, gains, noise, order, discounts))))), nil
}
