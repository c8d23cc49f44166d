package lossops

import (
	"fmt"
	"slices"
	"sync/atomic"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// Rewards gives every rank the reward of its whole ranking, divided by the
// number of samples present: Σ_x θ_x ρ_{y_x} / N, the weight that REINFORCE (the
// policy gradient) gives to its log-probability. The node has the shape of the
// rankings, [queries, samples, cutoff], 0 where absent, the dtype of the
// scores, and is not differentiable. The other arguments and the errors are those
// of [ops.PLRank1].
func Rewards(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return rewards("losses: Rewards", false, l, gains, rankings, discounts)
}

// RewardsToGo is [Rewards] with only what the ranking earns from that rank on,
// Σ_{x≥k} θ_x ρ_{y_x} / N: the weights of the placement policy gradient
// (Oosterhuis, SIGIR 2021, §5.1).
func RewardsToGo(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return rewards("losses: RewardsToGo", true, l, gains, rankings, discounts)
}

func rewards(name string, toGo bool, l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	if err := op.CheckDiscounts(discounts); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	discounts = slices.Clone(discounts)
	f := op.ListFunc{
		Name: name, Settings: fmt.Sprintf("discounts: %v", discounts), Shape: op.Like(2),
		Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			gains, err := l.Gains(in[1])
			if err != nil {
				return err
			}
			r, err := l.FullRankings(in[2], discounts)
			if err != nil {
				return err
			}
			rewards := l.Floats(len(r.Documents))
			if err := plackett.RewardsToGo(gains, discounts, r, rewards); err != nil {
				return err
			}
			for i := 0; !toGo && i < len(rewards); i += r.Cutoff {
				for k := 1; k < min(r.Cutoff, len(discounts)); k++ {
					if r.Documents[i+k] >= 0 {
						rewards[i+k] = rewards[i]
					}
				}
			}
			result.Write(rewards, l.Query*len(rewards))
			return nil
		},
	}
	return f.Apply(l, op.Rows("gains", gains), op.Rankings(rankings))
}

var rewardFuncs atomic.Uint64

// Reward is [ops.RewardFunc] for a function of the gains of the ranked documents.
func Reward(l ops.Lists, gains, rankings *G.Node, reward func(gains []float64) float64) (*G.Node, error) {
	settings := fmt.Sprint("function ", rewardFuncs.Add(1)) // functions cannot be compared
	return op.Metric("losses: Reward", settings, l, func(l *op.List, in []op.Tensor, lambda []float64) (float64, error) {
		gains, err := l.Gains(in[1])
		if err != nil {
			return 0, err
		}
		ranked := make([]float64, 0, l.Len())
		return l.Reinforce(in[2], func(ranking []int) float64 {
			ranked = ranked[:0]
			for _, row := range ranking {
				ranked = append(ranked, gains[row-l.From])
			}
			return reward(ranked)
		}, lambda)
	}, op.Rows("gains", gains), op.Rankings(rankings))
}
