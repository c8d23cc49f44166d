package plackett

import (
	"cmp"
	"fmt"

	"github.com/plrank/plrank/plackett/internal/lanes"
)

// Estimator selects how the gradient of the expected metric R = E_y[Σ_k θ_k ρ_{y_k}] with
// respect to the scores is estimated from sampled rankings. Under each of them one ranking
// contributes the
//
//	λ_d = Σ_k 1[y_k = d]·f_k + P_k(d)·(c·θ_k ρ_d − g_k),   f_k = X_k − b_k,   g_k = f_k + c·r_k
//
// of the [Kernel], and differ in three choices:
//
//   - The reward r_k of rank k is sampled, θ_k ρ_{y_k}, or expected given the ranking so
//     far (Rao–Blackwell), θ_k ρ̄_k with ρ̄_k = Σ_d P_k(d) ρ_d.
//   - The credit X_k of rank k is the reward of the whole ranking, Σ_x r_x; the reward from
//     rank k on, Σ_{x≥k} r_x; or the reward of later ranks alone, Σ_{x>k} r_x. With the last,
//     c = 1: θ_k ρ_d, the reward of rank k if d is placed there, enters for every document.
//     Otherwise c = 0.
//   - The baseline b_k is 0, or the mean of X_k over the other rankings (leave one
//     out), which must be independent draws. With a single ranking it is X_k of the
//     likeliest one.
//
// All of them are unbiased. docs/pl-rank-rb.md derives and measures them.
type Estimator int

const (
	PolicyGradient    Estimator = iota // REINFORCE (Williams 1992)
	PolicyGradientLOO                  // the same with a baseline (Kool, van Hoof and Welling 2019)
	PLRank1                            // Oosterhuis (SIGIR 2021, §5.2); the placement policy gradient is the same number
	PLRank1LOO                         // the same with a baseline
	PLRank2                            // Oosterhuis (SIGIR 2021, §5.3, Algorithm 1); PL-Rank-3 (SIGIR 2022) is the same number
	PLRank2LOO                         // the same with a baseline
	PLRank2Expected                    // PLRank2 with expected rewards
	PLRankRB                           // the same with a baseline: usually the least variance of these
)

// A way holds the choices of an estimator, with its name and source.
type way struct {
	name, source string
	expected     bool // rewards, which need mean gains
	credit       credit
	baseline     bool
}

var table = [...]way{
	PolicyGradient:    {"policy-gradient", "REINFORCE (Williams 1992)", false, whole, false},
	PolicyGradientLOO: {"policy-gradient-loo", "the same with a leave-one-out baseline (Kool, van Hoof & Welling 2019)", false, whole, true},
	PLRank1:           {"plrank1", "PL-Rank-1 (Oosterhuis, SIGIR 2021, §5.2)", false, onward, false},
	PLRank1LOO:        {"plrank1-loo", "the same with a leave-one-out baseline", false, onward, true},
	PLRank2:           {"plrank2", "PL-Rank-2 (Oosterhuis, SIGIR 2021, §5.3), or 3 (SIGIR 2022)", false, later, false},
	PLRank2LOO:        {"plrank2-loo", "the same with a leave-one-out baseline", false, later, true},
	PLRank2Expected:   {"plrank2-expected", "PL-Rank-2 with expected rewards", true, later, false},
	PLRankRB: {"plrank-rb", "the same with a leave-one-out baseline: usually the least variance (docs/pl-rank-rb.md)",
		true, later, true},
}

// credit selects the rewards that a rank is credited with.
type credit int

const (
	whole  credit = iota // of the whole ranking
	onward               // of the rank and later ones
	later                // of later ranks
)

// Estimators returns all estimators.
func Estimators() []Estimator {
	all := make([]Estimator, len(table))
	for i := range all {
		all[i] = Estimator(i)
	}
	return all
}

// String returns the name in package losses, such as "plrank-rb".
func (e Estimator) String() string {
	if e.check() != nil {
		return fmt.Sprintf("Estimator(%d)", int(e))
	}
	return table[e].name
}

