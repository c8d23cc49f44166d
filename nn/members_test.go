package nn

import (
	"fmt"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/ops"
)

// The score of an ensemble is the mean of those of its members, no two of which are equal, and a
// file keeps all of them.
func TestEnsembleScoreIsTheMeanOfMembers(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		c := MLPConfig{Features: 3, Hidden: []int{4}, Activation: ops.Tanh, Members: 3, Seed: 2, Dtype: dt}
		m := newMLP(t, c)
		x := random(6, 1)
		want := make([]float64, 2)
		var firsts []float64
		for member := range c.Members {
			one := c
			one.Members = 1
			alone := newMLP(t, one)
			for _, a := range alone.Weights().Arrays() {
				set(t, alone, a.Name, m.Weights().Get(fmt.Sprintf("m%d.%s", member, a.Name)))
			}
			scores := naive(alone, x)
			firsts = append(firsts, scores[0])
			for r, s := range scores {
				want[r] += s / 3
			}
		}
		if firsts[0] == firsts[1] || firsts[1] == firsts[2] {
			t.Errorf("members score alike: %v", firsts)
		}
		for _, model := range []*MLP{m, stored(t, m)} {
			got, _ := run(t, model, Evaluate, x, []float64{1, 1})
			for r := range want {
				if d := got[r] - want[r]; d > 1e-6 || d < -1e-6 {
					t.Errorf("%v: score %d is %v, the mean over members %v", dt, r, got[r], want[r])
				}
			}
		}
	}
	if _, err := NewMLP(MLPConfig{Features: 3, Members: -1}); err == nil {
		t.Error("no error for -1 members")
	}
}
