package losses_test

import (
	"math"
	"testing"

	"gorgonia.org/tensor"
)

// exactLosses are those without samples, with what the loss of a query is at its
// expectations by enumeration.
func exactLosses() map[string]func(q exactQuery) float64 {
	of := map[string]func(q exactQuery) float64{
		"plrank-exact": func(q exactQuery) float64 { return -q.Reward },
	}
	for name, measure := range fairness {
		of[name] = func(q exactQuery) float64 { return measure(q.query, q.Exposure) }
	}
	return of
}

// Value and gradient of the exact losses are those of the expectations over all rankings,
// the gradient by finite differences of them.
func TestExactLossesAreExpectationsOverAllRankings(t *testing.T) {
	for name, of := range exactLosses() {
		f := newFixture(normal)
		f.discounts = f.discounts[:3]
		value := func() float64 {
			sum := 0.0
			for _, q := range []int{0, 2, 3, 4} {
				sum += of(f.exact(t, q)) / 4
			}
			return sum
		}
		want := value()
		for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-6, tensor.Float32: 1e-5} {
			b := f.batch(dt)
			got, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
			if math.Abs(got-want) > tolerance*(1+math.Abs(want)) {
				t.Errorf("%s, %v: %v, by enumeration %v", name, dt, got, want)
			}
			size := 1.0
			for _, x := range gradient {
				size = max(size, math.Abs(x))
			}
			for d := range f.offsets[4] {
				const h = 1e-4
				m := f.scores[d]
				f.scores[d] = m + h
				up := value()
				f.scores[d] = m - h
				down := value()
				f.scores[d] = m
				if slope := (up - down) / (2 * h); math.Abs(gradient[d]-slope) > 2*tolerance*size {
					t.Errorf("%s, %v: gradient[%d] is %v, by enumeration %v", name, dt, d, gradient[d], slope)
				}
			}
		}
	}
}
