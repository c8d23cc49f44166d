package losses

import (
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// LambdaLoss is the stochastic LambdaLoss that Oosterhuis (SIGIR 2021, §7) compares
// with: the LambdaLoss of Wang et al. (CIKM 2018) on scores perturbed by Gumbel
// noise, ŝ = m + noise. Over the pairs with ρ_i > ρ_j, with δ the distance of their
// ranks by ŝ,
//
//	mean_q (1/N) Σ_n Σ_{ij} (θ_δ − θ_{δ+1}) (ρ_i − ρ_j) log2(1 + exp(−(ŝ_i − ŝ_j))),
//
// θ being 0 beyond the last discount: pairs that stand further apart do not count,
// so the loss costs O(N·D·K) for a query, and is no bound of the metric that is missing
// where documents are more than the cutoff. The weights are constants for
// differentiation.
//
// noise is [samples × rows], of the dtype of the scores, from [ops.Gumbel] or
// elsewhere, see there for absent samples. The losses of pairs that are gathered by rank are
// built of standard Gorgonia ops.
func LambdaLoss(l ops.Lists, gains, noise *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(lambdaLoss(l, gains, noise, discounts))
}

func lambdaLoss(l ops.Lists, gains, noise *G.Node, discounts []float64) (perQuery *G.Node, err error) {
	if err := checkRows(l, "gains", gains); err != nil {
		return nil, err
	}
	defer caught(&err)
	order, err := lossops.Order(l, noise)
	if err != nil {
		return nil, err
	}
	pairs, err := lossops.RankPairs(l, gains, order, discounts)
	if err != nil {
		return nil, err
	}
	misorder := softplus(l, G.Must(pairs.Misorder(l, noise)))
	sum := G.Must(lossops.SumOverPairs(l, mul(pairs.Weights, misorder), len(discounts)))
	return scaled(l, sum, 1/math.Ln2), nil
}

// LambdaLossDeterministic is the LambdaLoss of Wang et al. (CIKM 2018) on the order of
// the scores, which is [LambdaLoss] without noise: with δ the distance of the ranks by
// score,
//
//	mean_q Σ_{ρ_i > ρ_j} (θ_δ − θ_{δ+1}) (ρ_i − ρ_j) log2(1 + exp(−(m_i − m_j))).
//
// With [NormalizedGains] it is [NDCGLoss2]. It costs O(D²), and the memory of O(D).
func LambdaLossDeterministic(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(lambdaLossDeterministic(l, gains, discounts))
}

func lambdaLossDeterministic(l ops.Lists, gains *G.Node, discounts []float64) (perQuery *G.Node, err error) {
	if len(discounts) == 0 {
		return nil, errNoDiscounts
	}
	defer caught(&err)
	sum := G.Must(lossops.LogisticPairs(l, gains, lossops.PairWeights{Distance: drops(discounts, 1)}))
	return scaled(l, sum, 1/math.Ln2), nil
}
