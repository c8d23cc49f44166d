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

// LambdaLoss returns the loss (1/N) Σ_n Σ_{ρ_i>ρ_j} (θ_δ − θ_{δ+1}) (ρ_i − ρ_j) log2(1 + e^−(ŝ_i −
// ŝ_j)), ŝ = m + noise (Oosterhuis, SIGIR 2021, §7).
//
// It is the stochastic LambdaLoss that the PL-Rank paper compares with: the LambdaLoss of Wang et al.
// (CIKM 2018) on scores perturbed by Gumbel noise, N samples of it. δ is the distance of the ranks of
// i and j by ŝ, and θ is 0 beyond the last discount: pairs that are further apart do not count, so the
// loss costs O(N·D·K) for a query, and is not an upper bound on the shortfall from the ideal metric
// where documents are more than the cutoff. The weights of pairs are constants for differentiation.
// It reads Gains, Discounts, and Noise or else Sampler.
func LambdaLoss(b Batch) (*G.Node, error) { return named("lambdaloss", b) }
func lambdaLoss(b *batch) *G.Node {
	weights := pairWeights{distance: drops(b.discounts(), 1)}
	return scaled(logisticPairs.sum(b, b.gains(), b.noise(), weights), 1/math.Ln2)
}

// LambdaLossDeterministic returns the loss Σ_{ρ_i>ρ_j} (θ_δ − θ_{δ+1}) (ρ_i − ρ_j) log2(1 + e^−(m_i
// − m_j)), δ the distance of the ranks (Wang et al., CIKM 2018).
//
// It is [LambdaLoss] without noise, and with [NormalizedGains] it is [NDCGLoss2]. It reads Gains and
// Discounts.
func LambdaLossDeterministic(b Batch) (*G.Node, error) { return named("lambdaloss-deterministic", b) }
func lambdaLossDeterministic(b *batch) *G.Node {
	return logistic(b, b.gains(), pairWeights{distance: drops(b.discounts(), 1)})
}

// RankNet returns the loss: the mean of log(1 + e^−(m_i − m_j)) over pairs with ρ_i > ρ_j (Burges
// et al., ICML 2005).
//
// Only the order of the Gains counts. Queries without such pairs have 0.
func RankNet(b Batch) (*G.Node, error) { return named("ranknet", b) }

// Hinge returns the loss: the mean of max(0, 1 − (m_i − m_j)) over pairs with ρ_i > ρ_j (Herbrich
// et al. 2000; Joachims, KDD 2002).
//
// It is RankSVM's. Only the order of the Gains counts. Queries without such pairs have 0. The
// derivative of a pair whose margin is exactly 1 is 0.
func Hinge(b Batch) (*G.Node, error) { return named("hinge", b) }

// LambdaRank returns the loss Σ_{ρ_i>ρ_j} (G_i − G_j) |θ_{r_i} − θ_{r_j}| log2(1 + e^−(m_i − m_j)),
// G = ρ / ideal DCG (Burges et al., NIPS 2006).
//
// r are the ranks by the scores: pairs weigh what NDCG@k changes when they change ranks (as a loss:
// Wang et al., CIKM 2018). As in the other losses by [NormalizedGains], G and the weights are
// constants for differentiation, and Gains and Discounts are read: a run with negative gains returns
// an error, and so do discounts that are negative or rise from rank to rank.
func LambdaRank(b Batch) (*G.Node, error) { return named("lambdarank", b) }
func lambdaRank(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{swap: b.Discounts})
}

// NDCGLoss2 returns the loss Σ_{ρ_i>ρ_j} (G_i − G_j) (θ_δ − θ_{δ+1}) log2(1 + e^−(m_i − m_j)), δ =
// |r_i − r_j|, G = ρ / ideal DCG (Wang et al., CIKM 2018).
//
// It is an upper bound on 1 − NDCG, closer than [NDCGLoss1], where the cutoff is
// not below the number of documents and the discounts are DCG's, or others that fall ever
// more slowly. With a lower cutoff it is not a bound, and the weights rise at distance K:
// [NDCGLoss2K] has others. Arguments and errors are those documented for [LambdaRank].
func NDCGLoss2(b Batch) (*G.Node, error) { return named("ndcg-loss2", b) }
func ndcgLoss2(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{distance: drops(b.Discounts, 1)})
}

// NDCGLoss2PP returns the loss LambdaRank + 10·NDCGLoss2, the NDCG-Loss2++ of Wang et al. (CIKM 2018).
//
// It is a bound where [NDCGLoss2] is. Arguments and errors are those documented for [LambdaRank].
func NDCGLoss2PP(b Batch) (*G.Node, error) { return named("ndcg-loss2pp", b) }
func ndcgLoss2PP(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{swap: b.Discounts, distance: drops(b.Discounts, 10)})
}

// NDCGLoss2K returns the loss NDCGLoss2 with weights for NDCG@K, K below the number of documents
// (Jagerman et al., SIGIR 2022).
//
// It is the paper's LambdaLoss@K, with the weights
//
//	(G_i − G_j) (θ_δ − θ_{δ+1}) μ,   μ = 1 where both ranks are up to K,
//	                                 μ = θ_1 / (θ_1 − θ_r) where r, the lower of them, is not,
//
// so that a document beyond rank K costs as much as leaving it out. θ goes on beyond
// the last discount in proportion to DCG's, θ_r = θ_K log2(K+1) / log2(r+1). With a cutoff
// that is not below the number of documents it is [NDCGLoss2]. With one that is, it is
// not an upper bound on 1 − NDCG@K, but on the part of it that the wrongly ordered
// pairs are to blame for: the cost of the pairs in the right order, min(G_i, G_j) times the
// weight, is taken for a constant, and is more than at the best ranking if many relevant
// documents are beyond rank K. Arguments and errors are those documented for [LambdaRank].
func NDCGLoss2K(b Batch) (*G.Node, error) { return named("ndcg-loss2k", b) }
func ndcgLoss2AtK(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{atCutoff: b.Discounts})
}

// NDCGLoss1 returns the loss Σ_i G_i θ_{r_i} Σ_{j≠i} log2(1 + e^−(m_i − m_j)), an upper bound on 1
// − NDCG@k (Wang et al., CIKM 2018).
//
// G is ρ / ideal DCG. Ranks beyond the last discount have the last one, or else nothing would raise
// the documents down there (with DCG's discounts it is a bound still). Arguments and errors are those
// documented for [LambdaRank].
func NDCGLoss1(b Batch) (*G.Node, error) { return named("ndcg-loss1", b) }
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
