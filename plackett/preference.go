package plackett

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Preference is one ranking of K answers to a prompt, such as people give to teach a language model.
type Preference struct {
	// LogProbs are log π of the answers under the model in training: sums over their tokens. For a
	// reward model they are the rewards themselves.
	LogProbs []float64

	// Reference are log π_ref of the answers, under the model that the training began with. Nil: all are 0.
	Reference []float64

	// Beta is the factor β of the rewards; the larger it is, the nearer the model stays to the reference.
	// Zero is 1, as for a reward model.
	Beta float64

	// Ranking has the numbers of the answers, from 0, best first. Answers that it leaves out come after
	// all others, in unknown order: one entry is the choice of the best.
	Ranking []int
}

// PreferenceLoss returns minus the log-probability of a ranking y of answers whose rewards are
// r_d = β (log π(d) − log π_ref(d)),
//
//	−Σ_k log(exp r_{y_k} / Σ_{d not in y_1..k−1} exp r_d),
//
// which is direct preference optimization (DPO) with the Plackett–Luce model (Rafailov et al., NeurIPS
// 2023, appendix A.3). Of two answers it is −log σ(r_{y_1} − r_{y_2}), as for the Bradley–Terry model. Without a
// reference and β it is the loss of a reward model (Zhu, Jordan and Jiao, ICML 2023, section 4).
//
// It writes the derivatives with respect to LogProbs to gradient, which has the same length or is nil. Their
// sum is 0. Entries below 1e-20·β·K are 0. PreferenceLoss returns an error for lengths that differ, a β that is
// negative or not finite, a reward that is not finite, and a ranking that is empty, repeats a number or has one
// out of range.
func (k *Kernel) PreferenceLoss(p Preference, gradient []float64) (float64, error) {
	rewards, beta, err := p.rewards()
	if err != nil {
		return 0, err
	}
	if gradient == nil {
		gradient = make([]float64, len(rewards))
	}
	ranking, logs := Rankings{Documents: p.Ranking, Cutoff: len(p.Ranking)}, make([]float64, len(p.Ranking))
	if err := k.LogProbs(rewards, ranking, logs); err != nil {
		return 0, err
	}
	loss, weights := 0.0, make([]float64, len(logs))
	for i, log := range logs {
		loss -= log
		weights[i] = -1
	}
	if err := k.LogProbsGradient(rewards, ranking, weights, gradient); err != nil {
		return 0, err
	}
	for d := range gradient {
		gradient[d] *= beta
	}
	return loss, nil
}

// rewards returns the rewards of the answers, and β.
func (p Preference) rewards() (rewards []float64, beta float64, err error) {
	if beta = cmp.Or(p.Beta, 1); !(beta > 0) || math.IsInf(beta, 0) {
		return nil, 0, fmt.Errorf("β is %v: it must be positive and finite", p.Beta)
	}
	if p.Reference != nil {
		if err := checkLength("log-probabilities of the reference", len(p.Reference), len(p.LogProbs)); err != nil {
			return nil, 0, err
		}
	}
	if len(p.Ranking) == 0 {
		return nil, 0, errors.New("the ranking is empty: it needs at least the best answer")
	}
	for _, d := range p.Ranking {
		if d < 0 || d >= len(p.LogProbs) {
			return nil, 0, fmt.Errorf("the ranking has answer %d: there are %d answers, from 0", d, len(p.LogProbs))
		}
	}
	rewards = make([]float64, len(p.LogProbs))
	for d, log := range p.LogProbs {
		if p.Reference != nil {
			log -= p.Reference[d]
		}
		rewards[d] = beta * log
		if r := rewards[d]; math.IsNaN(r) || math.IsInf(r, 0) {
			return nil, 0, fmt.Errorf("the reward of answer %d is %v: log-probabilities must be finite", d, r)
		}
	}
	return rewards, beta, nil
}
