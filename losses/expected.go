package losses

import (
	"errors"
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// A Metric is what a ranking earns, for [Expected]: [DCG], [MRR], [MAP], [ERR], [Success], [BestSuccess], [PairAccuracy],
// [AlphaNDCG] and [ERRIA].
type Metric struct{ exact Objective }

// DCG is Σ_k θ_k ρ_{y_k}, with the Gains and Discounts of the batch, whatever these are: plrank-exact by name. Gains may be
// negative; a run with gains that are not finite returns an error.
var DCG = Metric{Objective{degree: 1, graph: expectedMetric, curvature: ofMetric}}

func expectedMetric(b *batch) *G.Node {
	return neg(G.Must(ops.ExpectedMetric(b.Lists, b.gains(), b.discounts())))
}

func ofMetric(q *query, out []float64) error {
	gains := make([]float64, len(q.gains)) // the bound holds for gains of any sign by their size
	for d, g := range q.gains {
		gains[d] = math.Abs(g)
	}
	_, err := q.expectation.Curvature(q.scores, gains, q.discounts, make([]float64, len(out)), out)
	return err
}

// An Estimator computes the gradient of an expected metric, for [Expected].
type Estimator struct{ graph builder } // nil: exactly

// Exact has no variance, and needs no rankings.
var Exact = Estimator{}

// Sampled estimates the gradient from rankings, by an estimator of package plackett: policy-gradient, plrank1, plrank2 and plrank-rb
// by name, and the steps between them, policy-gradient-loo, plrank1-loo, plrank2-loo and plrank2-expected.
//
// The value of the loss is minus the mean metric of the rankings. With expected rewards it is minus the metric of the gains that
// are expected at each rank, given the ranking before, and of policy-gradient it is
// −(1/N) Σ_i (Σ_k θ_k ρ_{y_k}) Σ_k log P(y_k | y_1..k−1) (REINFORCE, Williams 1992), whose gradient alone is of use. It reads
// Gains, Discounts, and Rankings or else Sampler. Gains may be negative; a run with gains that are not finite, or rankings shorter
// than both the query and the discounts, returns an error. With a leave-one-out baseline the rankings must be independent draws.
func Sampled(e plackett.Estimator) Estimator {
	if e == plackett.PolicyGradient {
		return Estimator{func(b *batch) *G.Node { return reinforce(b, false) }} // the same gradient, by Gorgonia's differentiation
	}
	return Estimator{func(b *batch) *G.Node {
		return neg(G.Must(ops.PLRankBy(e, b.Lists, b.gains(), b.rankings(), b.discounts())))
	}}
}

// PlacementPolicyGradient is −(1/N) Σ_i Σ_k (Σ_{x≥k} θ_x ρ_{y_x}) log P(y_k | y_1..k−1) (Oosterhuis, SIGIR 2021, §5.1).
//
// It is REINFORCE (Williams 1992) where every rank is rewarded by what the ranking earns from there on, which has less variance.
// Ranks k and x run up to the number of discounts. The gradient alone is of use; otherwise it is as [Sampled].
var PlacementPolicyGradient = Estimator{func(b *batch) *G.Node { return reinforce(b, true) }}

// Expected returns the loss minus the expected metric of the Plackett–Luce policy of the scores, −E[metric of y], with
// its gradient by an estimator.
//
// With [Exact], value and gradient are exact (docs/exact.md). Others are unbiased estimates for [DCG]; with another metric, building
// the loss returns an error: see [Reward].
func Expected(m Metric, by Estimator) Objective {
	o := m.exact
	if by.graph == nil {
		return o
	}
	o.exact, o.graph, o.Sampled = &m.exact, by.graph, true
	if o.labels {
		o.err = errors.New("the gradient of this metric is only known exactly: use losses.Exact, or losses.Reward")
	}
	return o
}

// Reward returns the loss −E[reward(gains of the ranked documents, best rank first)] under the
// Plackett–Luce policy of the scores.
//
// The expectation is estimated by [ops.RewardFunc] on Rankings, or on what Sampler draws. The
// function may change the slice, but not keep it, and several goroutines call it at once. A run with
// a reward that is not finite returns an error that names query and sample. The weights of documents
// multiply e^m in the policy, not the gains. For a reward that depends on more than the gains use
// [ops.RewardFunc] itself.
func Reward(reward func(gains []float64) float64) Objective {
	o := Objective{Sampled: true, graph: func(b *batch) *G.Node { return neg(expectedReward(b, reward)) }}
	if reward == nil {
		o.err = errors.New("no reward: the function is nil")
	}
	return o
}

// reinforce is the policy gradient, where every rank has the reward of its whole ranking, Σ_x θ_x ρ_{y_x}, or only what the
// ranking earns from that rank on, Σ_{x≥k} θ_x ρ_{y_x}, over the number of samples present.
func reinforce(b *batch, toGo bool) *G.Node {
	f := op.ListFunc{
		Name: "losses: Rewards", Settings: fmt.Sprint("to go: ", toGo), Layout: op.PerRanking,
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
	weights := G.Must(f.Apply(l, op.AnyRows("scores", l.Scores), op.Rows("gains", b.gains()), op.Rankings(b.rankings()),
		op.Discounts(b.discounts())))
	return neg(G.Must(G.Sum(mul(weights, G.Must(ops.LogProbs(l, b.rankings()))), 1, 2)))
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
