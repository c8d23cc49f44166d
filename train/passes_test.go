package train

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
)

// Epochs that are parts of a pass make the steps of the pass, with the same queries, and no other model; there is at most
// one a step. A run that ends within a pass goes on there.
func TestEpochsPerPass(t *testing.T) {
	t.Parallel()
	s := small()
	c := busy("adam")
	c.Epochs, c.Decay, c.Shards, c.Batch = 2, 1, 3, 5
	c.Schedule, c.Samples, c.Average = "constant", 20, 0.9
	whole := mustNew(t, c, s)
	pass := (len(whole.data.Queries) + c.Batch - 1) / c.Batch
	want := mustRun(t, whole, Hooks{}).History
	for _, parts := range []int{2, 3, pass, pass + 7} {
		c, epochs := c, min(parts, pass)
		c.EpochsPerPass, c.Epochs = parts, 2*epochs
		tr := mustNew(t, c, s)
		result := mustRun(t, tr, Hooks{})
		if len(result.History) != 2*epochs || !slices.Equal(networkOf(tr).Weights, networkOf(whole).Weights) {
			t.Errorf("%d parts of %d steps: %d epochs, or other weights", parts, pass, len(result.History))
			continue
		}
		for i, w := range want {
			last := result.History[(i+1)*epochs-1]
			if last.Steps != w.Steps || !reflect.DeepEqual(last.Vali, w.Vali) {
				t.Errorf("%d parts: after pass %d %+v, want %+v", parts, i+1, last, w)
			}
			loss, before, queries := 0., uint64(i*pass), len(tr.data.Queries)
			for _, e := range result.History[i*epochs : (i+1)*epochs] {
				steps := e.Steps - before
				if low := uint64(pass / epochs); steps < low || steps > low+1 {
					t.Errorf("%d parts of %d steps: epoch %d has %d", parts, pass, e.Epoch, steps)
				}
				last := min(int(e.Steps)-i*pass, pass) * c.Batch
				n := min(last, queries) - (int(before)-i*pass)*c.Batch
				loss += e.Loss * float64(n) / float64(queries)
				before = e.Steps
			}
			if math.Abs(loss-w.Loss) > 1e-9 {
				t.Errorf("%d parts: losses of pass %d are %v on average, want %v", parts, i+1, loss, w.Loss)
			}
		}
		resumes(t, result, c, epochs+1, func(c Config) *Trainer { return mustNew(t, c, s) })
	}
}

// Samples grow with passes, however many epochs they have.
func TestDynamicSamplesByPasses(t *testing.T) {
	t.Parallel()
	samples := func(parts int) (list []int) {
		c := busy("sgd")
		c.Epochs, c.EpochsPerPass = 3*parts, parts
		for i, e := range mustRun(t, mustNew(t, c, small()), Hooks{}).History {
			if (i+1)%parts == 0 {
				list = append(list, e.Samples)
			}
		}
		return list
	}
	if one, two := fmt.Sprint(samples(1)), fmt.Sprint(samples(2)); one != two {
		t.Errorf("samples after passes of two epochs: %s, want %s", two, one)
	}
}
