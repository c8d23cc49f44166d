package nn

import (
	"fmt"
	"math"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

// The score of an ensemble is the mean of the scores of its members, which all differ, and a
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

// scoresOf returns the scores of x [rows, 3].
func scoresOf(s Scorer, x []float64) ([]float64, error) {
	g := G.NewGraph()
	features := G.NewMatrix(g, tensor.Float64, G.WithName("x"), G.WithValue(optest.Dense(tensor.Float64, x, len(x)/3, 3)))
	out, err := s.Build(Input{Features: features, Weights: s.Weights().Nodes(g)}, Evaluate)
	if err != nil {
		return nil, err
	}
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return nil, err
	}
	return Float64s(out.Value())
}

// A network by itself scores by the arrays that are said to be its own: other arrays may be anything.
// The mean over networks is the score of the ensemble.
func TestNetworkScoresByItsOwnArrays(t *testing.T) {
	for _, c := range []MLPConfig{
		{Features: 3, Hidden: []int{4}, Activation: ops.Tanh, Members: 3, Seed: 2, Dtype: tensor.Float64},
		{Features: 3, Bins: []int{2, 3, 2}, Hidden: []int{5, 4}, Activation: ops.Tanh, Members: 2, Seed: 6, Dtype: tensor.Float64},
	} {
		m := newMLP(t, c)
		x := random(6, 1)
		want, _ := run(t, m, Evaluate, x, []float64{1, 1})
		mean := make([]float64, 2)
		for number := 1; number <= c.Members; number++ {
			other := newMLP(t, c)
			for _, a := range m.Weights().Arrays() {
				if a.Network != number {
					set(t, other, a.Name, random(a.Size(), uint64(number)))
				}
			}
			before, err := scoresOf(Network(m, number), x)
			if err != nil {
				t.Fatal(err)
			}
			if after, _ := scoresOf(Network(other, number), x); !slices.Equal(before, after) {
				t.Errorf("network %d scores %v, and %v with other weights of the others", number, before, after)
			}
			for r, s := range before {
				mean[r] += s / float64(c.Members)
			}
		}
		for r := range mean {
			if math.Abs(mean[r]-want[r]) > 1e-12 {
				t.Errorf("the mean of score %d is %v, the ensemble has %v", r, mean[r], want[r])
			}
		}
	}
	two := newMLP(t, MLPConfig{Features: 3, Members: 2, Dtype: tensor.Float64})
	for _, number := range []int{0, 3} {
		if _, err := scoresOf(Network(two, number), random(6, 1)); err == nil {
			t.Errorf("no error for network %d of 2", number)
		}
	}
}
