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
