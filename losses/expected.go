package losses

import (
	"errors"
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// PLRankExact returns the loss −E[Σ_k θ_k ρ_{y_k}], y a ranking of the policy, exactly.
//
// It is minus the expected metric, with its exact value and gradient: no rankings, no variance (the
// recursion that [ops.ExpectedMetric] documents). It reads Gains and Discounts. Gains may be
// negative; a run with gains that are not finite returns an error.
func PLRankExact(b Batch) (*G.Node, error) { return named("plrank-exact", b) }

func expected(b *batch) *G.Node {
	return neg(G.Must(ops.ExpectedMetric(b.Lists, b.gains(), b.discounts())))
}

// estimated is minus the expected metric as an estimator has it, with its gradient.
func estimated(e plackett.Estimator) builder {
	if e == plackett.PolicyGradient {
		return policyGradient // the same gradient, by Gorgonia's differentiation
	}
	return func(b *batch) *G.Node {
		return neg(G.Must(ops.PLRankBy(e, b.Lists, b.gains(), b.rankings(), b.discounts())))
	}
}

// PLRank1 returns the loss −(1/N) Σ_i Σ_k θ_k ρ_{y_k}, with the gradient of PL-Rank-1 (Oosterhuis,
// SIGIR 2021, §5.2).
//
// The value is the mean metric of N sampled rankings y, and the gradient is an unbiased estimate for
// [PLRankExact], see [ops.PLRank1]. Like all losses by an estimator it reads Gains, Discounts, and
// Rankings or else Sampler. Gains may be negative; a run with gains that are not finite, or rankings
// shorter than both the query and the discounts, returns an error.
func PLRank1(b Batch) (*G.Node, error) { return named("plrank1", b) }

// PLRank1LOO returns the loss of PLRank1 with a leave-one-out baseline (Kool, van Hoof & Welling 2019).
//
// The mean reward of the other rankings of the query is subtracted from the reward of each: the
// same expectation, less variance. It needs two rankings of a query at least.
func PLRank1LOO(b Batch) (*G.Node, error) { return named("plrank1-loo", b) }

// PLRank2 returns the loss of PLRank1 with the gradient of PL-Rank-2 (Oosterhuis, SIGIR 2021,
// §5.3), computed as PL-Rank-3 (SIGIR 2022).
//
// See [ops.PLRank2]. Arguments and errors are those documented for [PLRank1].
func PLRank2(b Batch) (*G.Node, error) { return named("plrank2", b) }

// PLRank2LOO returns the loss of PLRank2 with a leave-one-out baseline, see [PLRank1LOO].
func PLRank2LOO(b Batch) (*G.Node, error) { return named("plrank2-loo", b) }

// PLRank2Expected returns the loss of PLRank2 with expected rewards, −(1/N) Σ_i Σ_k θ_k E[ρ_{y_k} | y_1..k−1].
//
// The gain at each rank is replaced by its expectation given the documents placed before it: the first
// of two steps from PL-Rank-2 to PL-Rank-RB (docs/pl-rank-rb.md).
func PLRank2Expected(b Batch) (*G.Node, error) { return named("plrank2-expected", b) }

// PLRankRB returns the loss of PLRank2Expected with a leave-one-out baseline: usually the least
// variance (docs/pl-rank-rb.md).
//
// See [ops.PLRankRB]. At cutoff 1 it has no variance at all.
func PLRankRB(b Batch) (*G.Node, error) { return named("plrank-rb", b) }

// PolicyGradient returns the loss −(1/N) Σ_i (Σ_k θ_k ρ_{y_k}) Σ_k log P(y_k | y_1..k−1), REINFORCE
// (Williams 1992).
//
// Ranks k run up to the number of discounts, also of longer rankings: documents after them
// have no part in the reward. Gorgonia differentiates it through [ops.LogProbs]. Its gradient is an
// unbiased estimate for [PLRankExact]; its value is not. Arguments and errors are those documented
// for [PLRank1].
func PolicyGradient(b Batch) (*G.Node, error) { return named("policy-gradient", b) }

// PolicyGradientLOO returns the loss of PLRank1 with the gradient of PolicyGradient and a
// leave-one-out baseline (Kool, van Hoof & Welling 2019).
func PolicyGradientLOO(b Batch) (*G.Node, error) { return named("policy-gradient-loo", b) }

// PlacementPolicyGradient returns the loss −(1/N) Σ_i Σ_k (Σ_{x≥k} θ_x ρ_{y_x}) log P(y_k |
// y_1..k−1) (Oosterhuis, SIGIR 2021, §5.1).
//
// It is [PolicyGradient] where every rank is rewarded by what the ranking earns from there on, which
// has less variance. Ranks k and x run up to the number of discounts.
func PlacementPolicyGradient(b Batch) (*G.Node, error) {
	return named("placement-policy-gradient", b)
}

func policyGradient(b *batch) *G.Node          { return reinforce(b, rewards(b, false)) }
func placementPolicyGradient(b *batch) *G.Node { return reinforce(b, rewards(b, true)) }

func reinforce(b *batch, weights *G.Node) *G.Node {
	return neg(G.Must(G.Sum(mul(weights, G.Must(ops.LogProbs(b.Lists, b.rankings()))), 1, 2)))
}

// rewards gives every rank the reward of its whole ranking, Σ_x θ_x ρ_{y_x}, or only what the
// ranking earns from that rank on, Σ_{x≥k} θ_x ρ_{y_x}, over the number of samples present: a
// node of the shape of the rankings, 0 where absent, not differentiable.
func rewards(b *batch, toGo bool) *G.Node {
	f := op.ListFunc{
		Name: "losses: Rewards", Settings: fmt.Sprint("to go: ", toGo), Layout: op.PerRanking, Shape: op.Like(2),
		Do: func(l *op.List) error {
			r, err := l.FullRankings(2)
			if err != nil {
				return err
			}
			out := l.Out()
			if err := plackett.RewardsToGo(l.X[1], l.Discounts, plackett.Rankings(r), out); err != nil {
				return err
			}
			for i := 0; !toGo && i < len(out); i += r.Cutoff {
				for k := 1; k < min(r.Cutoff, len(l.Discounts)); k++ {
					if r.Documents[i+k] >= 0 {
						out[i+k] = out[i]
					}
				}
			}
			return nil
		},
	}
	l := b.Lists
	return G.Must(f.Apply(l, op.AnyRows("scores", l.Scores), op.Rows("gains", b.gains()), op.Rankings(b.rankings()),
		op.Discounts(b.discounts())))
}

// Reward returns the loss −E[reward(gains of the ranked documents, best rank first)] under the
// Plackett–Luce policy of the scores.
//
// The expectation is estimated by [ops.RewardFunc] on Rankings, or on what Sampler draws. The
// function may change the slice, but not keep it, and several goroutines call it at once. A run with
// a reward that is not finite returns an error that names query and sample. The weights of documents
// multiply e^m in the policy, not the gains. For a reward that depends on more than the gains use
// [ops.RewardFunc] itself.
func Reward(reward func(gains []float64) float64) Func {
	return sum([]Term{term(entry{name: "reward", sampled: true, build: func(b *batch) *G.Node {
		if reward == nil {
			panic(errors.New("no reward: the function is nil"))
		}
		return neg(expectedReward(b, reward))
	}})})
}

// expectedReward is [ops.RewardFunc] for a function of the gains of the ranked documents.
func expectedReward(b *batch, reward func(gains []float64) float64) *G.Node {
	settings := fmt.Sprint("function ", op.NewID())
	metric := func(l *op.List, lambda []float64) (float64, error) {
		ranked := make([]float64, 0, l.Len())
		r := l.Rankings(2)
		return op.Reinforce(l, op.Own[plackett.Kernel](l), r, plackett.Rankings(r), func(ranking []int) float64 {
			ranked = ranked[:0]
			for _, row := range ranking {
				ranked = append(ranked, l.X[1][row-l.From])
			}
			return reward(ranked)
		}, lambda)
	}
	return G.Must(op.Metric("losses: Reward", settings, b.Lists, metric, op.Rows("gains", b.gains()), op.Rankings(b.rankings())))
}
