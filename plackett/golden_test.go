package plackett

import (
	"math"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
)

func TestEstimatorsAgreeWithGoldenVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			Name                  string
			D, K                  int
			Theta, Labels, Scores []float64
			Rankings              [][]int
			Scale                 float64
			Truth                 map[string][]float64
		}
	}
	testkit.Golden(t, "estimators.json", &file)
	names := map[Estimator]string{PolicyGradient: "policy_gradient", PLRank1: "plrank1", PLRank2: "plrank2", PLRankRB: "plrank_rb"}
	var k Kernel
	worst := 0.0
	for _, c := range file.Cases {
		// Full rankings; the kernel reads their first K places. And with a
		// base that is not 0, as in a packed batch.
		r := pack(c.Rankings, c.D, 17)
		for e, name := range names {
			lambda := make([]float64, c.D)
			if _, err := k.Gradient(e, c.Scores, c.Labels, c.Theta[:min(c.K, len(c.Theta))], r, lambda); err != nil {
				t.Fatalf("%s: %s: %v", c.Name, e, err)
			}
			for d, want := range c.Truth[name] {
				diff := math.Abs(lambda[d]-want) / c.Scale
				worst = max(worst, diff)
				if !(diff <= 1e-13) {
					t.Errorf("%s: %s: λ[%d] = %v, want %v: off by %.2g of scale", c.Name, e, d, lambda[d], want, diff)
				}
			}
		}
	}
	t.Logf("worst error over %d cases: %.2g of scale", len(file.Cases), worst)
}

func TestEnumerationAgreesWithGoldenVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			Name                  string
			Scores, Labels, Theta []float64
			Reward                float64
			Gradient, Exposure    []float64
			ExposureJacobian      [][]float64        `json:"exposure_jacobian"`
			VarianceTrace         map[string]float64 `json:"variance_trace_N1"`
		}
	}
	testkit.Golden(t, "exact.json", &file)
	for _, c := range file.Cases {
		x, err := testkit.EnumerateMoments(c.Scores, c.Labels, c.Theta)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.Name+": reward", []float64{x.Reward}, []float64{c.Reward}, 1e-13)
		near(t, c.Name+": gradient", x.Gradient, c.Gradient, 1e-13)
		near(t, c.Name+": exposure", x.Exposure, c.Exposure, 1e-13)
		for d, row := range c.ExposureJacobian {
			one := make([]float64, len(c.Scores))
			one[d] = 1
			x, err := testkit.EnumerateMoments(c.Scores, one, c.Theta)
			if err != nil {
				t.Fatal(err)
			}
			near(t, c.Name+": exposure Jacobian", x.Gradient, row, 1e-13)
		}
		for e, name := range map[Estimator]string{PolicyGradient: "policy_gradient", PLRank1: "plrank1", PLRank2: "plrank2"} {
			_, trace := moments(t, e, c.Scores, c.Labels, c.Theta)
			near(t, c.Name+": variance of "+name, []float64{trace}, []float64{c.VarianceTrace[name]}, 1e-12)
		}
	}
}

// near fails unless got is within tolerance of want, relative to the largest of want and 1.
func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	scale := 1.0
	for _, w := range want {
		scale = max(scale, math.Abs(w))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*scale) {
			t.Errorf("%s: [%d] = %v, want %v (off by %.2g, allowed %.2g)", what, i, got[i], want[i], math.Abs(got[i]-want[i]), tolerance*scale)
		}
	}
}

// moments enumerates the rankings of one sample: the mean of λ, and the trace of its covariance.
func moments(t *testing.T, e Estimator, scores, gains, discounts []float64) (mean []float64, trace float64) {
	t.Helper()
	var k Kernel
	mean = make([]float64, len(scores))
	lambda := make([]float64, len(scores))
	square := 0.0
	err := testkit.Enumerate(scores, len(discounts), func(ranking []int, p float64) {
		if _, err := k.Gradient(e, scores, gains, discounts, Rankings{Documents: ranking, Cutoff: len(ranking)}, lambda); err != nil {
			t.Fatal(err)
		}
		for d, x := range lambda {
			mean[d] += p * x
			square += p * x * x
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	trace = square
	for _, m := range mean {
		trace -= m * m
	}
	return mean, trace
}
