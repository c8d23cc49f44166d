package plackett

import "fmt"

// An Estimator is a way to estimate from sampled rankings the gradient of the expected
// metric R = E_y[Σ_k θ_k ρ_{y_k}] with respect to the scores. All of them give one
// ranking the
//
//	λ_d = Σ_k 1[y_k = d]·f_k + P_k(d)·(c·θ_k ρ_d − g_k),   f_k = X_k − b_k,   g_k = f_k + c·r_k
//
// of the [Kernel], and differ in three choices:
//
//   - The reward r_k of rank k is sampled, θ_k ρ_{y_k}, or expected given the ranking so
//     far (Rao–Blackwell), θ_k ρ̄_k with ρ̄_k = Σ_d P_k(d) ρ_d.
//   - The credit X_k of rank k is the reward of the whole ranking, Σ_x r_x; that from
//     rank k on, Σ_{x≥k} r_x; or that of later ranks alone, Σ_{x>k} r_x, with c = 1:
//     θ_k ρ_d, the reward of rank k if d is placed there, then enters for every document.
//     Otherwise c = 0.
//   - The baseline b_k is 0, or the mean of X_k over the other rankings (leave one
//     out), which must be independent draws. With a single ranking it is X_k of the
//     likeliest one.
//
// Every one of them is unbiased. docs/PL-RANK-RB.md derives and measures them.
type Estimator int

const (
	// PolicyGradient is REINFORCE (Williams 1992).
	PolicyGradient Estimator = iota
	// PolicyGradientLOO is REINFORCE with a leave-one-out baseline (Kool, van Hoof and
	// Welling 2019).
	PolicyGradientLOO
	// PLRank1 is that of Oosterhuis (SIGIR 2021, §5.2). The placement policy gradient is
	// the same number, ranking by ranking.
	PLRank1
	// PLRank1LOO is PLRank1 with a leave-one-out baseline.
	PLRank1LOO
	// PLRank2 is that of Oosterhuis (SIGIR 2021, §5.3 and Algorithm 1). PL-Rank-3
	// (Oosterhuis, SIGIR 2022) is the same number.
	PLRank2
	// PLRank2LOO is PLRank2 with a leave-one-out baseline.
	PLRank2LOO
	// PLRank2Expected is PLRank2 with expected rewards.
	PLRank2Expected
	// PLRankRB is PLRank2 with expected rewards and a leave-one-out baseline: of these,
	// usually the one of least variance.
	PLRankRB
)

// table has the choices of every estimator.
var table = [...]struct {
	name     string
	expected bool // rewards, which need mean gains
	credit   credit
	baseline bool
}{
	PolicyGradient:    {"policy-gradient", false, whole, false},
	PolicyGradientLOO: {"policy-gradient-loo", false, whole, true},
	PLRank1:           {"plrank1", false, onward, false},
	PLRank1LOO:        {"plrank1-loo", false, onward, true},
	PLRank2:           {"plrank2", false, later, false},
	PLRank2LOO:        {"plrank2-loo", false, later, true},
	PLRank2Expected:   {"plrank2-expected", true, later, false},
	PLRankRB:          {"plrank-rb", true, later, true},
}

// credit is which rewards a rank is credited with.
type credit int

const (
	whole  credit = iota // those of the whole ranking
	onward               // its own and those of later ranks
	later                // those of later ranks
)

// Estimators returns all estimators.
func Estimators() []Estimator {
	all := make([]Estimator, len(table))
	for i := range all {
		all[i] = Estimator(i)
	}
	return all
}

// String is the name, such as "plrank-rb", by which package losses has it.
func (e Estimator) String() string {
	if e.check() != nil {
		return fmt.Sprintf("Estimator(%d)", int(e))
	}
	return table[e].name
}

func (e Estimator) check() error {
	if e < 0 || int(e) >= len(table) {
		return fmt.Errorf("no estimator %d: want one of plackett.Estimators", int(e))
	}
	return nil
}

// Gradient writes the estimate of dR/dm_d to lambda, and returns that of R, as
// [Kernel.Metric] does. A λ below 1e-20·max|ρ|·Σ|θ| is 0. Its cost is O(D + N·K). Where rankings have more ranks than
// there are discounts, the first count. With no ranking present all is zero.
// Errors are [*NumberError], [*LengthError] and [*RankingError], and one for gains or
// discounts that are too large, as those of [Expectation].
func (k *Kernel) Gradient(e Estimator, scores, gains, discounts []float64, r Rankings, lambda []float64) (float64, error) {
	if err := checkLength("λ", len(lambda), len(scores)); err != nil {
		return 0, err
	}
	scale, err := k.loadFor(e, scores, gains, discounts, r)
	if err != nil {
		return 0, err
	}
	k.begin(lambda)
	if len(k.samples) == 0 {
		return 0, nil
	}
	if err := k.setBaseline(e, gains, discounts); err != nil {
		return 0, err
	}
	var kernelGains []float64 // nil: c = 0
	if table[e].credit == later {
		kernelGains = gains
	}
	sum := 0.0
	for i, s := range k.samples {
		sum += k.weigh(e, i, s.length, gains, discounts)
		k.accumulate(i, kernelGains, discounts, lambda)
	}
	k.finish(float64(len(k.samples)), kernelGains, lambda, scale)
	return sum / float64(len(k.samples)), nil
}

