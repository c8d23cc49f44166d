package op

import "fmt"

// A Policy has log-probabilities of rankings R, as plackett.Kernel.
type Policy[R any] interface {
	LogProbs(scores []float64, r R, logProbs []float64) error
	LogProbsGradient(scores []float64, r R, weights, lambda []float64) error
}

// Reinforce gives the mean reward of the rankings of a query, which R stands for, by the scores of the first input,
// and adds the gradient of the policy with a leave-one-out baseline to lambda, if it is not nil. The reward is of a
// ranking without what is absent, good for one call.
func Reinforce[R any](l *List, p Policy[R], r Drawn, rankings R, reward func(ranking []int) float64,
	lambda []float64) (mean float64, err error) {
	scores := l.X[0]
	weights := l.Scratch(len(r.Documents))
	// Before anything else: it looks that these are rankings.
	if err := p.LogProbs(scores, rankings, weights); err != nil {
		return 0, err
	}
	ranking := make([]int, 0, r.Cutoff)
	rewards := make([]float64, 0, len(r.Documents)/r.Cutoff)
	for i := 0; i < len(r.Documents); i += r.Cutoff {
		ranking = ranking[:0]
		for _, row := range r.Documents[i : i+r.Cutoff] {
			if row >= 0 {
				ranking = append(ranking, row)
			}
		}
		if len(ranking) == 0 {
			continue
		}
		v := reward(ranking)
		if v-v != 0 {
			return 0, fmt.Errorf("sample %d: the reward is %v: rewards must be finite", i/r.Cutoff, v)
		}
		rewards = append(rewards, v)
		mean += v
	}
	n := float64(len(rewards))
	if n == 0 {
		return 0, nil
	}
	mean /= n
	if lambda == nil {
		return mean, nil
	}
	clear(weights)
	for i := 0; i < len(r.Documents); i += r.Cutoff {
		if r.Documents[i] < 0 {
			continue
		}
		// Less the mean of the others, over n: (v − (n·mean − v)/(n−1)) / n.
		weight := rewards[0]
		if n > 1 {
			weight = (rewards[0] - mean) / (n - 1)
		}
		rewards = rewards[1:]
		for k := range r.Cutoff {
			weights[i+k] = weight
		}
	}
	return mean, p.LogProbsGradient(scores, rankings, weights, lambda)
}
