package ops

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/normal"
	"github.com/plrank/plrank/internal/op"
)

// SumOverDocuments sums x, [rows], over the documents of every query: a node
// [queries], 0 for empty ones; padding is left out, whatever is in it. It is
// differentiable in x.
func SumOverDocuments(l Lists, x *G.Node) (*G.Node, error) {
	const name = "ops: SumOverDocuments"
	f := op.ListFunc{Name: name, Shape: op.PerQuery, Do: sumRows, VJP: &op.ListFunc{Name: name + "VJP", Do: spreadRows}}
	return f.ApplyTo(op.Rows("x", x), l)
}

// SpreadOverDocuments gives every document the value of its query: values are
// [queries], the result is [rows], 0 in padding. It is differentiable in values.
func SpreadOverDocuments(l Lists, values *G.Node) (*G.Node, error) {
	const name = "ops: SpreadOverDocuments"
	f := op.ListFunc{
		Name: name, Do: spreadRows,
		Of: 1, VJP: &op.ListFunc{Name: name + "VJP", Shape: op.PerQuery, Do: sumRows},
	}
	return f.Apply(l, op.Queries("values", values))
}

// sumRows sums the last input, spreadRows spreads it.
func sumRows(l *op.List, in []op.Tensor, result op.Tensor) error {
	x, sum := in[len(in)-1], 0.0
	for row := l.From; row < l.To; row++ {
		sum += x.At(row)
	}
	result.Set(l.Query, sum)
	return nil
}

func spreadRows(l *op.List, in []op.Tensor, result op.Tensor) error {
	v := in[len(in)-1].At(l.Query)
	for row := l.From; row < l.To; row++ {
		result.Set(row, v)
	}
	return nil
}

// MeanOverQueries is the scalar mean of values, [queries], over the queries that
// have documents: Σ_q v_q / max(1, number of queries with documents). It is
// differentiable in values.
func MeanOverQueries(l Lists, values *G.Node) (*G.Node, error) {
	const name = "ops: MeanOverQueries"
	if err := op.Check(l, op.Queries("values", values)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	share := op.ListFunc{Name: name, Shape: op.PerQuery, Do: func(l *op.List, _ []op.Tensor, result op.Tensor) error {
		result.Set(l.Query, 1/float64(l.Present))
		return nil
	}}
	weights, err := share.Apply(l)
	if err != nil {
		return nil, err
	}
	weighted, err := G.HadamardProd(values, weights)
	if err != nil {
		return nil, err
	}
	return G.Sum(weighted)
}

// LogSoftmax is the logarithm of the softmax of the scores of every query,
//
//	log p_d = m_d − log Σ_{d'} exp m_{d'},
//
// a node [rows], 0 in padding: the log-probability of the document to be ranked
// first. It is differentiable in the scores. Accurate for any finite scores; others
// are an error of the run that names the row.
func LogSoftmax(l Lists) (*G.Node, error) {
	const name = "ops: LogSoftmax"
	f := op.ListFunc{
		Name: name, Do: func(l *op.List, _ []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			if err != nil {
				return err
			}
			shift, logSum := logSumExp(scores)
			for d, m := range scores {
				result.Set(l.From+d, m-shift-logSum)
			}
			return nil
		},
		VJP: &op.ListFunc{Name: name + "VJP", Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			if err != nil {
				return err
			}
			shift, logSum := logSumExp(scores)
			incoming, sum := l.Read(in[1], l.From, l.To), 0.0
			for _, v := range incoming {
				sum += v
			}
			for d, m := range scores {
				result.Set(l.From+d, incoming[d]-sum*normal.Exp(m-shift-logSum))
			}
			return nil
		}},
	}
	return f.Apply(l)
}

// logSumExp is log Σ exp m, less a shift: the largest score where that is so large that the
// logarithm of a sum would be lost beside it, else 0.
func logSumExp(scores []float64) (shift, logSum float64) {
	largest, sum := math.Inf(-1), 0.0
	for _, m := range scores {
		largest = max(largest, m)
	}
	for _, m := range scores {
		sum += normal.Exp(m - largest)
	}
	if math.Abs(largest) > 1<<20 {
		return largest, math.Log(sum)
	}
	return 0, largest + math.Log(sum)
}

// Ranks gives every document its rank in its query, from 0, in descending order of
// score, ties by row: a node [rows] of the dtype of the scores, 0 in padding. It is
// not differentiable. Scores that are not finite are an error of the run.
func Ranks(l Lists) (*G.Node, error) {
	f := op.ListFunc{Name: "ops: Ranks", Do: func(l *op.List, _ []op.Tensor, result op.Tensor) error {
		scores, err := l.Scores()
		if err != nil {
			return err
		}
		for rank, d := range l.Order(scores) {
			result.Set(l.From+d, float64(rank))
		}
		return nil
	}}
	return f.Apply(l)
}
