package ops

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"
)

// ApproxRanks are the approximate ranks, from 0, of Qin, Liu & Li (Information
// Retrieval 13, 2010): of every document the number of others that are
// scored higher, with a sigmoid in the place of the step,
//
//	r_i = Σ_{j≠i} 1 / (1 + exp((m_i − m_j)/temperature)),
//
// over the documents j of its query: a node [rows], 0 in padding, differentiable in
// the scores. The lower the temperature, the closer to [Ranks]. It costs O(D²) for a
// query, and memory for O(D). Scores that are not finite are an error of the run.
func ApproxRanks(l Lists, temperature float64) (*G.Node, error) {
	if !(temperature > 0) || math.IsInf(temperature, 0) {
		return nil, fmt.Errorf("ops: ApproxRanks: the temperature is %v: want a number above 0", temperature)
	}
	return comparison{
		name:     "ApproxRanks",
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
func RankBounds(l Lists) (*G.Node, error) {
	return comparison{
		name: "RankBounds",
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
func ScoreDistances(l Lists) (*G.Node, error) {
	return comparison{
		name:  "ScoreDistances",
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

func (c comparison) apply(l Lists) (*G.Node, error) {
	if err := l.checked(c.name); err != nil {
		return nil, err
	}
	f := &listFunc{
		name: c.name, settings: c.settings, do: func(l list, _ vectors, out numbers) error {
			sums := l.zeros()
			for j := range l.scores {
				for i := range j {
					plus, minus := c.value(l.scores[j] - l.scores[i])
					sums[i] += plus
					sums[j] += minus
				}
			}
			out.write(sums, l.from)
			return l.finite()
		},
		back: &listFunc{name: c.name + "Diff", settings: c.settings, do: func(l list, in vectors, out numbers) error {
			l.weights = in.last().read(l.weights, l.from, l.to)
			sums := l.zeros()
			for j := range l.scores {
				for i := range j {
					plus, minus := c.slope(l.scores[j] - l.scores[i])
					slope := l.weights[i]*plus - l.weights[j]*minus
					sums[i] -= slope
					sums[j] += slope
				}
			}
			out.write(sums, l.from)
			return l.finite()
		}},
	}
	return f.apply(l)
}

// zeros is a number for every document, to be summed up.
func (l list) zeros() []float64 {
	l.result = sized(l.result, len(l.scores))
	clear(l.result)
	return l.result
}

func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}
