package num

import (
	"math"
	"slices"
	"testing"
)

// Each number is in as many samples as any other: samples of all sizes differ, as each has its own random numbers.
func TestSampleIsRandom(t *testing.T) {
	const n, sizes = 3, 20_000
	remainders := map[int]float64{}
	for all := sizes; all < 2*sizes; all += 10 {
		s := Sample(n, all)
		if len(s) != n || !slices.IsSorted(s) || len(slices.Compact(slices.Clone(s))) != n || s[0] < 0 || s[n-1] >= all {
			t.Fatalf("%d of %d: %v", n, all, s)
		}
		if !slices.Equal(s, Sample(n, all)) {
			t.Fatal("another sample the second time")
		}
		for _, i := range s {
			remainders[10*i/all]++
			remainders[10+i%10]++
		}
	}
	want := n * sizes / 10 / 10.
	for r, got := range remainders {
		if math.Abs(got-want) > 4*math.Sqrt(want) {
			t.Errorf("%d: %v times, want about %v", r, got, want)
		}
	}
	for _, n := range []int{3, 4} {
		if s := Sample(n, 3); !slices.Equal(s, []int{0, 1, 2}) {
			t.Errorf("%d of 3: %v", n, s)
		}
	}
}

func TestTallyCountsAllValues(t *testing.T) {
	nan, negative := float32(math.NaN()), float32(math.Copysign(0, -1))
	sample := CountColumn([]float32{0, 9, 2, 9, nan, 9, 2, 9, negative, 9}, 2)
	if !slices.Equal(sample.Values, []float32{0, 2}) || !slices.Equal(sample.Documents, []int{2, 2}) || sample.Sum() != 4 {
		t.Errorf("counts %v", sample)
	}
	first, second := NewTally(sample.Values), NewTally(sample.Values)
	for _, x := range []float32{0, 2, 2, negative} {
		first.Add(x)
	}
	if first.New() {
		t.Error("a value of the sample is new")
	}
	for _, x := range []float32{3, 2, -1, 1, 3} {
		second.Add(x)
	}
	if first.Merge(second); !first.New() {
		t.Error("no value is new")
	}
	if got := first.Counts(); !slices.Equal(got.Values, []float32{-1, 0, 1, 2, 3}) || !slices.Equal(got.Documents, []int{1, 2, 1, 3, 2}) {
		t.Errorf("counts %v", got)
	}
	none := NewTally(nil)
	none.Add(5)
	if got := none.Counts(); !slices.Equal(got.Values, []float32{5}) {
		t.Errorf("counts %v", got)
	}
}
