package losses

import (
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
)

// pairWeights are the weights w_ij of the pairs of a pairwise loss, ρ_i > ρ_j, as
// the sum of four parts; a part is left out where it is zero. r are the ranks
// of [ops.Ranks] by the scores, from 0; numbers beyond the end of a slice are 0.
type pairWeights struct {
	each     float64   // the same for every pair
	swap     []float64 // θ: (ρ_i − ρ_j)·|θ_{r_i} − θ_{r_j}|, the change of the metric when i and j are swapped
	distance []float64 // φ: (ρ_i − ρ_j)·φ_{|r_i − r_j| − 1}
	// atCutoff, θ of K ranks from 0, is (ρ_i − ρ_j)·(θ_{δ−1} − θ_δ) with δ = |r_i − r_j|,
	// times θ_0 / (θ_0 − θ_r) where r, the lower of the two ranks, is beyond the last
	// discount. There θ goes on in proportion to DCG's, θ_r = θ_{K−1} log2(K+1) / log2(r+2).
	atCutoff []float64
}

// A pairLoss is a loss of the pairs of documents that are to be ranked one above the other,
//
//	Σ_{ρ_i > ρ_j} w_ij f(m_j − m_i),
//
// w_ij times the weights of both documents, if there are any. It is 0 for queries without such
// pairs, differentiable in the scores: gains and weights, ranks included, are constants for
// differentiation (as they are for LambdaRank, and in the M-step of LambdaLoss). It costs O(D²) for
// a query, where only the distances of ranks have weights O(D) for each of these, but the memory of
// O(D) only: no pair is ever stored.
type pairLoss struct {
	name     string
	f, slope func(x float64) float64
}

var logisticPairs = pairLoss{name: "losses: LogisticPairs", f: softplus, slope: sigmoid}

// hingePairs has slope 0 where the margin is exactly 1.
var hingePairs = pairLoss{
	name: "losses: HingePairs",
	f:    func(x float64) float64 { return max(0, 1+x) },
	slope: func(x float64) float64 {
		if x > -1 {
			return 1
		}
		return 0
	},
}

// softplus is log(1 + e^x), and sigmoid its derivative.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(num.FlushExp(-math.Abs(x))) }

func sigmoid(x float64) float64 {
	if x < 0 {
		e := num.FlushExp(x)
		return e / (1 + e)
	}
	return 1 / (1 + num.FlushExp(-x))
}

// sum is the loss of every query, for those gains. With noise, [samples × rows], it is the mean over
// samples of the loss of the scores plus noise.
func (p pairLoss) sum(b *batch, gains, noise *G.Node, w pairWeights) *G.Node {
	l := b.Lists
	for _, x := range slices.Concat([]float64{w.each}, w.swap, w.distance, w.atCutoff) {
		if x-x != 0 {
			panic(fmt.Errorf("%s: a weight is %v: weights must be finite", p.name, x))
		}
	}
	inputs, noiseAt := []op.In{op.Scores(l), op.Rows("gains", gains)}, 0
	if noise != nil {
		inputs, noiseAt = append(inputs, op.Samples("noise", noise)), len(inputs)
	}
	inputs = append(inputs, op.Weights(b.DocumentWeights))
	f := op.ListFunc{
		Name: p.name, Settings: fmt.Sprintf("%+v", w), Layout: op.PerQuery,
		Do: func(l *op.List) error {
			sum := l.Out()
			return meanNoisy(l, noiseAt, sum, func(noisy perturbed) {
				w.eachPair(noisy.order(), l.X[1], l.Weights, func(better, worse int, weight float64) {
					sum[0] += weight * p.f(noisy.gap(worse, better))
				})
			})
		},
		VJP: func(l *op.List) error {
			slopes, incoming := l.Out(), l.Last()[0]
			return meanNoisy(l, noiseAt, slopes, func(noisy perturbed) {
				w.eachPair(noisy.order(), l.X[1], l.Weights, func(better, worse int, weight float64) {
					slope := incoming * weight * p.slope(noisy.gap(worse, better))
					slopes[better] -= slope
					slopes[worse] += slope
				})
			})
		},
	}
	return G.Must(f.Apply(l, inputs...))
}

// eachPair calls f with the pairs whose weight is not 0, of documents ranked in that order, with
// weights of their own or nil.
func (w pairWeights) eachPair(order []int, gains, documents []float64, f func(better, worse int, weight float64)) {
	theta := func(rank int) float64 {
		if rank < len(w.swap) {
			return w.swap[rank]
		}
		return 0
	}
	tail := w.continued(len(order))
	reach := len(order)
	if w.each == 0 && w.swap == nil && tail == nil {
		reach = len(w.distance)
	}
	// From the best rank to the worst, so that the distance is at hand.
	for upper, a := range order {
		for lower := upper + 1; lower < min(len(order), upper+1+reach); lower++ {
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
			if lower-upper <= len(w.distance) {
				weight += w.distance[lower-upper-1]
			}
			if tail != nil {
				atCutoff := tail[lower-upper-1] - tail[lower-upper]
				if lower >= len(w.atCutoff) {
					atCutoff *= tail[0] / (tail[0] - tail[lower])
				}
				weight += atCutoff
			}
			if weight = (w.each + gap*weight) * ofPair(documents, a, b); weight != 0 {
				f(better, worse, weight)
			}
		}
	}
}

// continued returns the discounts of atCutoff for that number of ranks.
func (w pairWeights) continued(ranks int) []float64 {
	k := len(w.atCutoff)
	if k == 0 {
		return nil
	}
	theta := append([]float64(nil), w.atCutoff[:min(k, ranks)]...)
	for r := k; r < ranks; r++ {
		theta = append(theta, theta[k-1]*math.Log2(float64(k+1))/math.Log2(float64(r+2)))
	}
	return theta
}

// countPairs is the number of pairs of documents of different gain of every query, or the sum of
// the products of their weights, not differentiable.
func (b *batch) countPairs() *G.Node {
	return fixed("losses: CountPairs", op.PerQuery, func(l *op.List, out []float64) {
		gains, documents := l.X[0], l.Weights
		order := l.Order(gains)
		pairs, passed, above := 0.0, 0.0, 0.0 // above: documents of a gain above the one at hand
		for i, d := range order {
			if i > 0 && gains[d] != gains[order[i-1]] {
				above = passed
			}
			w := weightOf(documents, d)
			pairs += above * w
			passed += w
		}
		out[0] = pairs
	}, b.Lists, op.Rows("gains", b.gains()), op.Weights(b.DocumentWeights))
}