// Source describes the estimator in a line, with its source.
func (e Estimator) Source() string {
	if e.check() != nil {
		return ""
	}
	return table[e].source
}

func (e Estimator) check() error {
	if e < 0 || int(e) >= len(table) {
		return fmt.Errorf("invalid estimator %d: want one of plackett.Estimators", int(e))
	}
	return nil
}

// Gradient writes the estimate of dR/dm_d to lambda, if it is not nil, and returns the estimate of R: the mean over the
// rankings of Σ_k r_k, which has the same expectation for all estimators, and usually less
// variance for those with expected rewards. A λ below 1e-20·max|ρ|·Σ|θ| is 0. The cost is
// O(D + N·K). If rankings have more ranks than there are discounts, only the first ranks count.
// With no ranking present, all results are zero. Gradient returns a [*NumberError], a
// [*LengthError] or a [*RankingError], or an error for gains or discounts beyond the limits of
// [Expectation].
func (k *Kernel) Gradient(e Estimator, scores, gains, discounts []float64, r Rankings, lambda []float64) (float64, error) {
	err := cmp.Or(checkLambda(lambda, scores), e.check(), checkGains(gains, scores), checkDiscounts(discounts))
	if err != nil {
		return 0, err
	}
	w := table[e]
	if err := k.load(scores, w.sharedGains(gains), r, min(len(discounts), r.Cutoff)); err != nil {
		return 0, err
	}
	scale, err := scaleOf(gains, discounts[:k.cutoff])
	if err != nil {
		return 0, err
	}
	if len(k.samples) == 0 {
		clear(lambda)
		return 0, nil
	}
	for b := range k.blocks() {
		k.reward(b, k.block(b), w, gains, discounts)
	}
	theta := discounts[:k.cutoff]
	if w.credit == whole {
		theta = k.ones // the reward at the last rank includes the discounts
	}
	credit := k.setBaseline(w, gains, discounts, theta)
	n := float64(len(k.samples))
	return k.sum(credit, theta, w.sharedGains(gains), lambda, n, scale) / n, nil
}

// sharedGains returns the gains where c = 1, else nil.
func (w way) sharedGains(gains []float64) []float64 {
	if w.credit == later {
		return gains
	}
	return nil
}

// reward sets the rewards of the ranks of block b, before discounts. If the whole ranking is
// credited, its last rank has all of the reward.
func (k *Kernel) reward(b int, samples []sample, w way, gains, discounts []float64) {
	if w.expected {
		return // load has set the mean gains
	}
	k.setGains(b, samples, func(_ sample, _, d int) float64 { return gains[d] })
	if w.credit != whole {
		return
	}
	_, ranks := k.blockRanks(b)
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
func (k *Kernel) setBaseline(w way, gains, discounts, theta []float64) lanes.Credit {
	credit := w.credit.weights(1)
	if !w.baseline {
		return credit
	}
	from, to, scale, divisor := 0, k.blocks(), 1.0, 1.0
	if n := float64(len(k.samples)); n > 1 {
		scale, divisor = n/(n-1), n-1
	} else {
		from, to = to, to+1
		k.loadLikeliest(from, w, gains, discounts)
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
	return w.credit.weights(scale)
}

// weights returns the weights of rewards in f_k and g_k.
func (c credit) weights(scale float64) lanes.Credit {
	if c == later {
		return lanes.Credit{Later: scale, Risk: 1}
	}
	return lanes.Credit{Later: scale, Own: scale}
}

// loadLikeliest reads the ranking of descending scores (ties by position) into block b.
func (k *Kernel) loadLikeliest(b int, w way, gains, discounts []float64) {
	k.top.likeliest(k.policy.scores, min(k.cutoff, len(k.policy.scores)))
	for p := range k.row {
		k.row[p] = -1
	}
	k.top.copyTo(k.row)
	n := len(k.samples)
	if _, err := k.read(b, 0, Rankings{Documents: k.row, Cutoff: k.cutoff}); err != nil {
		panic(err) // it is a ranking
	}
	one := k.samples[n:]
	k.samples = k.samples[:n]
	k.prepare(b, one, w.sharedGains(gains))
	k.reward(b, one, w, gains, discounts)
}
