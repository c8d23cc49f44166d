package plackett

import (
	"math"
	"strings"
	"testing"
)

// With finite numbers of any size, results are finite, or there is an
// error that says what is too large.
func TestScalesThatOverflowAreErrors(t *testing.T) {
	scores := [][]float64{{0, 1, 2}, {0, 0, 0}, {0, 1e30, -1e30}, {math.MaxFloat64, -math.MaxFloat64, 0}}
	sizes := []float64{0, 5e-324, 1e-300, 1, 1e150, 1e299, 1e300, 1e301, math.MaxFloat64}
	y := Rankings{Documents: []int{2, 1, 0, 1, 0, 2}, Cutoff: 3}
	var e Expectation
	var k Kernel
	for _, m := range scores {
		for _, gain := range sizes {
			for _, discount := range sizes {
				gains, discounts := []float64{gain, -gain, gain / 2}, []float64{discount, discount / 2, -discount}
				out := make([]float64, 3)
				check := func(name string, scale float64, results []float64, err error) {
					t.Helper()
					if err != nil {
						if scale <= largestScale || !strings.Contains(err.Error(), "it must be at most 1e+300") {
							t.Errorf("%s of scores %v, gains %v, discounts %v: error %v", name, m, gains, discounts, err)
						}
						return
					}
					if scale > largestScale {
						t.Errorf("%s of scores %v, gains %v, discounts %v: no error, %v", name, m, gains, discounts, results)
					}
					if checkFinite(name, results) != nil {
						t.Errorf("%s of scores %v, gains %v, discounts %v: %v", name, m, gains, discounts, results)
					}
				}
				_, sum := magnitudes(discounts)
				both := max(gain, sum, gain*sum)
				value, err := e.Gradient(m, gains, discounts, out)
				check("gradient", both, append(out, value), err)
				for _, estimator := range estimators {
					value, err := k.Gradient(estimator, m, gains, discounts, y, out)
					check(estimator.String(), both, append(out, value), err)
				}
				rewards := make([]float64, len(y.Documents))
				check("rewards", both, rewards, RewardsToGo(gains, discounts, y, rewards))
				check("exposure", sum, out, e.Exposure(m, discounts, out))
				check("sampled exposure", sum, out, k.Exposure(m, discounts, y, out))
				weights := append(discounts, discounts...)
				check("log-probabilities", 2*sum, out, k.LogProbsGradient(m, y, weights, out))
			}
		}
	}
}
