package losses_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
)

// A loss of the differences of scores has the same gradient wherever the scores are. However far one document is above the others,
// the gradient is the same, too, or noise of the size of 1 would be lost in them; a loss without a bound of its slope, such as a
// square, may add as much for each unit of the distance as it does between 1000 and 2000.
func TestGradientsDoNotDependOnWhereTheScoresAre(t *testing.T) {
	eighths := func(rng *rand.Rand, _ int) float64 { return math.Round(8*rng.NormFloat64()) / 8 }
	square := losses.Pairwise(losses.Phi{Unit: 1, At: func(x float64) (value, slope, _ float64) {
		return max(0, 1+x) * max(0, 1+x), 2 * max(0, 1+x), 0
	}}, losses.PairWeights{Each: 1})
	gradient := func(name string, dt tensor.Dtype, change func(f fixture)) []float64 {
		f := newFixture(eighths)
		change(f)
		b := sampled(t, f.batch(dt))
		loss, err := square.Mean(b)
		if name != "square" {
			loss, err = meanOf(name, b)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, g := differentiate(t, loss, b.Lists.Scores)
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
	for _, name := range append(losses.Names(), "square") {
		if name != "square" && losses.Pointwise(name) {
			continue // they know where zero is
		}
		for _, c := range []struct {
			what      string
			dt        tensor.Dtype
			near, far func(fixture)
			tolerance float64
			distance  float64 // of one from the others
		}{
			{"1e15 higher", tensor.Float64, moved(0), moved(1e15), 1e-9, 0},
			{"1e15 lower", tensor.Float64, moved(0), moved(-1e15), 1e-9, 0},
			{"2^20 higher", tensor.Float32, moved(0), moved(1 << 20), 1e-4, 0},
			{"one 1e16 above the others", tensor.Float64, above(1000), above(1e16), 1e-9, 1e16},
			{"one 1e150 above the others", tensor.Float64, above(1000), above(1e150), 1e-9, 1e150},
			{"one 1e18 above the others", tensor.Float32, above(1000), above(1e18), 1e-4, 1e18},
		} {
			want, got := gradient(name, c.dt, c.near), gradient(name, c.dt, c.far)
			size := floats.Norm(want, math.Inf(1))
			tolerance := c.tolerance * size
			if c.distance > 0 {
				grown := floats.Distance(gradient(name, c.dt, above(2000)), want, math.Inf(1))
				if grown > tolerance {
					tolerance += 2 * c.distance / 1000 * grown
				}
			}
			for d, v := range want {
				if !(math.Abs(got[d]-v) <= tolerance) {
					t.Errorf("%s, %s: gradient[%d] is %v, want %v", name, fmt.Sprint(c.dt, ", ", c.what), d, got[d], v)
					break
				}
			}
		}
	}
}
