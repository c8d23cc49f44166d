package ops

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
)

// SumOverDocuments sums x, [rows], over the documents of every query: a node
// [queries], 0 for empty ones; padding is left out, whatever is in it. It is
// differentiable in x. Its value lasts until the next run.
func SumOverDocuments(l Lists, x *G.Node) (*G.Node, error) { return op.SumOverDocuments(l, x) }

// MeanOverQueries returns the scalar mean of values, [queries], over the queries that
// have documents: Σ_q v_q / max(1, the number of queries with documents). It is
// differentiable in values. Its value lasts until the next run.
func MeanOverQueries(l Lists, values *G.Node) (*G.Node, error) {
	const name = "ops: MeanOverQueries"
	if err := op.Check(l, op.Queries("values", values)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	share := op.ListFunc{Name: name, Layout: op.PerQuery, Do: func(l *op.List) error {
		l.Out()[0] = 1 / float64(l.Present)
		return nil
	}}
	weights, err := share.Apply(l, op.AnyRows("scores", l.Scores))
	if err != nil {
		return nil, err
	}
	weighted, err := G.HadamardProd(values, weights)
	if err != nil {
		return nil, err
	}
	return G.Sum(weighted)
}

// LogSoftmax returns the logarithm of the softmax of the scores of every query,
//
//	log p_d = m_d − log Σ_{d'} exp m_{d'},
//
// a node [rows], 0 in padding: the log-probability of the document to be ranked
// first. It is differentiable in the scores. It is accurate for any finite scores; for
// others the run returns an error that names the row. Its value lasts until the next run.
func LogSoftmax(l Lists) (*G.Node, error) {
	f := op.ListFunc{
		Name: "ops: LogSoftmax",
		Do: func(l *op.List) error {
			shift, logSum := logSumExp(l.X[0])
			out := l.Out()
			for d, m := range l.X[0] {
				out[d] = m - shift - logSum
			}
			return nil
		},
		VJP: func(l *op.List) error {
			shift, logSum := logSumExp(l.X[0])
			sum := 0.0
			for _, v := range l.Last() {
				sum += v
			}
			out := l.Out()
			for d, m := range l.X[0] {
				out[d] = l.Last()[d] - sum*num.FlushExp(m-shift-logSum)
			}
			return nil
		},
	}
	return f.Apply(l, op.Scores(l))
}

// logSumExp is log Σ exp m, less a shift: the largest score where that is so large that the
// logarithm of a sum would be lost in it, else 0.
func logSumExp(scores []float64) (shift, logSum float64) {
	largest, sum := math.Inf(-1), 0.0
	for _, m := range scores {
		largest = max(largest, m)
	}
	for _, m := range scores {
		sum += num.FlushExp(m - largest)
	}
	if math.Abs(largest) > 1<<20 {
		return largest, math.Log(sum)
	}
	return 0, largest + math.Log(sum)
}

// Ranks gives every document its rank in its query, from 0, in descending order of
// score, ties by row: a node [rows] of the dtype of the scores, 0 in padding. It is
// not differentiable. The run returns an error if scores are not finite. Its value lasts until the next run.
func Ranks(l Lists) (*G.Node, error) {
	f := op.ListFunc{Name: "ops: Ranks", Do: func(l *op.List) error {
		out := l.Out()
		for rank, d := range l.Order(l.X[0]) {
			out[d] = float64(rank)
		}
		return nil
	}}
	return f.Apply(l, op.Scores(l))
}
