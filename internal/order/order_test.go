package order

import (
	"math"
	"slices"
	"testing"
)

func TestDescendingKeepsTheOrderOfEqualNumbers(t *testing.T) {
	got := Descending([]float64{1, math.NaN(), 3, 1, math.Inf(1), 3, math.Inf(-1)})
	if want := []int{4, 2, 5, 0, 3, 6, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if len(Descending(nil)) != 0 {
		t.Error("no numbers have an order")
	}
}
