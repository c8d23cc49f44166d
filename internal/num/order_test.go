package num

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestDescendingKeepsTheOrderOfEqualValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := []float64{-1, math.Copysign(0, -1), 0, 2, math.Inf(1), 3, -4, 5, -6, 7, 8, 9, math.NaN(), .1}
		values = values[:rapid.SampledFrom([]int{6, 12, len(values)}).Draw(t, "values")]
		x := rapid.SliceOf(rapid.SampledFrom(values)).Draw(t, "x")
		before := []int{7, 7}
		got := DescendingOrder(slices.Clone(before), x)
		if !slices.Equal(got[:2], before) {
			t.Fatalf("%v: the slice appended to is changed: %v", x, got)
		}
		got = got[2:]
		if sorted := slices.Sorted(slices.Values(got)); len(got) != len(x) || len(x) > 0 && (sorted[0] != 0 || len(slices.Compact(sorted)) != len(x)) {
			t.Fatalf("%v: %v is not a permutation", x, got)
		}
		for k := range got[min(1, len(got)):] {
			a, b := got[k], got[k+1]
			if x[a] < x[b] || math.IsNaN(x[a]) && !math.IsNaN(x[b]) || (x[a] == x[b] || math.IsNaN(x[a]) && math.IsNaN(x[b])) && a > b {
				t.Errorf("%v: %d before %d", x, a, b)
			}
		}
	})
}