// Metric returns the estimate of R alone: the mean over the rankings of Σ_k r_k, which has
// the same expectation for all estimators, and usually less variance for those with expected
// rewards. Errors are those of [Kernel.Gradient].
func (k *Kernel) Metric(e Estimator, scores, gains, discounts []float64, r Rankings) (float64, error) {
	if _, err := k.loadFor(e, scores, gains, discounts, r); err != nil {
		return 0, err
	}
	if len(k.samples) == 0 {
		return 0, nil
	}
	k.clearBaseline()
	sum := 0.0
	for i, s := range k.samples {
		sum += k.weigh(e, i, s.length, gains, discounts)
	}
	return sum / float64(len(k.samples)), nil
}

// loadFor checks the numbers, loads what estimator e needs, and returns the scale of λ.
func (k *Kernel) loadFor(e Estimator, scores, gains, discounts []float64, r Rankings) (scale float64, err error) {
	if err := e.check(); err != nil {
		return 0, err
	}
	if err := checkGains(gains, scores); err != nil {
		return 0, err
	}
	if err := checkDiscounts(discounts); err != nil {
		return 0, err
	}
	if err := k.load(scores, e.meansOf(gains), r, min(len(discounts), r.Cutoff)); err != nil {
		return 0, err
	}
	return scaleOf(gains, discounts[:k.cutoff])
}

// meansOf returns the gains of which the means are needed.
func (e Estimator) meansOf(gains []float64) []float64 {
	if table[e].expected {
		return gains
	}
	return nil
}

// weigh sets the weights f_k and g_k of ranking i, and returns its Σ r_k.
func (k *Kernel) weigh(e Estimator, i, length int, gains, discounts []float64) float64 {
	future, risk, baseline := k.future[:length], k.risk[:length], k.baseline[:length]
	rewards := k.direct[:length]
	for p, gain := range k.rewarded(e, i, length, gains) {
		rewards[p] = discounts[p] * gain
	}
	total := table[e].credit.assign(rewards, future)
	for p := range future {
		future[p] = k.scale*future[p] - baseline[p]
		risk[p] = future[p]
	}
	if table[e].credit == later {
		for p, r := range rewards {
			risk[p] += r
		}
	}
	return total
}

// rewarded returns the gains that the ranks of ranking i are rewarded for: the mean gains,
// or those of its documents.
func (k *Kernel) rewarded(e Estimator, i, length int, gains []float64) []float64 {
	at := i * k.cutoff
	if table[e].expected {
		return k.means[at : at+length]
	}
	sampled := k.direct[:length]
	for p, d := range k.entries[at : at+length] {
		sampled[p] = gains[d]
	}
	return sampled
}

// assign writes the credits X_k, given the rewards r_k, and returns Σ r_k.
func (c credit) assign(rewards, credits []float64) (total float64) {
	for p := len(rewards) - 1; p >= 0; p-- {
		if c == later {
			credits[p] = total
		}
		total += rewards[p]
		if c == onward {
			credits[p] = total
		}
	}
	if c == whole {
		for p := range credits {
			credits[p] = total
		}
	}
	return total
}

// clearBaseline sets f_k = X_k.
func (k *Kernel) clearBaseline() {
	clear(k.baseline)
	k.scale = 1
}

// setBaseline prepares f_k = scale·X_k − baseline. With S the sum of X_k over all N
// rankings, the mean over the others is (S − X_k)/(N−1), so f_k = N/(N−1)·X_k − S/(N−1).
func (k *Kernel) setBaseline(e Estimator, gains, discounts []float64) error {
	k.clearBaseline()
	if !table[e].baseline {
		return nil
	}
	sums := k.risk // of the rewarded gains, of which X_k is a linear function
	clear(sums)
	add := func(i, length int) {
		for p, gain := range k.rewarded(e, i, length, gains) {
			sums[p] += gain
		}
	}
	divisor := 1.0
	if n := float64(len(k.samples)); n > 1 {
		divisor = n - 1
		k.scale = n / divisor
		for i, s := range k.samples {
			add(i, s.length)
		}
	} else {
		likeliest, err := k.loadLikeliest(e.meansOf(gains))
		if err != nil {
			return err
		}
		add(1, likeliest.length)
	}
	for p := range sums {
		sums[p] = discounts[p] * sums[p] / divisor
	}
	table[e].credit.assign(sums, k.baseline)
	return nil
}
