package columns

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Positions are as defined, for any knots, values and numbers of columns.
func TestPositionsAreLinearBetweenKnots(t *testing.T) {
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-45, 1e-3, math.MaxFloat32, -math.MaxFloat32,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	knot := rapid.OneOf(rapid.Float32Range(-1, 2), rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32), rapid.SampledFrom(special[:9]))
	rapid.Check(t, func(t *rapid.T) {
		n, stride := rapid.IntRange(1, 35).Draw(t, "columns"), 0
		var knots [][]float32
		var positions [][]float32
		var missing []float32
		for i := range n {
			column := rapid.SliceOfN(knot, 1, 20).Draw(t, "knots")
			slices.Sort(column)
			knots, missing = append(knots, slices.Compact(column)), append(missing, float32(i)/4)
			positions = append(positions, nil)
			for k := range knots[i] {
				positions[i] = append(positions[i], float32(i%2+k))
			}
		}
		stride = n + rapid.IntRange(0, 2).Draw(t, "more columns")
		value := rapid.OneOf(rapid.Float32(), rapid.Float32Range(-1, 2), rapid.SampledFrom(append(special, slices.Concat(knots...)...)))
		x := rapid.SliceOfN(value, 5*stride, 5*stride).Draw(t, "values")
		got := slices.Clone(x)
		NewLookups(knots, positions, missing).Positions(got, stride)
		for i, v := range x {
			want := v
			if c := i % stride; c < n {
				want = missing[c]
				if v == v {
					want = float32(math.RoundToEven(float64(interpolate(knots[c], positions[c], v))*65536) / 65536)
				}
			}
			if got[i] != want && want == want {
				t.Fatalf("column %d of %v: %v, want %v", i%stride, v, got[i], want)
			}
		}
	})
}
