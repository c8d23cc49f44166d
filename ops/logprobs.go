package ops

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
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
// Errors are those of [PLRank1]. It costs O(D + N·K) for a query, like its
// backward pass.
func LogProbs(l Lists, rankings *G.Node) (*G.Node, error) {
	const name = "ops: LogProbs"
	f := op.ListFunc{
		Name: name, Shape: op.Like(1), Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			if err != nil {
				return err
			}
			r := l.Rankings(in[1])
			logs := l.Floats(len(r.Documents))
			if err := l.Kernel.LogProbs(scores, r, logs); err != nil {
				return err
			}
			result.Write(logs, l.Query*len(logs))
			return nil
		},
		VJP: &op.ListFunc{Name: name + "VJP", Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			if err != nil {
				return err
			}
			r := l.Rankings(in[1])
			size, lambda := len(r.Documents), l.Floats(l.Len())
			weights := l.Read(in[2], l.Query*size, (l.Query+1)*size)
			if err := l.Kernel.LogProbsGradient(scores, r, weights, lambda); err != nil {
				return err
			}
			result.Write(lambda, l.From)
			return nil
		}},
	}
	return f.Apply(l, op.Rankings(rankings))
}
