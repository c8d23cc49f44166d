package losses

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
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
		return approxNDCG(b, temperature, nil)
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
	o.Sampled, o.graph = true, func(b *batch) *G.Node { return approxNDCG(b, temperature, b.noise()) }
	return o
}

// approxNDCG is the loss of scores with noise, which is nil without it. Ranks from 0 take O(D²) for a query and sample, and memory for
// O(D). The weights of both documents multiply the derivative of a rank by a score.
func approxNDCG(b *batch, temperature float64, noise *G.Node) *G.Node {
	inputs, noiseAt := []op.In{op.Rows("gains", b.gainsFromZero()), op.Weights(b.DocumentWeights)}, 0
	if noise != nil {
		inputs, noiseAt = slices.Insert(inputs, 1, op.Samples("noise", noise)), 2
	}
	metric := func(l *op.List, lambda []float64) (value float64, err error) {
		gains, ranks, ideal := l.X[1], make([]float64, l.Len()), 0.0
		for rank, d := range l.Order(gains) {
			ideal += gains[d] / math.Log2(float64(rank+2))
		}
		if ideal == 0 {
			return 0, nil
		}
		samples, err := eachNoisy(l, noiseAt, func(noisy perturbed) {
			clear(ranks)
			for j := range ranks {
				for i := range j {
					s := sigmoid(noisy.gap(j, i) / temperature)
					ranks[i] += s
					ranks[j] += 1 - s
				}
			}
			slopes := ranks // by rank
			for i, rank := range ranks {
				log := math.Log2(2 + rank)
				value += gains[i] / log
				slopes[i] = -gains[i] / (math.Ln2 * (2 + rank) * log * log)
			}
			for j := range len(lambda) {
				for i := range j {
					e := num.FlushExp(-math.Abs(noisy.gap(j, i)) / temperature)
					slope := ofPair(l.Weights, i, j) * (slopes[i] - slopes[j]) * e / ((1 + e) * (1 + e)) / temperature
					lambda[i] -= slope
					lambda[j] += slope
				}
			}
		})
		floats.Scale(1/(samples*ideal), lambda)
		return value / (samples * ideal), err
	}
	return neg(G.Must(op.Metric("losses: ApproxNDCG", fmt.Sprint(temperature), b.Lists, metric, inputs...)))
}
