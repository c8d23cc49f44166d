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
	// PLRank1 (Oosterhuis, SIGIR 2021, §5.2) has f_k = g_k = W_k, c = 0. The
	// placement policy gradient is the same number, ranking by ranking.
	PLRank1
	// PLRank2 (Oosterhuis, SIGIR 2021, §5.3 and Algorithm 1) has f_k = W_{k+1}, g_k = W_k,
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

// Gradient writes the estimate of dR/dm_d to lambda, and returns that of R, as
// [Kernel.Metric] does. Its cost is O(D + N·K). Where rankings have more places
// than there are discounts, the first count. With no ranking present all is zero.
// Errors are [*ScoreError] and [*RankingError].
func (k *Kernel) Gradient(e Estimator, scores, gains, discounts []float64, r Rankings, lambda []float64) (float64, error) {
	if err := k.loadFor(e, scores, gains, discounts, r); err != nil {
		return 0, err
	}
	k.begin(lambda)
	if k.samples == 0 {
		return 0, nil
	}
	var kernelGains []float64 // nil: c = 0
	if e == PLRank2 || e == PLRankRB {
		kernelGains = gains
	}
	if e == PLRankRB {
		if err := k.setBaseline(gains, discounts); err != nil {
			return 0, err
		}
	}
	sum := 0.0
	for i := range k.samples {
		sum += k.weigh(e, i, gains, discounts)
		k.accumulate(i, kernelGains, discounts, lambda)
	}
	k.finish(float64(k.samples), kernelGains, lambda)
	return sum / float64(k.samples), nil
}

// Metric returns the estimate of R alone: the mean over the rankings of Σ_k θ_k ρ_{y_k},
// for PLRankRB of Σ_k θ_k ρ̄_k, which has the same expectation and less variance.
func (k *Kernel) Metric(e Estimator, scores, gains, discounts []float64, r Rankings) (float64, error) {
	if err := k.loadFor(e, scores, gains, discounts, r); err != nil {
		return 0, err
	}
	if k.samples == 0 {
		return 0, nil
	}
	sum := 0.0
	for i := range k.samples {
		sum += k.weigh(e, i, gains, discounts)
	}
	return sum / float64(k.samples), nil
}

// loadFor loads what estimator e needs.
func (k *Kernel) loadFor(e Estimator, scores, gains, discounts []float64, r Rankings) error {
	if e != PLRankRB {
		gains = nil // no use for mean gains
	}
	return k.load(scores, gains, r, min(len(discounts), r.Cutoff))
}

// setBaseline prepares PL-Rank-RB's a_k = scale·V_{k+1} − baseline. With S the sum of
// V_{k+1} over all N samples, the mean over the others is (S − V_{k+1})/(N−1), so
// a_k = N/(N−1)·V_{k+1} − S/(N−1).
func (k *Kernel) setBaseline(gains, discounts []float64) error {
	clear(k.baseline)
	k.scale = 1
	first, end, divisor := 0, k.samples, float64(k.samples-1)
	if k.samples == 1 { // V_{k+1} of the likeliest ranking
		if err := k.loadLikeliest(gains); err != nil {
			return err
		}
		first, end, divisor = 1, 2, 1
	} else {
		k.scale = float64(k.samples) / divisor
	}
	for i := first; i < end; i++ {
		at := i * k.cutoff
		for p, mean := range k.means[at : at+k.lengths[i]] {
			k.baseline[p] += mean
		}
	}
	future := 0.0
	for p := k.cutoff - 1; p >= 0; p-- {
		direct := discounts[p] * k.baseline[p] / divisor
		k.baseline[p] = future
		future += direct
	}
	return nil
}
