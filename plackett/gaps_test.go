package plackett

import (
	"math"
	"testing"
)

// How far the best document is above the others does not matter once it is
// sure to be placed first, however small differences of the others are compared with that gap.
func TestSureDocumentIsFirstForGapsOfAnySize(t *testing.T) {
	rest := []float64{5, 6, 4, 5.5}
	gains, discounts := []float64{1, 2, 3, -1, 4}, dcg(5)
	y := Rankings{Documents: []int{0, 2, 1, 3, 4, 0, 4, 3, 2, 1, 0, 1, 2, 4, 3}, Cutoff: 5}
	weights := make([]float64, len(y.Documents))
	for i := range weights {
		weights[i] = float64(i%7) - 2
	}
	numbers := func(top float64) map[string][]float64 {
		scores := append([]float64{top}, rest...)
		all := map[string][]float64{"log-probabilities": make([]float64, len(y.Documents))}
		out := func(name string) []float64 { all[name] = make([]float64, 5); return all[name] }
		var k Kernel
		var e Expectation
		_, err := e.Gradient(scores, gains, discounts, out("exact gradient"))
		errs := []error{
			err,
			e.Exposure(scores, discounts, out("exact exposure")),
			k.LogProbs(scores, y, all["log-probabilities"]),
			k.LogProbsGradient(scores, y, weights, out("gradient of log-probabilities")),
			k.Exposure(scores, discounts, y, out("exposure")),
		}
		for _, estimator := range estimators {
			_, err := k.Gradient(estimator, scores, gains, discounts, y, out(estimator.String()))
			errs = append(errs, err)
		}
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	want := numbers(200)
	for _, top := range []float64{1e3, 1e5, 1e12, 1e16, 1e30, math.MaxFloat64} {
		for name, got := range numbers(top) {
			for i := range got {
				if !(math.Abs(got[i]-want[name][i]) <= 1e-12) {
					t.Errorf("%s with a gap of %v: %v, want %v as with a gap of 200", name, top, got, want[name])
					break
				}
			}
		}
	}
}

// Differences of scores may overflow.
func TestGapsBeyondFloat64AreSure(t *testing.T) {
	scores, gains := []float64{math.MaxFloat64, -math.MaxFloat64, 1, 2}, []float64{1, 2, 3, -1}
	y := Rankings{Documents: []int{0, 2, 3, 1, 0, 3, 2, 1}, Cutoff: 4}
	var k Kernel
	lambda := make([]float64, 4)
	for _, estimator := range estimators {
		if _, err := k.Gradient(estimator, scores, gains, dcg(4), y, lambda); err != nil || checkFinite("λ", lambda) != nil {
			t.Errorf("%v: %v, error %v", estimator, lambda, err)
		}
	}
}
