package lossops

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// ApproxRanks are the approximate ranks, from 0, of Qin, Liu & Li (Information
// Retrieval 13, 2010): of every document the number of others that are
// scored higher, with a sigmoid in the place of the step,
//
//	r_i = Σ_{j≠i} 1 / (1 + exp((m_i − m_j)/temperature)),
//
// over the documents j of its query: a node [rows], 0 in padding, differentiable in
// the scores. The lower the temperature, the closer to [ops.Ranks]. It costs O(D²) for a
// query, and memory for O(D). Scores that are not finite are an error of the run.
func ApproxRanks(l ops.Lists, temperature float64) (*G.Node, error) {
	if !(temperature > 0) || math.IsInf(temperature, 0) {
		return nil, fmt.Errorf("losses: ApproxRanks: the temperature is %v: want a number above 0", temperature)
	}
	return comparison{
		name:     "losses: ApproxRanks",
		settings: fmt.Sprintf("temperature: %v", temperature),
		value: func(x float64) (float64, float64) {
			s := sigmoid(x / temperature)
			return s, 1 - s
		},
		slope: func(x float64) (float64, float64) {
			e := math.Exp(-math.Abs(x) / temperature)
			s := e / ((1 + e) * (1 + e)) / temperature
			return s, s
		},
	}.apply(l)
}

// RankBounds are upper bounds of the ranks, from 0, by the logistic loss, which is
// above the step everywhere:
//
//	b_i = Σ_{j≠i} log2(1 + exp(m_j − m_i)).
//
// All else is as in [ApproxRanks].
func RankBounds(l ops.Lists) (*G.Node, error) {
	return comparison{
		name: "losses: RankBounds",
		value: func(x float64) (float64, float64) {
			tail := math.Log1p(math.Exp(-math.Abs(x)))
			return (max(x, 0) + tail) / math.Ln2, (max(-x, 0) + tail) / math.Ln2
		},
		slope: func(x float64) (float64, float64) {
			s := sigmoid(x)
			return s / math.Ln2, (1 - s) / math.Ln2
		},
	}.apply(l)
}

// ScoreDistances are the summed distances to the scores of the other documents of
// the query, Σ_j |m_i − m_j|, which NeuralSort needs (Grover et al., ICLR 2019). At
// equal scores the slope is 0. All else is as in [ApproxRanks].
func ScoreDistances(l ops.Lists) (*G.Node, error) {
	return comparison{
		name:  "losses: ScoreDistances",
		value: func(x float64) (float64, float64) { return math.Abs(x), math.Abs(x) },
		slope: func(x float64) (float64, float64) {
			switch {
			case x > 0:
				return 1, -1
			case x < 0:
				return -1, 1
			}
			return 0, 0
		},
	}.apply(l)
}

// A comparison is a function Σ_{j≠i} f(m_j − m_i) of every document.
type comparison struct {
	name, settings string
	value          func(x float64) (plus, minus float64) // f(x) and f(−x)
	slope          func(x float64) (plus, minus float64) // f'(x) and f'(−x)
}

func (c comparison) apply(l ops.Lists) (*G.Node, error) {
	f := op.ListFunc{
		Name: c.name, Settings: c.settings, Do: func(l *op.List, _ []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			sums := l.Zeros()
			for j, m := range scores {
				for i := range j {
					plus, minus := c.value(m - scores[i])
					sums[i] += plus
					sums[j] += minus
				}
			}
			result.Write(sums, l.From)
			return err
		},
		Slope: &op.ListFunc{Name: c.name + "Slope", Settings: c.settings, Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			incoming, sums := l.Read(in[1], l.From, l.To), l.Zeros()
			for j, m := range scores {
				for i := range j {
					plus, minus := c.slope(m - scores[i])
					slope := incoming[i]*plus - incoming[j]*minus
					sums[i] -= slope
					sums[j] += slope
				}
			}
			result.Write(sums, l.From)
			return err
		}},
	}
	return f.Apply(op.Lists(l))
}

func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}
