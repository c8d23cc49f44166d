package losses

import (
	"errors"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
)

// Reward makes a loss of any reward of rankings that is a function of the gains of their
// documents, from the first rank on: minus its expectation under the Plackett–Luce policy,
// by [ops.RewardFunc], on rankings of the batch's sampler. The function may change the
// slice, but not keep it, and is called by several goroutines at once. A reward that is
// not finite is an error of the run that names query and sample. Gains are multiplied by
// the weights of the documents, where there are any.
//
// A reward that needs to know more than the gains is for [ops.RewardFunc] itself.
func Reward(reward func(gains []float64) float64) Func {
	return sum([]Term{{Loss: "reward", Weight: 1, Sampled: true, build: func(b *batch) (perQuery *G.Node, err error) {
		if reward == nil {
			return nil, errors.New("no reward: the function is nil")
		}
		rankings, err := b.rankings()
		if err != nil {
			return nil, err
		}
		return minus(lossops.Reward(b.Lists, b.Gains, rankings, reward))
	}}})
}
