package plackett

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A policy that is sure gives most documents a λ far below what sums see: it is 0, by every
// estimator and exactly, and so are such exposures.
func TestNegligibleNumbersAreZero(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	discounts := []float64{1, .63, .5}
	for _, gap := range []float64{40, 100, 800, 2000} {
		var scores, gains []float64
		for range 80 {
			scores, gains = append(scores, gap*rng.Float64()), append(gains, float64(rng.IntN(4)))
		}
		var s Sampler
		rankings := Rankings{Documents: make([]int, 20*len(discounts)), Cutoff: len(discounts)}
		if err := s.Draw(scores, Stream{1, 2, 3}, rankings); err != nil {
			t.Fatal(err)
		}
		check := func(name string, x []float64, scale float64, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			zeros := 0
			for d, v := range x {
				if v == 0 {
					zeros++
				} else if math.Abs(v) < 1e-20*scale {
					t.Errorf("%s, gap %v: entry %d is %v", name, gap, d, v)
				}
			}
			if gap > 40 && zeros == 0 {
				t.Errorf("%s, gap %v: no entry is 0", name, gap)
			}
		}
		var k Kernel
		out := make([]float64, len(scores))
		for _, e := range estimators {
			_, err := k.Gradient(e, scores, gains, discounts, rankings, out)
			check(e.String(), out, 3*2.13, err)
		}
		check("exposure of rankings", out, 2.13, k.Exposure(scores, discounts, rankings, out))
		var e Expectation
		_, err := e.Gradient(scores, gains, discounts, out)
		check("exact", out, 3*2.13, err)
		check("exact exposure", out, 2.13, e.Exposure(scores, discounts, out))
	}
}
