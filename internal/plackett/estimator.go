package plackett

import "fmt"

// Estimator is a way to estimate the gradient of the expected metric
// R = E_y[Σ_k θ_k ρ_{y_k}] with respect to the scores from sampled rankings. With
// W_k = Σ_{x≥k} θ_x ρ_{y_x} and ρ̄_k = Σ_d P_k(d) ρ_d, they are the settings of the
// [Kernel] in the table.
type Estimator int

const (
	// PolicyGradient is REINFORCE (Williams 1992): f_k = g_k = W_1, c = 0.
	PolicyGradient Estimator = iota
	// PLRank1 (Oosterhuis, SIGIR 2021, Eq. 24) has f_k = g_k = W_k, c = 0. The
	// placement policy gradient is the same number, ranking by ranking.
	PLRank1
	// PLRank2 (Oosterhuis, SIGIR 2021, Algorithm 1) has f_k = W_{k+1}, g_k = W_k,
	// c = 1. PL-Rank-3 (Oosterhuis, SIGIR 2022) is the same number.
	PLRank2
	// PLRankRB replaces sampled rewards by their expectation given the ranking so
	// far (Rao–Blackwell) and subtracts a baseline: f_k = a_k, g_k = a_k + θ_k ρ̄_k,
	// c = 1, with a_k = V_{k+1} − b_k, V_k = Σ_{x≥k} θ_x ρ̄_x, and b_k the mean of V_{k+1}
	// over the other samples (with one sample: of the likeliest ranking).
	PLRankRB
)

func (e Estimator) String() string {
	switch e {
	case PolicyGradient:
		return "policy-gradient"
	case PLRank1:
		return "plrank1"
	case PLRank2:
		return "plrank2"
	case PLRankRB:
		return "plrank-rb"
	}
	return fmt.Sprintf("Estimator(%d)", int(e))
}

// Gradient writes the estimate of dR/dm_d to lambda, and returns that of R, see
// [Kernel.Metric]. Its cost is O(D + N·K). Where rankings have more places
// than there are discounts, the first count. With no ranking present all is zero.
// Errors are [*ScoreError] and [*RankingError].
func (k *Kernel) Gradient(e Estimator, scores, gains, discounts []float64, r Rankings, lambda []float64) (float64, error) {
	metric, err := k.Metric(e, scores, gains, discounts, r)
	if err != nil {
		return 0, err
	}
	clear(lambda)
	if k.samples == 0 {
		return 0, nil
	}
	var kernelGains []float64 // nil: c = 0
	if e == PLRank2 || e == PLRankRB {
		kernelGains = gains
	}
	if e == PLRankRB {
		k.sumBaselines(gains, discounts)
	}
	sumA, sumB := 0.0, 0.0
	for i := range k.samples {
		k.weigh(e, i, gains, discounts)
		a, b := k.accumulate(i, kernelGains, discounts, lambda)
		sumA += a
		sumB += b
	}
	k.finish(sumA, sumB, kernelGains, lambda)
	return metric, nil
}

// Metric returns the estimate of R alone: the mean over the rankings of Σ_k θ_k ρ_{y_k},
// for PLRankRB of Σ_k θ_k ρ̄_k, which has the same expectation and less variance.
func (k *Kernel) Metric(e Estimator, scores, gains, discounts []float64, r Rankings) (float64, error) {
	var meansOf []float64
	if e == PLRankRB {
		meansOf = gains
	}
	if err := k.load(scores, meansOf, r, min(len(discounts), r.Cutoff)); err != nil {
		return 0, err
	}
	if k.samples == 0 {
		return 0, nil
	}
	sum := 0.0
	for i, length := range k.lengths {
		at := i * k.cutoff
		for p := range length {
			if e == PLRankRB {
				sum += discounts[p] * k.means[at+p]
			} else {
				sum += discounts[p] * gains[k.entries[at+p]]
			}
		}
	}
	return sum / float64(k.samples), nil
}

// weigh sets the future and risk weights of sample i.
func (k *Kernel) weigh(e Estimator, i int, gains, discounts []float64) {
	at, length := i*k.cutoff, k.lengths[i]
	entries, means := k.entries[at:at+length], k.means[at:at+length]
	future, risk := k.future[:length], k.risk[:length]
	reward := 0.0 // W_{p+1}, or V_{p+1} for PLRankRB, with p counted from 1
	switch e {
	case PLRankRB:
		n := float64(k.samples)
		for p := length - 1; p >= 0; p-- {
			direct := discounts[p] * means[p]
			advantage := reward - k.baseline[p]
			if n > 1 {
				// The mean over the other samples, from the sum over all.
				advantage = (n*reward - k.baseline[p]) / (n - 1)
			}
			future[p] = advantage
			risk[p] = advantage + direct
			reward += direct
		}
	case PLRank2:
		for p := length - 1; p >= 0; p-- {
			future[p] = reward
			reward += discounts[p] * gains[entries[p]]
			risk[p] = reward
		}
	default:
		for p := length - 1; p >= 0; p-- {
			reward += discounts[p] * gains[entries[p]]
			future[p], risk[p] = reward, reward
		}
		if e == PolicyGradient {
			for p := range future {
				future[p], risk[p] = reward, reward
			}
		}
	}
}

// sumBaselines sets baseline to the sum over the samples of V_{k+1}, with one sample to V_{k+1}
// of the likeliest ranking.
func (k *Kernel) sumBaselines(gains, discounts []float64) {
	k.baseline = grow(k.baseline, k.cutoff)
	clear(k.baseline)
	first, end := 0, k.samples
	if k.samples == 1 {
		k.loadLikeliest(gains)
		first, end = 1, 2
	}
	for i := first; i < end; i++ {
		at := i * k.cutoff
		reward := 0.0
		for p := k.lengths[i] - 1; p >= 0; p-- {
			k.baseline[p] += reward
			reward += discounts[p] * k.means[at+p]
		}
	}
}
