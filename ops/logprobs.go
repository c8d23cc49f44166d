package ops

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// LogProbs gives the log-probability of every rank of every ranking under the
// Plackett–Luce policy of the scores,
//
//	log P(y_k | y_1..k−1) = m(y_k) − log Σ_{d not in y_1..k−1} exp m(d),
//
// a node of the shape of the rankings, [queries, samples, cutoff], 0 where absent:
// the sum over a ranking is log π(y). It is differentiable in the scores; the
// rankings are constants. Accurate for any finite scores. With weights w that do
// not depend on the scores, Σ w·LogProbs is a REINFORCE loss (Williams 1992).
//
// Errors are as for [PLRank1]. It costs O(D + N·K) for a query, like its
// backward pass. Its value lasts until the next run.
func LogProbs(l Lists, rankings *G.Node) (*G.Node, error) {
	f := op.ListFunc{
		Name: "ops: LogProbs", Layout: op.PerRanking,
		Do: func(l *op.List) error {
			return op.Own[plackett.Kernel](l).LogProbs(l.X[0], plackett.Rankings(l.Rankings(1)), l.Out())
		},
		VJP: func(l *op.List) error {
			return op.Own[plackett.Kernel](l).LogProbsGradient(l.X[0], plackett.Rankings(l.Rankings(1)), l.Last(), l.Out())
		},
	}
	return f.Apply(l, op.Scores(l), op.Rankings(rankings))
}
