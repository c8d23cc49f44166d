package train

import (
	"reflect"
	"testing"
)

// Data below the bound get Default; above it, more documents never get more epochs, and
// nothing else depends on how many there are.
func TestDefaultFor(t *testing.T) {
	if c, _ := DefaultFor(largeFrom - 1); !reflect.DeepEqual(c, Default()) {
		t.Errorf("small data: %+v, want Default", c)
	}
	epochs := []int{}
	first, _ := DefaultFor(largeFrom)
	for _, documents := range []int{largeFrom, 300_000, 2_200_000, 1_000_000_000} {
		c, reason := DefaultFor(documents)
		if err := c.Check(); err != nil || reason == "" {
			t.Errorf("%d documents: %v, %q", documents, err, reason)
		}
		epochs = append(epochs, c.Epochs)
		if c.Epochs = first.Epochs; !reflect.DeepEqual(c, first) {
			t.Errorf("%d documents: %+v, want %+v", documents, c, first)
		}
	}
	if want := []int{10, 6, 5, 5}; !reflect.DeepEqual(epochs, want) {
		t.Errorf("epochs %v, want %v", epochs, want)
	}
}
