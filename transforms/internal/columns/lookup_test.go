package columns

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// interpolate is the score of x by its definition, 0 for NaN.
func interpolate(knots, scores []float32, x float32) float32 {
	last := len(knots) - 1
	switch {
	case x != x:
		return 0
	case x <= knots[0]:
		return scores[0]
	case x >= knots[last]:
		return scores[last]
	}
	low := 0
	for knots[low+1] <= x {
		low++
	}
	a, b := float64(knots[low]), float64(knots[low+1])
	return scores[low] + float32((float64(x)-a)/(b-a))*(scores[low+1]-scores[low])
}

// A lookup gives the bits of the definition, for any knots and values.
func TestLookupIsLinearBetweenKnots(t *testing.T) {
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-45, 1e-3, math.MaxFloat32, -math.MaxFloat32,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	number := rapid.OneOf(rapid.Float32(), rapid.Float32Range(0, 1), rapid.SampledFrom(special))
	rapid.Check(t, func(t *rapid.T) {
		knots := rapid.SliceOfN(rapid.OneOf(rapid.Float32Range(-1, 2), rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32),
			rapid.SampledFrom(special[:9])), 1, MostKnots).Draw(t, "knots")
		slices.Sort(knots)
		knots = slices.Compact(knots)
		scores := make([]float32, len(knots))
		for k := range scores {
			scores[k] = float32(math.Sin(float64(k)))
		}
		values := append(rapid.SliceOfN(number, 1, 40).Draw(t, "values"), special...)
		for _, v := range knots {
			values = append(values, v, math.Nextafter32(v, 1), math.Nextafter32(v, -1))
		}
		// Beside another column, whose knots are none of its business.
		var x []float32
		for _, v := range values {
			x = append(x, 7, v)
		}
		l := NewLookups([][]float32{{-1, 0, 1}, knots}, [][]float32{{5, 6, 7}, scores}, nil)
		got := make([]float32, len(x))
		l.Map(Rows{To: got, Stride: 2, From: x, Inputs: 2, Columns: []int{0, 1}})
		for i, v := range values {
			if want := interpolate(knots, scores, Finite(v)); got[2*i+1] != want {
				t.Fatalf("%v: %v, want %v", v, got[2*i+1], want)
			}
		}
	})
}

// Very many columns take no tables, and have the same scores.
func TestManyColumnsTakeNoTables(t *testing.T) {
	knots, scores := [][]float32{{-2, 0.5, 7}, {3}}, [][]float32{{-1, 0, 2}, {4}}
	few := NewLookups(knots, scores, nil)
	many := NewLookups(slices.Repeat(knots, mostTables), slices.Repeat(scores, mostTables), nil)
	if size := len(many.start) + 4*(len(many.knots)+len(many.score)); size > 256*mostTables {
		t.Errorf("%d bytes for %d columns", size, 2*mostTables)
	}
	values := []float32{-3, -2, -1, 0, 0.5, 0.75, 6, 7, 8, 3, float32(math.NaN()), float32(math.Inf(1))}
	want, got := make([]float32, len(values)), make([]float32, len(values))
	for i := range 2 {
		few.column(i, want, 1, values, 1)
		many.column(2*mostTables-2+i, got, 1, values, 1)
		if !slices.Equal(got, want) {
			t.Errorf("column %d: %v, want %v", i, got, want)
		}
	}
}
