package plackett

import (
	"fmt"

	"github.com/plrank/plrank/internal/scratch"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

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
// Every one of them is unbiased. docs/pl-rank-rb.md derives and measures them.
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
	source   string
	expected bool // rewards, which need mean gains
	credit   credit
	baseline bool
}{
	PolicyGradient:    {"policy-gradient", "REINFORCE (Williams 1992)", false, whole, false},
	PolicyGradientLOO: {"policy-gradient-loo", "the same with a leave-one-out baseline (Kool, van Hoof & Welling 2019)", false, whole, true},
	PLRank1:           {"plrank1", "PL-Rank-1 (Oosterhuis, SIGIR 2021, §5.2)", false, onward, false},
	PLRank1LOO:        {"plrank1-loo", "the same with a leave-one-out baseline", false, onward, true},
	PLRank2:           {"plrank2", "PL-Rank-2 (Oosterhuis, SIGIR 2021, §5.3), or 3 (SIGIR 2022)", false, later, false},
	PLRank2LOO:        {"plrank2-loo", "the same with a leave-one-out baseline", false, later, true},
	PLRank2Expected:   {"plrank2-expected", "PL-Rank-2 with expected rewards", true, later, false},
	PLRankRB:          {"plrank-rb", "the same with a leave-one-out baseline: usually the least variance (docs/pl-rank-rb.md)", true, later, true},
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

// Source says in a line what it is, and where it is from.
func (e Estimator) Source() string {
	if e.check() != nil {
		return ""
	}
	return table[e].source
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
	if len(k.samples) == 0 {
		clear(lambda)
		return 0, nil
	}
	theta := k.reward(e, gains, discounts)
	credit, err := k.setBaseline(e, gains, discounts, theta)
	if err != nil {
		return 0, err
	}
	n := float64(len(k.samples))
	return k.sum(credit, theta, e.sharedGains(gains), lambda, n, scale) / n, nil
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
	theta := k.reward(e, gains, discounts)
	sum := 0.0
	for b := range k.blocks() {
		_, ranks := k.at(b)
		for lane := range k.block(b) {
			reward := 0.0
			for p := len(ranks) - 1; p >= 0; p-- {
				reward += theta[p] * ranks[p].Gain[lane]
			}
			sum += reward
		}
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
	if err := k.load(scores, e.sharedGains(gains), r, min(len(discounts), r.Cutoff)); err != nil {
		return 0, err
	}
	return scaleOf(gains, discounts[:k.cutoff])
}

// sharedGains returns the gains where c = 1, else nil.
func (e Estimator) sharedGains(gains []float64) []float64 {
	if table[e].credit == later {
		return gains
	}
	return nil
}

// reward sets what the ranks of all samples are rewarded for, and returns the discounts that
// belong to it.
func (k *Kernel) reward(e Estimator, gains, discounts []float64) []float64 {
	for b := range k.blocks() {
		k.rewardBlock(b, k.block(b), e, gains, discounts)
	}
	if table[e].credit == whole {
		return k.ones
	}
	return discounts[:k.cutoff]
}

// rewardBlock is reward for block b. That the whole ranking is credited is as if its last rank had
// all of the reward.
func (k *Kernel) rewardBlock(b int, samples []sample, e Estimator, gains, discounts []float64) {
	if table[e].expected {
		return // the mean gains are there
	}
	k.setGains(b, samples, func(_ sample, _, d int) float64 { return gains[d] })
	if table[e].credit != whole {
		return
	}
	_, ranks := k.at(b)
	for lane := range samples {
		total := 0.0
		for p := range ranks {
			total += discounts[p] * ranks[p].Gain[lane]
			ranks[p].Gain[lane] = 0
		}
		ranks[len(ranks)-1].Gain[lane] = total
	}
}

// setBaseline prepares f_k = scale·X_k − baseline. With S the sum of X_k over all N
// rankings, the mean over the others is (S − X_k)/(N−1), so f_k = N/(N−1)·X_k − S/(N−1).
func (k *Kernel) setBaseline(e Estimator, gains, discounts, theta []float64) (lanes.Credit, error) {
	credit := table[e].credit.weights(1)
	if !table[e].baseline {
		return credit, nil
	}
	from, to, divisor := 0, k.blocks(), 1.0
	if n := float64(len(k.samples)); n > 1 {
		divisor = n - 1
	} else {
		from, to = to, to+1
		if err := k.loadLikeliest(from, e, gains, discounts); err != nil {
			return credit, err
		}
	}
	later := 0.0
	for p := k.cutoff - 1; p >= 0; p-- {
		var sums lanes.Vec
		for b := from; b < to; b++ {
			for lane, gain := range k.ranks[b*k.cutoff+p].Gain {
				sums[lane] += gain
			}
		}
		sum := 0.0
		for _, s := range sums {
			sum += s
		}
		reward := theta[p] * sum / divisor
		k.baseline[p] = credit.Later*later + credit.Own*reward
		later += reward
	}
	if n := float64(len(k.samples)); n > 1 {
		credit = table[e].credit.weights(n / divisor)
	}
	return credit, nil
}

// weights are those of rewards in f_k and g_k.
func (c credit) weights(scale float64) lanes.Credit {
	if c == later {
		return lanes.Credit{Later: scale, Risk: 1}
	}
	return lanes.Credit{Later: scale, Own: scale}
}

// loadLikeliest reads the ranking of descending scores (ties by position) into block b.
func (k *Kernel) loadLikeliest(b int, e Estimator, gains, discounts []float64) error {
	length := min(k.cutoff, len(k.policy.scores))
	k.top.likeliest(k.policy.scores, length)
	k.likeliest = scratch.Sized(k.likeliest, k.cutoff)
	for p := range k.likeliest {
		k.likeliest[p] = -1
		if p < length {
			k.likeliest[p] = k.top.entries[p].document
		}
	}
	r := Rankings{Documents: k.likeliest, Cutoff: k.cutoff}
	if _, err := k.read(b, 0, r); err != nil {
		return err
	}
	n := len(k.samples) - 1
	one := []sample{k.samples[n]}
	k.samples = k.samples[:n]
	k.prepare(b, one, e.sharedGains(gains))
	k.rewardBlock(b, one, e, gains, discounts)
	return nil
}
