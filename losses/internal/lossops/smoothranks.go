package lossops

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/normal"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// ApproxRanks are the approximate ranks, from 0, of Qin, Liu & Li (Information
// Retrieval 13, 2010): of every document the number of others that are
// scored higher, with a sigmoid instead of the step,
//
//	r_i = Σ_{j≠i} 1 / (1 + exp((m_i − m_j)/temperature)),
//
// over the documents j of its query: a node [rows], 0 in padding, differentiable in
// the scores. The lower the temperature, the closer to [ops.Ranks]. It costs O(D²) for a
// query, and memory for O(D). Scores that are not finite are an error of the run.
func ApproxRanks(l ops.Lists, temperature float64) (*G.Node, error) {
	const name = "losses: ApproxRanks"
	if err := checkTemperature(name, temperature); err != nil {
		return nil, err
	}
	return approximately(temperature).apply(name, fmt.Sprintf("temperature: %v", temperature), l)
}

func checkTemperature(name string, temperature float64) error {
	if !(temperature > 0) || math.IsInf(temperature, 0) {
		return fmt.Errorf("%s: the temperature is %v: want a number above 0", name, temperature)
	}
	return nil
}

// approximately compares scores by a sigmoid.
func approximately(temperature float64) comparison {
	return comparison{
		value: func(x float64) (float64, float64) {
			s := sigmoid(x / temperature)
			return s, 1 - s
		},
		slope: func(x float64) (float64, float64) {
			e := normal.Exp(-math.Abs(x) / temperature)
			s := e / ((1 + e) * (1 + e)) / temperature
			return s, s
		},
	}
}

// ApproxDiscounts are the discounts of DCG at the approximate ranks r of [ApproxRanks] by
// noisy scores, m + noise, the mean over samples of
//
//	1 / log2(2 + r_i),
//
// a node [rows], 0 in padding, differentiable in the scores. noise is [samples × rows],
// see [Order]. It costs O(N·D²) for a query, and memory for O(D).
func ApproxDiscounts(l ops.Lists, noise *G.Node, temperature float64) (*G.Node, error) {
	const name = "losses: ApproxDiscounts"
	if err := checkTemperature(name, temperature); err != nil {
		return nil, err
	}
	ranks, settings := approximately(temperature), fmt.Sprintf("temperature: %v", temperature)
	f := op.ListFunc{
		Name: name, Settings: settings, Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			sums, r := make([]float64, l.Len()), make([]float64, l.Len())
			samples, err := eachNoisy(l, in[1], func(_ int, noisy perturbed) {
				clear(r)
				ranks.sums(noisy, r)
				for i := range r {
					sums[i] += 1 / math.Log2(2+r[i])
				}
			})
			for i := range sums {
				result.Set(l.From+i, sums[i]/float64(max(1, samples)))
			}
			return err
		},
		VJP: &op.ListFunc{Name: name + "VJP", Settings: settings, Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			sums, r, slopes := make([]float64, l.Len()), make([]float64, l.Len()), make([]float64, l.Len())
			samples, err := eachNoisy(l, in[1], func(_ int, noisy perturbed) {
				clear(r)
				ranks.sums(noisy, r)
				for i := range r {
					log := math.Log2(2 + r[i])
					slopes[i] = -in[2].At(l.From+i) / (math.Ln2 * (2 + r[i]) * log * log)
				}
				ranks.slopes(noisy, slopes, sums)
			})
			for i := range sums {
				result.Set(l.From+i, sums[i]/float64(max(1, samples)))
			}
			return err
		}},
	}
	return f.Apply(l, op.Samples("noise", noise))
}

// RankBounds are upper bounds of the ranks, from 0, by the logistic loss, which is
// above the step everywhere:
//
//	b_i = Σ_{j≠i} log2(1 + exp(m_j − m_i)).
//
// All else is as in [ApproxRanks].
func RankBounds(l ops.Lists) (*G.Node, error) {
	return comparison{
		value: func(x float64) (float64, float64) {
			tail := math.Log1p(normal.Exp(-math.Abs(x)))
			return (max(x, 0) + tail) / math.Ln2, (max(-x, 0) + tail) / math.Ln2
		},
		slope: func(x float64) (float64, float64) {
			s := sigmoid(x)
			return s / math.Ln2, (1 - s) / math.Ln2
		},
	}.apply("losses: RankBounds", "", l)
}

// A comparison is a function Σ_{j≠i} f(m_j − m_i) of every document.
type comparison struct {
	value func(x float64) (plus, minus float64) // f(x) and f(−x)
	slope func(x float64) (plus, minus float64) // f'(x) and f'(−x)
}

// sums adds the function of every document to sums.
func (c comparison) sums(p perturbed, sums []float64) {
	for j := range p.scores {
		for i := range j {
			plus, minus := c.value(p.gap(j, i))
			sums[i] += plus
			sums[j] += minus
		}
	}
}

// slopes adds the derivative by every score, given that by every function, to slopes.
func (c comparison) slopes(p perturbed, incoming, slopes []float64) {
	for j := range p.scores {
		for i := range j {
			plus, minus := c.slope(p.gap(j, i))
			slope := incoming[i]*plus - incoming[j]*minus
			slopes[i] -= slope
			slopes[j] += slope
		}
	}
}

func (c comparison) apply(name, settings string, l ops.Lists) (*G.Node, error) {
	f := op.ListFunc{
		Name: name, Settings: settings, Do: func(l *op.List, _ []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			sums := l.Zeros()
			c.sums(perturbed{scores: scores}, sums)
			result.Write(sums, l.From)
			return err
		},
		VJP: &op.ListFunc{Name: name + "VJP", Settings: settings, Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			incoming, slopes := l.Read(in[1], l.From, l.To), l.Zeros()
			c.slopes(perturbed{scores: scores}, incoming, slopes)
			result.Write(slopes, l.From)
			return err
		}},
	}
	return f.Apply(l)
}

func sigmoid(x float64) float64 {
	if x < 0 {
		e := normal.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + normal.Exp(-x))
}
