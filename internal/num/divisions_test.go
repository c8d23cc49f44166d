package num

import (
	"reflect"
	"testing"
)

func TestDivisionsAreAllThatSumToOne(t *testing.T) {
	for n, want := range map[int][][]float64{
		1: {{1}},
		2: {{0, 1}, {.5, .5}, {1, 0}},
		3: {{0, 0, 1}, {0, .5, .5}, {0, 1, 0}, {.5, 0, .5}, {.5, .5, 0}, {1, 0, 0}},
	} {
		if got := Divisions(n, 2); !reflect.DeepEqual(got, want) {
			t.Errorf("halves among %d: %v, want %v", n, got, want)
		}
	}
}
