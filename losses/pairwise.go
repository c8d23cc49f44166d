package losses

import (
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// RankNet is the pairwise logistic loss of Burges et al. (ICML 2005), the mean over
// queries of
//
//	the mean over pairs with ρ_i > ρ_j of log(1 + exp(−(m_i − m_j))).
//
// Of the gains, [rows], only the order counts. It costs O(D²), like all of the
// losses on pairs, but the memory of O(D) only: no pair is ever stored.
func RankNet(l ops.Lists, gains *G.Node) (*G.Node, error) { return mean(l)(rankNet(l, gains)) }

func rankNet(l ops.Lists, gains *G.Node) (perQuery *G.Node, err error) {
	defer caught(&err)
	sum := G.Must(lossops.LogisticPairs(l, gains, lossops.PairWeights{Each: 1}))
	return mul(sum, inverse(G.Must(lossops.CountPairs(l, gains)))), nil
}

// Hinge is the pairwise hinge loss (Herbrich, Graepel & Obermayer 2000; Ranking SVM,
// Joachims, KDD 2002), the mean over queries of
//
//	the mean over pairs with ρ_i > ρ_j of max(0, 1 − (m_i − m_j)).
//
// All else is as in [RankNet].
func Hinge(l ops.Lists, gains *G.Node) (*G.Node, error) { return mean(l)(hinge(l, gains)) }

func hinge(l ops.Lists, gains *G.Node) (perQuery *G.Node, err error) {
	defer caught(&err)
	sum := G.Must(lossops.HingePairs(l, gains, lossops.PairWeights{Each: 1}))
	return mul(sum, inverse(G.Must(lossops.CountPairs(l, gains)))), nil
}

// LambdaRank is the logistic loss with pairs weighted by what NDCG@k changes when
// they change places (Burges, Ragno & Le, NIPS 2006; as a loss Wang et al., CIKM 2018),
// the mean over queries of
//
//	Σ_{ρ_i > ρ_j} (G_i − G_j) |θ_{r_i} − θ_{r_j}| log2(1 + exp(−(m_i − m_j))),
//
// with G = ρ / ideal DCG@k the [NormalizedGains], r the ranks by the scores, and θ
// the discounts, 0 beyond the last of them. The weights are constants for
// differentiation.
func LambdaRank(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(lambdaRank(l, gains, discounts))
}

func lambdaRank(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return lambda(l, gains, discounts, lossops.PairWeights{Swap: discounts})
}

// NDCGLoss2 is the NDCG-Loss2 of LambdaLoss (Wang et al., CIKM 2018), [LambdaRank] with
// the weights
//
//	(G_i − G_j) (θ_δ − θ_{δ+1}),   δ = |r_i − r_j|, ranks from 1.
//
// It is a bound of the NDCG that is missing, closer than [NDCGLoss1], where the cutoff is
// not below the number of documents and the discounts are DCG's, or others that fall ever
// more slowly. With a lower cutoff it is none, and the weights rise at distance K:
// [NDCGLoss2AtK] has others. [LambdaLossDeterministic] is this without the ideal DCG.
func NDCGLoss2(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(ndcgLoss2(l, gains, discounts))
}

func ndcgLoss2(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return lambda(l, gains, discounts, lossops.PairWeights{Distance: drops(discounts, 1)})
}

// NDCGLoss2PP is the NDCG-Loss2++ of Wang et al. (CIKM 2018), which mixes the weights of
// [LambdaRank] and ten times those of [NDCGLoss2]:
//
//	(G_i − G_j) (|θ_{r_i} − θ_{r_j}| + 10 (θ_δ − θ_{δ+1})).
//
// It is a bound where NDCGLoss2 is.
func NDCGLoss2PP(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(ndcgLoss2PP(l, gains, discounts))
}

func ndcgLoss2PP(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return lambda(l, gains, discounts, lossops.PairWeights{Swap: discounts, Distance: drops(discounts, 10)})
}

// NDCGLoss2AtK is [NDCGLoss2] with weights for NDCG@K with a cutoff below the number of
// documents (LambdaLoss@K of Jagerman et al., SIGIR 2022),
//
//	(G_i − G_j) (θ_δ − θ_{δ+1}) μ,   μ = 1 where both ranks are up to K,
//	                                 μ = θ_1 / (θ_1 − θ_r) where r, the lower of them, is not,
//
// so that a document beyond rank K costs what it costs to be left out. θ goes on beyond
// the last discount in proportion to DCG's, θ_r = θ_K log2(K+1) / log2(r+1). With a cutoff
// that is not below the number of documents it is NDCGLoss2. With one that is, it is
// no bound of the NDCG@K that is missing, but of the part of it that the wrongly ordered
// pairs are to blame for: what the pairs in the right order cost, min(G_i, G_j) times the
// weight, is taken for a constant, and is more than at the best ranking if many relevant
// documents are beyond rank K.
func NDCGLoss2AtK(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(ndcgLoss2AtK(l, gains, discounts))
}

func ndcgLoss2AtK(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return lambda(l, gains, discounts, lossops.PairWeights{AtCutoff: discounts})
}

func lambda(l ops.Lists, gains *G.Node, discounts []float64, w lossops.PairWeights) (perQuery *G.Node, err error) {
	normalized, err := NormalizedGains(l, gains, discounts)
	if err != nil {
		return nil, err
	}
	defer caught(&err)
	return scaled(l, G.Must(lossops.LogisticPairs(l, normalized, w)), 1/math.Ln2), nil
}

// NDCGLoss1 is the NDCG-Loss1 of LambdaLoss (Wang et al., CIKM 2018), a bound of the
// NDCG@k that is missing, 1 − NDCG@k ≤ the mean over queries of
//
//	Σ_i G_i θ_{r_i} Σ_{j≠i} log2(1 + exp(−(m_i − m_j))),
//
// with G and r as in [LambdaRank]. Beyond the last discount that one stays, or else
// nothing would raise the documents down there (for those of DCG it is a bound still).
// The weights are constants for differentiation.
func NDCGLoss1(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(ndcgLoss1(l, gains, discounts))
}

func ndcgLoss1(l ops.Lists, gains *G.Node, discounts []float64) (perQuery *G.Node, err error) {
	normalized, err := NormalizedGains(l, gains, discounts)
	if err != nil {
		return nil, err
	}
	defer caught(&err)
	theta := G.Must(lossops.RankDiscounts(l, discounts, discounts[len(discounts)-1]))
	return total(l, mul(mul(normalized, theta), G.Must(lossops.RankBounds(l)))), nil
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

// NormalizedGains are gains divided by the best value that the metric can have in
// their query, Σ_k θ_k of the k-th largest gain: the gains of NDCG@k, for any of the
// losses. Queries without gains keep 0. A node [rows], not differentiable. Gains that are
// not finite, or negative, are an error of the run.
func NormalizedGains(l ops.Lists, gains *G.Node, discounts []float64) (normalized *G.Node, err error) {
	if err := checkRows(l, "gains", gains); err != nil {
		return nil, err
	}
	if len(discounts) == 0 {
		return nil, errNoDiscounts
	}
	defer caught(&err)
	gains = notNegative(l, "gain", gains)
	ideal := total(l, mul(gains, G.Must(lossops.TargetExposure(l, gains, discounts))))
	return mul(gains, spread(l, inverse(ideal))), nil
}
