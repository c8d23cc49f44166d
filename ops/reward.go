package ops

import (
	"errors"
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// RewardFunc returns the reward of every query expected under the Plackett–Luce policy of the
// scores, for any function of rankings (ERR, business rules), estimated from sampled
// rankings y^(1..N):
//
//	R_q = E_y[r(y)] ≈ mean over rankings of r(y),
//
// a node [queries] of the dtype of the scores; queries without documents or rankings get
// 0. The backward pass injects the policy gradient (REINFORCE, Williams 1992) with the
// mean reward of the other rankings as the baseline (Kool, van Hoof & Welling 2019),
//
//	λ_d = 1/N Σ_i (r(y^(i)) − 1/(N−1) Σ_{j≠i} r(y^(j))) ∂ log π(y^(i)) / ∂m_d,
//
// into the scores. Its expectation is the exact gradient. A single ranking has no
// baseline: λ = r(y) ∂ log π(y)/∂m is unbiased too, but has much more variance. R is to be
// maximised: a loss is its negative.
//
// reward gets the number of the query in the batch, and the row numbers of the
// documents from the first rank on: as many as the rankings have ranks, or as the query
// has documents. It may change the slice, but not keep it. It is called for every ranking
// that is present at every run of the graph, by several goroutines at once for different
// queries, and must give the same for the same arguments as long as the run lasts. A
// reward that is not finite makes the run return an error that names query and sample. For a
// reward that is a sum over ranks of discount times gain, [PLRankRB] has less variance, and
// [ExpectedMetric] none.
//
// For another policy than Plackett–Luce write a loss (docs/architecture.md, Decisions).
//
// rankings is [queries, samples, cutoff], from [Rankings] or elsewhere, see there for
// what −1 means: independent draws, each the ranking of its first cutoff
// documents. They are constants for differentiation. Other errors are as for [PLRank1].
// Besides the calls it costs O(D + N·K) for a query. Its value lasts until the next run.
func RewardFunc(l Lists, rankings *G.Node, reward func(query int, ranking []int) float64) (*G.Node, error) {
	const name = "ops: RewardFunc"
	if reward == nil {
		return nil, errors.New(name + ": no reward: the function is nil")
	}
	return op.Metric(name, fmt.Sprint("function ", op.NewID()), l, func(l *op.List, lambda []float64) (float64, error) {
		r := l.Rankings(1)
		ofQuery := func(ranking []int) float64 { return reward(l.Query, ranking) }
		return op.Reinforce(l, op.Own[plackett.Kernel](l), r, plackett.Rankings(r), ofQuery, lambda)
	}, op.Rankings(rankings))
}
