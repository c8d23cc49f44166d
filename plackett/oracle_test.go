package plackett

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
)

// algorithm1 is Algorithm 1 of Oosterhuis (SIGIR 2021), line by line, for rankings
// given.
func algorithm1(scores, gains, discounts []float64, rankings [][]int) []float64 {
	lambda := make([]float64, len(scores)) // line 3
	denominator := 0.0                     // line 4
	for _, m := range scores {
		denominator += math.Exp(m)
	}
	k := min(len(discounts), len(scores))
	for _, y := range rankings { // line 5
		rest := denominator           // line 6
		omega := make([]float64, k+1) // line 7; omega[k] is the reward past the end
		for r := k - 1; r >= 0; r-- { // lines 8, 9
			omega[r] = omega[r+1] + discounts[r]*gains[y[r]]
		}
		placed := make([]bool, len(scores))
		for r := range k { // line 10
			lambda[y[r]] += omega[r+1] // line 11
			for d, m := range scores { // line 12
				if !placed[d] { // line 13
					p := math.Exp(m) / rest                             // line 14
					lambda[d] += p * (discounts[r]*gains[d] - omega[r]) // line 15
				}
			}
			rest -= math.Exp(scores[y[r]]) // line 16
			placed[y[r]] = true
		}
	}
	for d := range lambda { // line 17
		lambda[d] /= float64(len(rankings))
	}
	return lambda
}

// gumbelSort samples n full rankings as the paper does: scores plus Gumbel noise, sorted.
func gumbelSort(scores []float64, n int, rng *rand.Rand) [][]int {
	rankings := make([][]int, n)
	noisy := make([]float64, len(scores))
	for i := range rankings {
		y := make([]int, len(scores))
		for d, m := range scores {
			y[d] = d
			noisy[d] = m - math.Log(-math.Log(1-rng.Float64()))
		}
		slices.SortFunc(y, func(a, b int) int { return cmp.Compare(noisy[b], noisy[a]) })
		rankings[i] = y
	}
	return rankings
}

// direct computes any estimator from its definition for one ranking, in O(K·D):
// their formulas in docs/pl-rank-rb.md, with every M_k summed afresh.
func direct(e Estimator, scores, gains, discounts []float64, y []int, baseline []float64) []float64 {
	k := min(len(discounts), len(scores), len(y))
	lambda := make([]float64, len(scores))
	placed := make([]bool, len(scores))
	chance := make([][]float64, k)
	w := make([]float64, k+1)
	v := make([]float64, k+1)
	mean := make([]float64, k)
	for r := range k {
		chance[r] = testkit.Chances(scores, placed)
		for d, p := range chance[r] {
			mean[r] += p * gains[d]
		}
		placed[y[r]] = true
	}
	for r := k - 1; r >= 0; r-- {
		w[r] = w[r+1] + discounts[r]*gains[y[r]]
		v[r] = v[r+1] + discounts[r]*mean[r]
	}
	for r := range k {
		for d, p := range chance[r] {
			one := 0.0
			if y[r] == d {
				one = 1
			}
			x := one - p // ψ_r(d)
			switch {
			case e.Credit == Whole:
				lambda[d] += x * (w[0] - baseline[r])
			case e.Credit == Onward:
				lambda[d] += x * (w[r] - baseline[r])
			case e.Expected:
				lambda[d] += x*(v[r+1]-baseline[r]) + p*discounts[r]*(gains[d]-mean[r])
			default:
				lambda[d] += one*w[r+1] + p*(discounts[r]*gains[d]-w[r]) - x*baseline[r]
			}
		}
	}
	return lambda
}

// credits returns what the baseline of estimator e is made of, for one ranking: W_1, W_k,
// W_{k+1} or V_{k+1}; nil where it has no baseline.
func credits(e Estimator, scores, gains, discounts []float64, y []int) []float64 {
	k := min(len(discounts), len(scores), len(y))
	reward := make([]float64, k) // of each rank
	placed := make([]bool, len(scores))
	for r := range k {
		switch {
		case !e.Baseline:
			return nil
		case e.Expected:
			for d, p := range testkit.Chances(scores, placed) {
				reward[r] += discounts[r] * p * gains[d]
			}
		default:
			reward[r] = discounts[r] * gains[y[r]]
		}
		placed[y[r]] = true
	}
	out := make([]float64, k)
	for r := range out {
		from := map[Credit]int{Whole: 0, Onward: r, Later: r + 1}[e.Credit]
		for _, x := range reward[from:] {
			out[r] += x
		}
	}
	return out
}

// estimate is the mean of direct over rankings, with leave-one-out baselines.
func estimate(e Estimator, scores, gains, discounts []float64, rankings [][]int) []float64 {
	n := len(rankings)
	credit := make([][]float64, n)
	for i, y := range rankings {
		credit[i] = credits(e, scores, gains, discounts, y)
	}
	best := make([]int, len(scores))
	for d := range best {
		best[d] = d
	}
	sort.SliceStable(best, func(a, b int) bool { return scores[best[a]] > scores[best[b]] })
	sum := make([]float64, len(scores))
	for i, y := range rankings {
		baseline := make([]float64, min(len(discounts), len(scores)))
		for j := range rankings {
			for r, x := range credit[j] {
				if j != i {
					baseline[r] += x / float64(n-1)
				}
			}
		}
		if n == 1 && credit[0] != nil {
			baseline = credits(e, scores, gains, discounts, best)
		}
		for d, x := range direct(e, scores, gains, discounts, y, baseline) {
			sum[d] += x / float64(n)
		}
	}
	return sum
}

// pack writes rankings row after row, cut off or filled with −1 to cutoff places.
func pack(rankings [][]int, cutoff, base int) Rankings {
	r := Rankings{Cutoff: cutoff, Base: base}
	for _, y := range rankings {
		for k := range cutoff {
			if k < len(y) {
				r.Documents = append(r.Documents, base+y[k])
			} else {
				r.Documents = append(r.Documents, -1)
			}
		}
	}
	return r
}

func dcg(k int) []float64 {
	theta := make([]float64, k)
	for i := range theta {
		theta[i] = 1 / math.Log2(float64(i)+2)
	}
	return theta
}

// estimators are all that are valid, by their names.
var estimators = map[string]Estimator{
	"policy-gradient": PolicyGradient, "policy-gradient-loo": {Credit: Whole, Baseline: true},
	"plrank1": PLRank1, "plrank1-loo": {Credit: Onward, Baseline: true},
	"plrank2": PLRank2, "plrank2-loo": {Credit: Later, Baseline: true},
	"plrank2-expected": {Credit: Later, Expected: true}, "plrank-rb": PLRankRB,
}

func TestEstimatorsHaveTheirNames(t *testing.T) {
	for want, e := range estimators {
		if got := e.String(); got != want || e.Check() != nil {
			t.Errorf("%+v is %s, want %s; error %v", e, got, want, e.Check())
		}
	}
	for want, e := range map[string]Estimator{
		"invalid credit 3": {Credit: 3}, "invalid credit -1": {Credit: -1}, "needs the credit Later": {Credit: Onward, Expected: true},
	} {
		var k Kernel
		if _, err := k.Gradient(e, []float64{1}, []float64{1}, []float64{1}, Rankings{Cutoff: 1}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", e, err, want)
		}
	}
}
