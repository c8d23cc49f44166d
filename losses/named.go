package losses

import (
	"errors"

	G "gorgonia.org/gorgonia"
)

// named builds a loss of the table. The exported losses are those that are of use from Go
// without their names, on rankings or noise that are given.
func named(name string, b Batch) (*G.Node, error) {
	f, err := ByName(name)
	if err != nil {
		return nil, err
	}
	return f(b)
}

// PLRankExact is minus the expected metric, −E_y[Σ_k θ_k ρ_{y_k}], with its exact value and
// gradient: no rankings, no variance. See [ops.ExpectedMetric].
func PLRankExact(b Batch) (*G.Node, error) { return named("plrank-exact", b) }

// PLRank1 is minus the expected metric, estimated from rankings, with the gradient
// of PL-Rank-1 (Oosterhuis, SIGIR 2021). Shapes and errors are those of [ops.PLRank1].
func PLRank1(b Batch) (*G.Node, error) { return named("plrank1", b) }

// PLRank2 is [PLRank1] with the gradient of PL-Rank-2, see [ops.PLRank2].
func PLRank2(b Batch) (*G.Node, error) { return named("plrank2", b) }

// PLRankRB is [PLRank1] with the gradient of PL-Rank-RB, usually the one of least variance,
// see [ops.PLRankRB].
func PLRankRB(b Batch) (*G.Node, error) { return named("plrank-rb", b) }

// PolicyGradient is the REINFORCE loss (Williams 1992) of whole rankings,
//
//	−(1/N) Σ_i (Σ_k θ_k ρ_{y_k}) Σ_k log P(y_k | y_1..k−1),
//
// ranks k up to as many as there are discounts, also of longer rankings: documents after them
// have no part in the reward. It is differentiated by Gorgonia through [ops.LogProbs]: its
// gradient, not its value, is an estimate for the expected metric.
func PolicyGradient(b Batch) (*G.Node, error) { return named("policy-gradient", b) }

// PlacementPolicyGradient is [PolicyGradient] with every rank rewarded by what
// the ranking earns from there on (Oosterhuis, SIGIR 2021, §5.1),
//
//	−(1/N) Σ_i Σ_k (Σ_{x≥k} θ_x ρ_{y_x}) log P(y_k | y_1..k−1),
//
// ranks k and x up to as many as there are discounts.
func PlacementPolicyGradient(b Batch) (*G.Node, error) { return named("placement-policy-gradient", b) }

// LambdaLoss is the stochastic LambdaLoss that Oosterhuis (SIGIR 2021, §7) compares
// with: the LambdaLoss of Wang et al. (CIKM 2018) on scores perturbed by Gumbel
// noise, ŝ = m + noise. Over the pairs with ρ_i > ρ_j, with δ the distance of their
// ranks by ŝ,
//
//	(1/N) Σ_n Σ_{ij} (θ_δ − θ_{δ+1}) (ρ_i − ρ_j) log2(1 + exp(−(ŝ_i − ŝ_j))),
//
// θ being 0 beyond the last discount: pairs that are further apart do not count,
// so the loss costs O(N·D·K) for a query, and is not an upper bound on the shortfall from
// the ideal metric where documents are more than the cutoff. The weights are constants for
// differentiation.
func LambdaLoss(b Batch) (*G.Node, error) { return named("lambdaloss", b) }

// ListMLE is the negative log-likelihood of rankings under the Plackett–Luce policy of
// the scores (Xia et al., ICML 2008),
//
//	−Σ_y log π(y) = −Σ_y Σ_k log P(y_k | y_1..k−1).
//
// The rankings are those of the batch, which may have been observed, or else the ideal one
// by gain (see [ops.IdealRankings]), and the loss 0 for queries without gains. Shorter ones
// than the list give the top-k ListMLE (Xia et al., NIPS 2009).
func ListMLE(b Batch) (*G.Node, error) { return named("listmle", b) }

// Reward makes a loss of any reward of rankings that is a function of the gains of their
// documents, from the first rank on: minus its expectation under the Plackett–Luce policy,
// by [ops.RewardFunc], on the rankings of the batch. The function may change the
// slice, but not keep it, and is called by several goroutines at once. A reward that is
// not finite is an error of the run that names query and sample. The weights of documents
// multiply e^m in the policy, not the gains.
//
// A reward that depends on more than the gains is for [ops.RewardFunc] itself.
func Reward(reward func(gains []float64) float64) Func {
	return sum([]Term{term(entry{name: "reward", sampled: true, build: func(b *batch) *G.Node {
		if reward == nil {
			panic(errors.New("no reward: the function is nil"))
		}
		return neg(expectedReward(b, reward))
	}})})
}
