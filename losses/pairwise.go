package losses

import (
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
)

// mean is the mean over the pairs. Of the gains only the order counts.
func (p pairLoss) mean(b *batch) *G.Node {
	return mul(p.sum(b, b.gains(), nil, pairWeights{each: 1}), inverse(b.countPairs()))
}

// logistic is Σ w_ij log2(1 + exp(−(m_i − m_j))).
func logistic(b *batch, gains *G.Node, w pairWeights) *G.Node {
	return scaled(logisticPairs.sum(b, gains, nil, w), 1/math.Ln2)
}

// lambdaLoss is the loss of [LambdaLoss].
func lambdaLoss(b *batch) *G.Node {
	weights := pairWeights{distance: drops(b.discounts(), 1)}
	return scaled(logisticPairs.sum(b, b.gains(), b.noise(), weights), 1/math.Ln2)
}

// lambdaLossDeterministic is the LambdaLoss of Wang et al. (CIKM 2018) on the order of
// the scores. With [NormalizedGains] it is ndcgLoss2.
func lambdaLossDeterministic(b *batch) *G.Node {
	return logistic(b, b.gains(), pairWeights{distance: drops(b.discounts(), 1)})
}

// lambdaRank weighs pairs by what NDCG@k changes when they change ranks (Burges, Ragno & Le,
// NIPS 2006; as a loss Wang et al., CIKM 2018). Like those of the following losses, the weights
// are constants for differentiation, of the [NormalizedGains] G and the ranks r by the scores.
func lambdaRank(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{swap: b.Discounts})
}

// ndcgLoss2 is the NDCG-Loss2 of Wang et al. (CIKM 2018), with the weights
//
//	(G_i − G_j) (θ_δ − θ_{δ+1}),   δ = |r_i − r_j|, ranks from 1.
//
// It is an upper bound on 1 − NDCG, closer than ndcgLoss1, where the cutoff is
// not below the number of documents and the discounts are DCG's, or others that fall ever
// more slowly. With a lower cutoff it is none, and the weights rise at distance K:
// ndcgLoss2AtK has others.
func ndcgLoss2(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{distance: drops(b.Discounts, 1)})
}

// ndcgLoss2PP is the NDCG-Loss2++ of Wang et al. (CIKM 2018), a bound where ndcgLoss2 is.
func ndcgLoss2PP(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{swap: b.Discounts, distance: drops(b.Discounts, 10)})
}

// ndcgLoss2AtK is ndcgLoss2 with weights for NDCG@K with a cutoff below the number of
// documents (LambdaLoss@K of Jagerman et al., SIGIR 2022),
//
//	(G_i − G_j) (θ_δ − θ_{δ+1}) μ,   μ = 1 where both ranks are up to K,
//	                                 μ = θ_1 / (θ_1 − θ_r) where r, the lower of them, is not,
//
// so that a document beyond rank K costs as much as leaving it out. θ goes on beyond
// the last discount in proportion to DCG's, θ_r = θ_K log2(K+1) / log2(r+1). With a cutoff
// that is not below the number of documents it is ndcgLoss2. With one that is, it is
// not an upper bound on 1 − NDCG@K, but on the part of it that the wrongly ordered
// pairs are to blame for: the cost of the pairs in the right order, min(G_i, G_j) times the
// weight, is taken for a constant, and is more than at the best ranking if many relevant
// documents are beyond rank K.
func ndcgLoss2AtK(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{atCutoff: b.Discounts})
}

// ndcgLoss1 is the NDCG-Loss1 of LambdaLoss (Wang et al., CIKM 2018), an upper bound on
// 1 − NDCG@k,
//
//	Σ_i G_i θ_{r_i} Σ_{j≠i} log2(1 + exp(−(m_i − m_j))),
//
// Beyond the last discount that one stays, or else nothing would raise the documents down
// there (for those of DCG it is a bound still).
func ndcgLoss1(b *batch) *G.Node {
	return total(b.Lists, mul(mul(b.normalizedGains(), rankDiscounts(b)), rankBounds(b)))
}

// rankDiscounts gives every document the discount of its rank of [ops.Ranks], and beyond the
// last of them that one.
func rankDiscounts(b *batch) *G.Node {
	f := op.ListFunc{Name: "losses: RankDiscounts", Do: func(l *op.List) error {
		out := l.Out()
		for rank, d := range l.Order(l.X[0]) {
			out[d] = l.Discounts[min(rank, len(l.Discounts)-1)]
		}
		return nil
	}}
	return G.Must(f.Apply(b.Lists, op.Scores(b.Lists), op.Discounts(b.discounts())))
}

// drops are θ_δ − θ_{δ+1}, times a factor.
func drops(discounts []float64, factor float64) []float64 {
	d := make([]float64, len(discounts))
	for k, theta := range discounts {
		next := 0.0
		if k+1 < len(discounts) {
			next = discounts[k+1]
		}
		d[k] = factor * (theta - next)
	}
	return d
}
