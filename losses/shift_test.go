package losses_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
)

// A loss of the differences of scores has the same gradient wherever the scores are, and
// however far one document is above the others, or noise of the size of 1 would be lost in them.
func TestGradientsDoNotDependOnWhereTheScoresAre(t *testing.T) {
	eighths := func(rng *rand.Rand, _ int) float64 { return math.Round(8*rng.NormFloat64()) / 8 }
	gradient := func(name string, dt tensor.Dtype, change func(f fixture)) []float64 {
		f := newFixture(eighths)
		change(f)
		b := sampled(t, f.batch(dt))
		_, g := differentiate(t, build(t, name, b), b.Lists.Scores)
		return g
	}
	moved := func(shift float64) func(fixture) {
		return func(f fixture) {
			for d := range f.scores[:20] {
				f.scores[d] += shift
			}
		}
	}
	above := func(gap float64) func(fixture) {
		return func(f fixture) {
			for _, top := range []int{1, 6, 15} { // of queries of more than one document
				f.scores[top] = gap
			}
		}
	}
	for _, name := range losses.Names() {
		if losses.Pointwise(name) {
			continue // they know where zero is
		}
		for _, c := range []struct {
			what      string
			dt        tensor.Dtype
			near, far func(fixture)
			tolerance float64
		}{
			{"1e15 higher", tensor.Float64, moved(0), moved(1e15), 1e-9},
			{"1e15 lower", tensor.Float64, moved(0), moved(-1e15), 1e-9},
			{"2^20 higher", tensor.Float32, moved(0), moved(1 << 20), 1e-4},
			{"one 1e16 above the others", tensor.Float64, above(1000), above(1e16), 1e-9},
			{"one 1e300 above the others", tensor.Float64, above(1000), above(1e300), 1e-9},
			{"one 1e30 above the others", tensor.Float32, above(1000), above(1e30), 1e-4},
		} {
			want, got := gradient(name, c.dt, c.near), gradient(name, c.dt, c.far)
			size := 0.0
			for _, v := range want {
				size = max(size, math.Abs(v))
			}
			for d, v := range want {
				if !(math.Abs(got[d]-v) <= c.tolerance*size) {
					t.Errorf("%s, %s: gradient[%d] is %v, want %v", name, fmt.Sprint(c.dt, ", ", c.what), d, got[d], v)
					break
				}
			}
		}
	}
}
