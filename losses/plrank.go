package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// PLRank1 is minus the expected metric, −mean_q E_y[Σ_k θ_k ρ_{y_k}], with the gradient
// of PL-Rank-1 (Oosterhuis, SIGIR 2021). Shapes and errors are those of [ops.PLRank1].
func PLRank1(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(minus(ops.PLRank1(l, gains, rankings, discounts)))
}

// PLRank2 is [PLRank1] with the gradient of PL-Rank-2, see [ops.PLRank2].
func PLRank2(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(minus(ops.PLRank2(l, gains, rankings, discounts)))
}

// PLRankRB is [PLRank1] with the gradient of PL-Rank-RB, usually the one of least variance,
// see [ops.PLRankRB].
func PLRankRB(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(minus(ops.PLRankRB(l, gains, rankings, discounts)))
}

// PLRankExact is minus the expected metric, as [PLRank1], with its exact value and
// gradient: no rankings, no variance. See [ops.ExpectedMetric].
func PLRankExact(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(plRankExact(l, gains, discounts))
}

func plRankExact(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return minus(ops.ExpectedMetric(l, gains, discounts))
}

// by is the loss of every query whose gradient an estimator gives.
func by(e plackett.Estimator) func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
		return minus(ops.PLRankBy(e, l, gains, rankings, discounts))
	}
}

func minus(perQuery *G.Node, err error) (*G.Node, error) {
	if err != nil {
		return nil, err
	}
	return G.Neg(perQuery)
}
