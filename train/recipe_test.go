package train

import (
	"reflect"
	"testing"
)

// Data below the bound get the small recipe, with ranks for short queries and a larger K for long ones; above it, more documents never get more epochs, and
// nothing else depends on how many there are.
func TestDefaultFor(t *testing.T) {
	c, reason := DefaultFor(largeFrom-1, largeFrom/longFrom+1)
	if c.Transform != smallRecipe().Transform+"+rank" || reason == "" {
		t.Errorf("small data of short queries: inputs %s, %q", c.Transform, reason)
	}
	if c.Transform = smallRecipe().Transform; !reflect.DeepEqual(c, smallRecipe()) {
		t.Errorf("small data of short queries: %+v, want the small recipe but for the inputs", c)
	}
	c, reason = DefaultFor(longFrom, 1)
	if c.Cutoff != 20 || reason == "" {
		t.Errorf("small data of long queries: K = %d, %q", c.Cutoff, reason)
	}
	if c.Cutoff = smallRecipe().Cutoff; !reflect.DeepEqual(c, smallRecipe()) {
		t.Errorf("small data of long queries: %+v, want the small recipe but for K", c)
	}
	epochs := []int{}
	first, _ := DefaultFor(largeFrom, 1000)
	for _, documents := range []int{largeFrom, 300_000, 2_200_000, 1_000_000_000} {
		c, reason := DefaultFor(documents, 1000)
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
