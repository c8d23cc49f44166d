package losses

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// ApproxNDCG returns the loss −NDCG of all documents, with ranks 1 + Σ_{j≠i} sigmoid((m_j − m_i) /
// temperature) (Qin, Liu & Li 2010).
//
// All ranks count, whatever the cutoff: Discounts are not read. The temperature is above 0, 1 by name;
// with another, building the loss returns an error. It reads Gains; a run with negative gains returns an error.
// Queries without gains have 0.
func ApproxNDCG(temperature float64) Objective {
	invalid := temperatures.check(temperature, "ApproxNDCG", temperature)
	return Objective{RatioOnly: true, weights: ofRanks, err: invalid, graph: func(b *batch) *G.Node {
		gains := b.gainsFromZero()
		ranks := approximateRanks(temperature).ranks(b)
		return neg(mul(dcg(b.Lists, gains, ranks), inverse(idealDCG(b.Lists, gains))))
	}}
}

// GumbelApproxNDCG returns the loss ApproxNDCG of the scores m + noise, the mean over samples
// (Bruch et al., WSDM 2020).
//
// It is minus the NDCG of approximate ranks expected under the Plackett–Luce policy. The Gumbel noise
// is a constant for differentiation: the gradient goes through the perturbed scores
// (reparametrisation). It costs O(N·D²) for a query; TF-Ranking draws 8 samples. It reads Noise or else
// Sampler; the rest is as for [ApproxNDCG].
func GumbelApproxNDCG(temperature float64) Objective {
	o := ApproxNDCG(temperature)
	o.Sampled, o.graph = true, func(b *batch) *G.Node {
		gains := b.gainsFromZero()
		approximate := total(b.Lists, mul(gains, approxDiscounts(b, temperature)))
		return neg(mul(scaled(approximate, 1/math.Ln2), inverse(idealDCG(b.Lists, gains))))
	}
	return o
}

// idealDCG is dcg with the ranks by gain.
func idealDCG(l ops.Lists, gains *G.Node) *G.Node {
	return dcg(l, gains, G.Must(ops.Ranks(ops.Lists{Scores: gains, Offsets: l.Offsets})))
}

// dcg is Σ ρ / ln(2 + r) of every query, for ranks from 0.
func dcg(l ops.Lists, gains, ranks *G.Node) *G.Node {
	return total(l, mul(gains, inverse(G.Must(G.Log(shifted(ranks, 2))))))
}

// approxDiscounts are the discounts of DCG at the approximate ranks r by noisy scores, the
// mean over samples of
//
//	1 / log2(2 + r_i),
//
// [rows], differentiable in the scores.
func approxDiscounts(b *batch, temperature float64) *G.Node {
	ranks := approximateRanks(temperature)
	// mean sets out to the mean over samples of what add adds to it, given the ranks.
	mean := func(l *op.List, add func(noisy perturbed, r, out []float64)) error {
		out, r := l.Out(), make([]float64, l.Len())
		return meanNoisy(l, 1, out, func(noisy perturbed) {
			clear(r)
			ranks.add(noisy, r)
			add(noisy, r, out)
		})
	}
	f := op.ListFunc{
		Name: "losses: ApproxDiscounts", Settings: fmt.Sprint(temperature),
		Do: func(l *op.List) error {
			return mean(l, func(_ perturbed, r, out []float64) {
				for i := range r {
					out[i] += 1 / math.Log2(2+r[i])
				}
			})
		},
		VJP: func(l *op.List) error {
			incoming, slopes := l.Last(), make([]float64, l.Len())
			return mean(l, func(noisy perturbed, r, out []float64) {
				for i := range r {
					log := math.Log2(2 + r[i])
					slopes[i] = -incoming[i] / (math.Ln2 * (2 + r[i]) * log * log)
				}
				ranks.addVJP(noisy, l.Weights, slopes, out)
			})
		},
	}
	return G.Must(f.Apply(b.Lists, op.Scores(b.Lists), op.Samples("noise", b.noise()), op.Weights(b.DocumentWeights)))
}

// approximateRanks are ranks with a sigmoid at a temperature in place of the step: Σ_{j≠i} sigmoid((m_j − m_i) / temperature), in
// O(D²) for a query and memory for O(D).
type approximateRanks float64

// add adds the ranks to sums.
func (temperature approximateRanks) add(p perturbed, sums []float64) {
	for j := range p.scores {
		for i := range j {
			s := sigmoid(p.gap(j, i) / float64(temperature))
			sums[i] += s
			sums[j] += 1 - s
		}
	}
}

// addVJP adds the derivative by every score to slopes, given the one by every rank. The weights of both documents, nil for 1,
// multiply the derivative of a term.
func (temperature approximateRanks) addVJP(p perturbed, weights, incoming, slopes []float64) {
	for j := range p.scores {
		for i := range j {
			e := num.FlushExp(-math.Abs(p.gap(j, i)) / float64(temperature))
			s := e / ((1 + e) * (1 + e)) / float64(temperature)
			slope := ofPair(weights, i, j) * (incoming[i]*s - incoming[j]*s)
			slopes[i] -= slope
			slopes[j] += slope
		}
	}
}

// ranks makes a node of the ranks, [rows].
func (temperature approximateRanks) ranks(b *batch) *G.Node {
	f := op.ListFunc{
		Name: "losses: ApproxRanks", Settings: fmt.Sprint(temperature),
		Do: func(l *op.List) error {
			temperature.add(perturbed{scores: l.X[0]}, l.Out())
			return nil
		},
		VJP: func(l *op.List) error {
			temperature.addVJP(perturbed{scores: l.X[0]}, l.Weights, l.Last(), l.Out())
			return nil
		},
	}
	return G.Must(f.Apply(b.Lists, op.Scores(b.Lists), op.Weights(b.DocumentWeights)))
}
