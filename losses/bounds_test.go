package losses_test

import (
	"math"
	"testing"

	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/metrics"
)

// missing is 1 − NDCG of a query.
func (q query) missing() float64 {
	dcg := 0.0
	for d, r := range ranks(q.scores) {
		dcg += q.theta(r) * q.gains[d]
	}
	return 1 - dcg/q.ideal()
}

// one is a fixture of one query.
func one(scores, labels []float64, cutoff int) fixture {
	f := fixture{offsets: []int{0, len(scores)}, scores: scores, labels: labels, discounts: metrics.Discounts(cutoff)}
	for _, label := range labels {
		f.gains = append(f.gains, math.Exp2(label)-1)
		f.groups = append(f.groups, 0)
	}
	return f
}

// value of a loss of one query.
func (f fixture) value(t fataler, name string) float64 {
	t.Helper()
	b := f.batch(tensor.Float64)
	v, _ := differentiate(t, build(t, name, b), b.Lists.Scores)
	return v
}

// NDCG-Loss1 bounds 1 − NDCG for any cutoff, NDCG-Loss2 and Loss2++ where
// it is not below the number of documents, of any lists; there the weights at K are those
// of NDCG-Loss2.
func TestNDCGLossesBoundOneMinusNDCG(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "documents")
		cutoff := rapid.IntRange(1, 12).Draw(t, "cutoff")
		labels := make([]float64, n)
		for d := range labels {
			labels[d] = float64(rapid.IntRange(0, 4).Draw(t, "label"))
		}
		labels[0] = max(labels[0], 1)
		spread := rapid.SampledFrom([]float64{0.01, 1, 10}).Draw(t, "spread")
		scores := make([]float64, n)
		for d := range scores {
			scores[d] = spread * rapid.Float64Range(-1, 1).Draw(t, "score")
		}
		f := one(scores, labels, cutoff)
		bounds := []string{"ndcg-loss1"}
		if cutoff >= n {
			bounds = append(bounds, "ndcg-loss2", "ndcg-loss2pp")
			if a, b := f.value(t, "ndcg-loss2"), f.value(t, "ndcg-loss2k"); !close12(a, b) {
				t.Errorf("cutoff %d of %d documents: ndcg-loss2k %v, ndcg-loss2 %v", cutoff, n, b, a)
			}
		}
		missing := f.query(0).missing()
		for _, name := range bounds {
			if bound := f.value(t, name); bound < missing-1e-12 {
				t.Errorf("%s@%d: %v is not a bound of %v", name, cutoff, bound, missing)
			}
		}
	})
}

// Where they are none, as their comments say.
func TestNDCGLoss2IsNotABoundBelowAllRanks(t *testing.T) {
	f := one([]float64{-.01, 10, .01}, []float64{1, 1, 0}, 2)
	missing := f.query(0).missing()
	if loss := f.value(t, "ndcg-loss2"); !(loss < missing) || math.Abs(missing-.387) > .001 || math.Abs(loss-.23) > .005 {
		t.Errorf("ndcg-loss2: %v, missing %v", loss, missing)
	}
	if loss := f.value(t, "ndcg-loss2k"); !(loss >= missing) {
		t.Errorf("ndcg-loss2k: %v, missing %v", loss, missing)
	}
	f = one([]float64{.04, .03, .02, .01}, []float64{0, 0, 1, 1}, 2)
	missing = f.query(0).missing()
	if loss := f.value(t, "ndcg-loss2k"); !(loss < missing) {
		t.Errorf("ndcg-loss2k: %v, missing %v", loss, missing)
	}
}

// The weights of Jagerman et al. (2022), in TF-Ranking the test cases of
// DCGLambdaWeightV2: of labels 2, 1, 0 as gains, ranked so. θ_r = 1/r there, which goes on
// otherwise than DCG's: so with a cutoff at the last pair of ranks.
func TestNDCGLoss2kHasTheWeightsOfJagerman(t *testing.T) {
	// Δ_1 = 1/2, Δ_2 = 1/6; all ranks within the cutoff.
	scores, gains := []float64{2, 1, 0}, []float64{2, 1, 0}
	f := one(scores, gains, 3)
	f.gains, f.discounts = gains, []float64{1, 1. / 2, 1. / 3}
	log := func(x float64) float64 { return math.Log2(1 + math.Exp(-x)) }
	ideal := 2 + 1./2
	want := (1./2*log(1) + 2./6*log(2) + 1./2*log(1)) / ideal
	if got := f.value(t, "ndcg-loss2k"); !close12(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// DCG@1: θ_2 = 1/log2(3), θ_3 = 1/2; both pairs beyond rank 1 are multiplied.
	f.discounts = []float64{1}
	second, third := 1/math.Log2(3), 1./2
	pairs := []float64{(1 - second) / (1 - second), 2 * (second - third) / (1 - third), (1 - second) / (1 - third)}
	want = (pairs[0]*log(1) + pairs[1]*log(2) + pairs[2]*log(1)) / 2
	if got := f.value(t, "ndcg-loss2k"); !close12(got, want) {
		t.Errorf("@1: %v, want %v", got, want)
	}
}
