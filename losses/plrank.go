package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// PLRank1 is minus the expected metric, −mean_q E_y[Σ_k θ_k ρ_{y_k}], with the gradient
// of PL-Rank-1 (Oosterhuis, SIGIR 2021). Shapes and errors are those of [ops.PLRank1].
func PLRank1(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return negativeMean(l, gains, rankings, discounts, ops.PLRank1)
}

// PLRank2 is [PLRank1] with the gradient of PL-Rank-2, see [ops.PLRank2].
func PLRank2(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return negativeMean(l, gains, rankings, discounts, ops.PLRank2)
}

// PLRankRB is [PLRank1] with the gradient of PL-Rank-RB, usually the one of least variance,
// see [ops.PLRankRB].
func PLRankRB(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return negativeMean(l, gains, rankings, discounts, ops.PLRankRB)
}

// by is the loss whose gradient an estimator gives.
func by(e plackett.Estimator) func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
		return negativeMean(l, gains, rankings, discounts, func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
			return ops.PLRankBy(e, l, gains, rankings, discounts)
		})
	}
}

func negativeMean(l ops.Lists, gains, rankings *G.Node, discounts []float64,
	metric func(ops.Lists, *G.Node, *G.Node, []float64) (*G.Node, error)) (*G.Node, error) {
	perQuery, err := metric(l, gains, rankings, discounts)
	if err != nil {
		return nil, err
	}
	mean, err := ops.MeanOverQueries(l, perQuery)
	if err != nil {
		return nil, err
	}
	return G.Neg(mean)
}
