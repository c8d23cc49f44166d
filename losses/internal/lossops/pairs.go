package lossops

import (
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// PairWeights are the weights w_ij of the pairs of a pairwise loss, ρ_i > ρ_j, as
// the sum of four parts, each of which is left out where it is zero. r are the ranks
// of [ops.Ranks] by the scores, from 0; numbers beyond the end of a slice are 0.
type PairWeights struct {
	Each     float64   // the same for every pair
	Swap     []float64 // θ: (ρ_i − ρ_j)·|θ_{r_i} − θ_{r_j}|, the change of the metric when i and j are swapped
	Distance []float64 // φ: (ρ_i − ρ_j)·φ_{|r_i − r_j| − 1}
	// AtCutoff, θ of K ranks from 0, is (ρ_i − ρ_j)·(θ_{δ−1} − θ_δ) with δ = |r_i − r_j|,
	// times θ_0 / (θ_0 − θ_r) where r, the lower of the two ranks, is beyond the last
	// discount. There θ goes on in proportion to DCG's, θ_r = θ_{K−1} log2(K+1) / log2(r+2).
	AtCutoff []float64
}

// LogisticPairs is the weighted logistic loss of the pairs of documents that are to
// be ranked one above the other,
//
//	Σ_{ρ_i > ρ_j} w_ij log(1 + exp(m_j − m_i)),
//
// a node [queries], 0 for queries without such pairs, differentiable in the scores:
// gains and weights, ranks included, are constants for differentiation (as they are
// for LambdaRank, and in the M-step of LambdaLoss).
//
// gains is [rows], of the dtype of the scores. Scores and gains that are not finite
// are errors of the run. It costs O(D²) for a query, and memory for O(D): no pair is
// ever stored.
func LogisticPairs(l ops.Lists, gains *G.Node, w PairWeights) (*G.Node, error) {
	return pairLoss{
		name:  "losses: LogisticPairs",
		value: softplus,
		slope: sigmoid,
	}.apply(l, gains, w)
}

// HingePairs is [LogisticPairs] with the hinge loss, Σ w_ij max(0, 1 + m_j − m_i). Its
// slope is 0 where the margin is exactly 1.
func HingePairs(l ops.Lists, gains *G.Node, w PairWeights) (*G.Node, error) {
	return pairLoss{
		name:  "losses: HingePairs",
		value: func(x float64) float64 { return max(0, 1+x) },
		slope: func(x float64) float64 {
			if x > -1 {
				return 1
			}
			return 0
		},
	}.apply(l, gains, w)
}

// A pairLoss is a loss of pairs, a function of x = m_j − m_i.
type pairLoss struct {
	name         string
	value, slope func(x float64) float64
}

func (f pairLoss) apply(l ops.Lists, gains *G.Node, w PairWeights) (*G.Node, error) {
	for _, x := range slices.Concat([]float64{w.Each}, w.Swap, w.Distance, w.AtCutoff) {
		if x-x != 0 {
			return nil, fmt.Errorf("%s: a weight is %v: weights must be finite", f.name, x)
		}
	}
	w.Swap, w.Distance, w.AtCutoff = slices.Clone(w.Swap), slices.Clone(w.Distance), slices.Clone(w.AtCutoff)
	settings := fmt.Sprintf("%+v", w)
	sum := op.ListFunc{
		Name: f.name, Settings: settings, Shape: op.PerQuery,
		Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			sum := 0.0
			err := w.eachPair(l, in[1], func(scores []float64, better, worse int, weight float64) {
				sum += weight * f.value(scores[worse]-scores[better])
			})
			result.Set(l.Query, sum)
			return err
		},
		VJP: &op.ListFunc{Name: f.name + "VJP", Settings: settings, Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			slopes, incoming := l.Zeros(), in[2].At(l.Query)
			err := w.eachPair(l, in[1], func(scores []float64, better, worse int, weight float64) {
				slope := incoming * weight * f.slope(scores[worse]-scores[better])
				slopes[better] -= slope
				slopes[worse] += slope
			})
			result.Write(slopes, l.From)
			return err
		}},
	}
	return sum.Apply(l, op.Rows("gains", gains))
}

// eachPair calls f with the pairs whose weight is not 0.
func (w PairWeights) eachPair(l *op.List, g op.Tensor, f func(scores []float64, better, worse int, weight float64)) error {
	gains, err := l.Gains(g)
	if err != nil {
		return err
	}
	scores, err := l.Scores()
	if err != nil {
		return err
	}
	theta := func(rank int) float64 {
		if rank < len(w.Swap) {
			return w.Swap[rank]
		}
		return 0
	}
	tail := w.continued(len(scores))
	// From the best rank to the worst, so that the distance is at hand.
	order := l.Order(scores)
	for upper, a := range order {
		for lower := upper + 1; lower < len(order); lower++ {
			b := order[lower]
			gap := gains[a] - gains[b]
			if gap == 0 {
				continue
			}
			better, worse := a, b
			if gap < 0 {
				better, worse, gap = b, a, -gap
			}
			weight := math.Abs(theta(upper) - theta(lower))
			if lower-upper <= len(w.Distance) {
				weight += w.Distance[lower-upper-1]
			}
			if tail != nil {
				atCutoff := tail[lower-upper-1] - tail[lower-upper]
				if lower >= len(w.AtCutoff) {
					atCutoff *= tail[0] / (tail[0] - tail[lower])
				}
				weight += atCutoff
			}
			if weight = w.Each + gap*weight; weight != 0 {
				f(scores, better, worse, weight)
			}
		}
	}
	return nil
}

// continued is the discounts of AtCutoff for so many ranks.
func (w PairWeights) continued(ranks int) []float64 {
	k := len(w.AtCutoff)
	if k == 0 {
		return nil
	}
	theta := append([]float64(nil), w.AtCutoff[:min(k, ranks)]...)
	for r := k; r < ranks; r++ {
		theta = append(theta, theta[k-1]*math.Log2(float64(k+1))/math.Log2(float64(r+2)))
	}
	return theta
}

// CountPairs is the number of pairs of documents of different gain of every query, a
// node [queries] of the dtype of the scores. It is not differentiable.
func CountPairs(l ops.Lists, gains *G.Node) (*G.Node, error) {
	f := op.ListFunc{Name: "losses: CountPairs", Shape: op.PerQuery, Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
		gains, err := l.Gains(in[0])
		if err != nil {
			return err
		}
		order := l.Order(gains)
		pairs, above := 0, 0 // above: documents of a gain above the one at hand
		for i, d := range order {
			if i > 0 && gains[d] != gains[order[i-1]] {
				above = i
			}
			pairs += above
		}
		result.Set(l.Query, float64(pairs))
		return nil
	}}
	return f.ApplyTo(op.Rows("gains", gains), l)
}
