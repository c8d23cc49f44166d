package losses

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// expected builds PLRankExact.
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
	return G.Must(f.Apply(l, op.AnyRows("scores", l.Scores), op.Rows("gains", b.gains()), op.Rankings(b.rankings()),
		op.Discounts(b.discounts())))
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
