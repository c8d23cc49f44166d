package batches

import (
	"testing"

	"pgregory.net/rapid"
)

// Every number of rows has a capacity that holds it and wastes an eighth at most
// (beyond the smallest), which is the capacity of itself, and there are few.
func TestCapacityWastesAnEighthAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(0, 100000).Draw(t, "rows")
		c := Capacity(rows)
		if c < rows || c%8 != 0 || Capacity(c) != c || c > 64 && c-rows > rows/7+8 {
			t.Fatalf("%d rows go into %d", rows, c)
		}
	})
	capacities := map[int]bool{}
	for rows := range 100000 {
		capacities[Capacity(rows)] = true
	}
	if len(capacities) > 80 {
		t.Errorf("%d capacities up to 100000 rows", len(capacities))
	}
}
