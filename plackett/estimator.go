package plackett

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/plrank/plrank/plackett/internal/lanes"
)

// Estimator selects how the gradient of the expected metric R = E_y[Σ_k θ_k ρ_{y_k}] with
// respect to the scores is estimated from sampled rankings. Under each of them one ranking
// contributes the
//
//	λ_d = Σ_k 1[y_k = d]·f_k + P_k(d)·(c·θ_k ρ_d − g_k),   f_k = X_k − b_k,   g_k = f_k + c·r_k
//
// of the [Kernel], and differ in three choices. All of them are unbiased. docs/pl-rank-rb.md derives and measures them.
type Estimator struct {
	// Credit selects the rewards X_k that rank k is credited with.
	Credit Credit

	// Expected makes the reward r_k of rank k, θ_k ρ_{y_k}, the one that is expected given the ranking so far (Rao–Blackwell),
	// θ_k ρ̄_k with ρ̄_k = Σ_d P_k(d) ρ_d. It needs the credit Later.
	Expected bool

	// Baseline makes b_k, else 0, the mean of X_k over the other rankings (leave one out), which must be independent draws. With a
	// single ranking it is X_k of the likeliest one.
	Baseline bool
}

// Credit selects the rewards that a rank is credited with.
type Credit int

const (
	Whole  Credit = iota // of the whole ranking, Σ_x r_x; c = 0
	Onward               // of the rank and later ones, Σ_{x≥k} r_x; c = 0
	Later                // of later ranks, Σ_{x>k} r_x; c = 1: the reward θ_k ρ_d of d at rank k enters for every document
)

var (
	// PolicyGradient is REINFORCE (Williams 1992).
	PolicyGradient = Estimator{Credit: Whole}
	// PLRank1 is PL-Rank-1 (Oosterhuis, SIGIR 2021, §5.2). The placement policy gradient is the same number.
	PLRank1 = Estimator{Credit: Onward}
	// PLRank2 is PL-Rank-2 (Oosterhuis, SIGIR 2021, §5.3, Algorithm 1). PL-Rank-3 (SIGIR 2022) is the same number.
	PLRank2 = Estimator{Credit: Later}
	// PLRankRB is PL-Rank-RB, which usually has the least variance of all.
	PLRankRB = Estimator{Credit: Later, Expected: true, Baseline: true}
)

// String returns the name in package losses, such as "plrank-rb", "plrank2-expected" or "plrank1-loo".
func (e Estimator) String() string {
	if e.Check() != nil {
		return "invalid estimator"
	}
	name := []string{"policy-gradient", "plrank1", "plrank2"}[e.Credit]
	switch {
	case e == PLRankRB:
		return "plrank-rb"
	case e.Expected:
		return name + "-expected"
	case e.Baseline:
		return name + "-loo"
	}
	return name
}

// Check returns an error for choices that do not go together.
func (e Estimator) Check() error {
	if e.Credit < Whole || e.Credit > Later {
		return fmt.Errorf("invalid credit %d of an estimator: want Whole, Onward or Later", int(e.Credit))
	}
	if e.Expected && e.Credit != Later {
		return errors.New("an estimator with expected rewards needs the credit Later: with others it is biased")
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
	err := cmp.Or(checkLambda(lambda, scores), e.Check(), checkGains(gains, scores), checkDiscounts(discounts))
	if err != nil {
		return 0, err
	}
	if err := k.load(scores, e.sharedGains(gains), r, min(len(discounts), r.Cutoff)); err != nil {
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
		k.reward(b, k.block(b), e, gains, discounts)
	}
	theta := discounts[:k.cutoff]
	if e.Credit == Whole {
		theta = k.ones // the reward at the last rank includes the discounts
	}
	credit := k.setBaseline(e, gains, discounts, theta)
	n := float64(len(k.samples))
	return k.sum(credit, theta, e.sharedGains(gains), lambda, n, scale) / n, nil
}

// sharedGains returns the gains where c = 1, else nil.
func (e Estimator) sharedGains(gains []float64) []float64 {
	if e.Credit == Later {
		return gains
	}
	return nil
}

// reward sets the rewards of the ranks of block b, before discounts. If the whole ranking is
// credited, its last rank has all of the reward.
func (k *Kernel) reward(b int, samples []sample, e Estimator, gains, discounts []float64) {
	if e.Expected {
		return // load has set the mean gains
	}
	k.setGains(b, samples, func(_ sample, _, d int) float64 { return gains[d] })
	if e.Credit != Whole {
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
func (k *Kernel) setBaseline(e Estimator, gains, discounts, theta []float64) lanes.Credit {
	credit := e.Credit.weights(1)
	if !e.Baseline {
		return credit
	}
	from, to, scale, divisor := 0, k.blocks(), 1.0, 1.0
	if n := float64(len(k.samples)); n > 1 {
		scale, divisor = n/(n-1), n-1
	} else {
		from, to = to, to+1
		k.loadLikeliest(from, e, gains, discounts)
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
	return e.Credit.weights(scale)
}

// weights returns the weights of rewards in f_k and g_k.
func (c Credit) weights(scale float64) lanes.Credit {
	if c == Later {
		return lanes.Credit{Later: scale, Risk: 1}
	}
	return lanes.Credit{Later: scale, Own: scale}
}

// loadLikeliest reads the ranking of descending scores (ties by position) into block b.
func (k *Kernel) loadLikeliest(b int, e Estimator, gains, discounts []float64) {
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
	k.prepare(b, one, e.sharedGains(gains))
	k.reward(b, one, e, gains, discounts)
}
