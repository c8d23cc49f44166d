package losses

import (
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// softmax is the cheapest of the listwise losses. Queries without gains have 0.
func softmax(b *batch) *G.Node { return crossEntropy(b.Lists, b.gainsFromZero()) }

// crossEntropy is −Σ_d (t_d / Σ t) log p_d, p_d = exp m_d / Σ exp m.
func crossEntropy(l ops.Lists, target *G.Node) *G.Node {
	hits := total(l, mul(target, G.Must(ops.LogSoftmax(l))))
	return neg(mul(hits, inverse(total(l, target))))
}

// xendcg is the cross-entropy loss that bounds NDCG (Bruch, WWW 2021),
//
//	−Σ_d φ_d log p_d,   φ_d = (2^label_d − γ_d) / Σ (2^label − γ),
//
// with γ uniform in (0, 1) and drawn anew in every step. 2^label is ρ + 1, so that
// φ_d is in proportion to ρ_d + u_d, where u = 1 − γ is uniform, too; other gains than
// 2^label − 1 take the place of these. Queries without gains have 0: their target is noise
// alone, whose mean is the same for all documents.
//
// Gumbel noise gives u by exp(−exp(−noise)). φ is the mean over samples; the paper has one.
func xendcg(b *batch) *G.Node {
	return b.withGains(crossEntropy(b.Lists, noisyTarget(b.Lists, b.gainsFromZero(), b.noise())))
}

// noisyTarget is the mean over samples of φ, [rows], not differentiable.
func noisyTarget(l ops.Lists, gains, noise *G.Node) *G.Node {
	f := op.ListFunc{Name: "losses: NoisyTarget", Do: func(l *op.List) error {
		target := l.Out()
		return meanNoisy(l, 1, target, func(noisy perturbed) {
			sum, phi := 0.0, noisy.noise
			for d, rho := range l.X[0] {
				phi[d] = rho + math.Exp(-math.Exp(-phi[d]))
				sum += phi[d]
			}
			for d, v := range phi {
				target[d] += v / sum
			}
		})
	}}
	return G.Must(f.Apply(l, op.Rows("gains", gains), op.Samples("noise", noise)))
}

// listNet is the cross-entropy of the probabilities to stand first, by the labels and by the
// scores. With weights of documents the target is in proportion to w_d exp label_d.
func listNet(b *batch) *G.Node {
	byLabel := ops.Lists{Scores: b.finiteLabels(), Offsets: b.Lists.Offsets}
	target := exp(G.Must(ops.LogSoftmax(byLabel)))
	if b.DocumentWeights != nil {
		return crossEntropy(b.Lists, mul(target, b.DocumentWeights))
	}
	return neg(total(b.Lists, mul(target, G.Must(ops.LogSoftmax(b.Lists)))))
}

// listMLE is the loss of [ListMLE].
func listMLE(b *batch) *G.Node {
	likelihood := func(rankings *G.Node) *G.Node {
		return neg(G.Must(G.Sum(G.Must(ops.LogProbs(b.Lists, rankings)), 1, 2)))
	}
	if b.Rankings != nil {
		return likelihood(b.Rankings)
	}
	return b.withGains(likelihood(G.Must(ops.IdealRankings(b.Lists, b.gains(), b.Sampler))))
}

// partialListMLE is −log of the probability that the documents with a gain come first, in the order of their gains:
// the likelihood of an observed ranking, where the others are the rest of the set that was chosen from. Documents of
// equal gain are all chosen from the same set (Breslow, Biometrics 30, 1974).
func partialListMLE(b *batch) *G.Node {
	return G.Must(op.Metric("losses: PartialListMLE", "", b.Lists, func(l *op.List, lambda []float64) (float64, error) {
		scores, gains := l.X[0], l.X[1]
		return choices(scores, gains, l.Order(gains), l.Scratch(2*l.Len()), lambda), nil
	}, op.AnyRows("gains", b.gainsFromZero())))
}

// choices is the loss of partialListMLE, with its derivatives if lambda is not nil. order has the documents by descending gain; room is for
// two numbers of each. Sums are kept over the exp of their largest m: differences of scores are exact, however large scores are.
func choices(scores, gains []float64, order []int, room, lambda []float64) (loss float64) {
	tops, sums := room[:len(order)], room[len(order):] // Σ exp m from a rank on is sum·exp top
	top, sum := math.Inf(-1), 0.0
	for k := len(order) - 1; k >= 0; k-- {
		m := scores[order[k]]
		above := max(top, m)
		sum = sum*math.Exp(top-above) + math.Exp(m-above)
		top = above
		tops[k], sums[k] = top, sum
	}
	taken := 0.0 // Σ 1/Σ exp m over the choices so far, times exp top
	for first := 0; first < len(order); {
		end, chosen := first, 0.0
		taken *= math.Exp(tops[first] - top)
		top = tops[first]
		for ; end < len(order) && gains[order[end]] == gains[order[first]]; end++ {
			if d := order[end]; gains[d] > 0 {
				loss += math.Log(sums[first]) + (top - scores[d])
				taken += 1 / sums[first]
				chosen = 1
			}
		}
		if lambda != nil {
			for _, d := range order[first:end] {
				lambda[d] = math.Exp(scores[d]-top)*taken - chosen
			}
		}
		first = end
	}
	return loss
}
