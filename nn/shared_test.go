package nn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

// shareTwice has twice three members that share weights.
func shareTwice(dt tensor.Dtype, act ops.Activation, bins bool) MLPConfig {
	c := MLPConfig{Features: 3, Hidden: []int{5, 4}, Activation: act, Members: 2, SharedMembers: 3, Seed: 6, Dtype: dt}
	if bins {
		c.Bins = []int{2, 3, 1}
	}
	return c
}

// encoded is x [rows, 3] through the bins of shareTwice.
func encoded(x []float64) (e []float64) {
	for ; len(x) > 0; x = x[3:] {
		for i, bins := range []int{2, 3, 1} {
			for k := range bins {
				e = append(e, min(max(x[i]-float64(k), 0), 1))
			}
		}
	}
	return e
}

// The score is the mean of the scores of plain networks: the matrices of a member are those that it shares,
// the first one with its columns times the scales, and all else is its own. A file keeps all.
func TestSharedMembersAreNetworksWithScaledColumns(t *testing.T) {
	for i := range 2 * len(ops.ActivationNames()) {
		act, bins := ops.Activation(i/2), i%2 > 0
		for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-9, tensor.Float32: 1e-4} {
			m := newMLP(t, shareTwice(dt, act, bins))
			for i, a := range m.Weights().Arrays() { // initial biases are 0
				set(t, m, a.Name, random(a.Size(), uint64(i)))
			}
			x := random(30, 1)
			for i := range x {
				x[i] = math.Round(65536*x[i]) / 65536 // as positions are
			}
			seen, plain := x, MLPConfig{Features: 3, Hidden: []int{5, 4}, Activation: act, Dtype: dt}
			if bins {
				seen, plain.Features = encoded(x), 6
			}
			want := make([]float64, 10)
			for member := range 6 {
				alone := newMLP(t, plain)
				from := func(name string) []float64 {
					if name == "w0" || name == "w1" {
						return m.Weights().Get(fmt.Sprintf("m%d.%s", member/3, name))
					}
					return m.Weights().Get(fmt.Sprintf("m%d.s%d.%s", member/3, member%3, name))
				}
				for _, a := range alone.Weights().Arrays() {
					values := from(a.Name)
					if a.Name == "w0" {
						scale := from("scale0")
						for i := range values {
							values[i] *= scale[i%len(scale)]
						}
					}
					set(t, alone, a.Name, values)
				}
				for r, s := range naive(alone, seen) {
					want[r] += s / 6
				}
			}
			for _, model := range []*MLP{m, stored(t, m)} {
				got, _ := run(t, model, Evaluate, x, make([]float64, 10))
				for r := range want {
					if math.Abs(got[r]-want[r]) > tolerance*(1+math.Abs(want[r])) {
						t.Errorf("%v %v, bins %t: score %d is %v, want %v", act, dt, bins, r, got[r], want[r])
					}
				}
			}
		}
	}
}

// Gradients reach all weights, with dropout, bins and attention.
func TestSharedMembersGradientsAreFiniteDifferences(t *testing.T) {
	for _, bins := range []bool{false, true} {
		c := shareTwice(tensor.Float64, ops.Tanh, bins)
		c.Dropout = .4
		transformer, err := NewTransformer(TransformerConfig{MLPConfig: c, Blocks: 1, Heads: 2, LatentCross: bins})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []Stepper{newMLP(t, c), transformer} {
			m.SetStep(3)
			const rows = 7
			factors := random(rows, 2)
			g := G.NewGraph()
			weights := m.Weights().Nodes(g)
			scores := G.Must(m.Build(Input{
				Features: G.NewMatrix(g, c.Dtype, G.WithName("x"), G.WithShape(rows, 3), G.WithValue(optest.Dense(c.Dtype, random(rows*3, 8), rows, 3))),
				Offsets:  optest.Ints(g, "offsets", []int{0, 3, 7}, 3), Weights: weights,
			}, Train))
			loss := G.Must(G.Sum(G.Must(G.HadamardProd(scores, optest.Vector(g, "c", c.Dtype, factors)))))
			vm := G.NewTapeMachine(g)
			defer vm.Close()
			value := func() float64 {
				vm.Reset()
				if err := vm.RunAll(); err != nil {
					t.Fatal(err)
				}
				return optest.Numbers(loss.Value())[0]
			}
			_, grads := runGraph(t, scores, factors, weights)
			for i, a := range m.Weights().Arrays() {
				data := m.Weights().Float64s()[m.Weights().starts[i]:][:a.Size()]
				direction, was := random(len(data), uint64(i)), slices.Clone(data)
				at := func(h float64) float64 {
					for j, d := range direction {
						data[j] = was[j] + h*d
					}
					return value()
				}
				const h = 1e-6 // rows that dropout leaves little of bend the normalisation
				numeric, slope := (at(h)-at(-h))/(2*h), 0.
				copy(data, was)
				for j, d := range direction {
					slope += d * grads[i][j]
				}
				if math.Abs(numeric-slope) > 1e-5*(1+math.Abs(slope)) {
					t.Errorf("%s, bins %t: %s: slope %v, by differences %v", m.Kind(), bins, a.Name, slope, numeric)
				}
			}
		}
	}
}

// Members begin apart: scales are 1 or −1 by the seed, and differ, as the weights of their scores do.
func TestSharedMembersBeginApart(t *testing.T) {
	c := MLPConfig{Features: 3, Hidden: []int{200, 4}, SharedMembers: 3, Seed: 6}
	m, same := newMLP(t, c), newMLP(t, c)
	c.Seed = 7
	other := newMLP(t, c)
	for _, name := range []string{"scale0", "w2"} {
		var all []string
		for j := range 3 {
			name := fmt.Sprintf("s%d.%s", j, name)
			has := m.Weights().Get(name)
			all = append(all, fmt.Sprint(has))
			if all[j] != fmt.Sprint(same.Weights().Get(name)) || all[j] == fmt.Sprint(other.Weights().Get(name)) {
				t.Errorf("%s is not by the seed", name)
			}
			if ones := len(slices.DeleteFunc(has, func(v float64) bool { return v != 1 })); strings.HasPrefix(name[3:], "scale") &&
				(ones < 60 || ones > 140 || strings.Trim(all[j], "[-1 ]") != "") { // 200 coins, far beyond five standard deviations
				t.Errorf("%s: %d of 200 are 1: %s", name, ones, all[j])
			}
		}
		if all[0] == all[1] || all[1] == all[2] || all[0] == all[2] {
			t.Errorf("%s: members are alike", name)
		}
	}
	if got := m.String(); got != "hidden 200 4 (none), 3 members that share weights" {
		t.Error(got)
	}
	if SharedMembers(m) != 3 || SharedMembers(newMLP(t, MLPConfig{Features: 3})) != 1 {
		t.Error("another number of members that share weights")
	}
}

// Each member has its own dropout.
func TestSharedMembersDropByThemselves(t *testing.T) {
	m := newMLP(t, MLPConfig{Features: 3, Hidden: []int{40}, Activation: forward.ReLU, Dropout: .5, SharedMembers: 2, Seed: 1})
	for _, name := range []string{"scale0", "w1"} {
		set(t, m, "s1."+name, m.Weights().Get("s0."+name))
	}
	m.SetStep(1)
	for mode, same := range map[Mode]bool{Evaluate: true, Train: false} {
		g := G.NewGraph()
		x := G.NewMatrix(g, tensor.Float32, G.WithName("x"), G.WithShape(5, 3), G.WithValue(optest.Dense(tensor.Float32, random(15, 1), 5, 3)))
		scores, err := m.BuildMembers(Input{Features: x, Weights: m.Weights().Nodes(g)}, mode)
		if err != nil {
			t.Fatal(err)
		}
		difference := optest.Numbers(optest.Run(t, G.Must(G.Sub(scores[0], scores[1]))))
		if slices.Equal(difference, make([]float64, 5)) != same {
			t.Errorf("mode %v: members differ by %v", mode, difference)
		}
	}
}

func TestSharedMembersOutOfRangeAreErrors(t *testing.T) {
	for want, c := range map[string]MLPConfig{
		"-1 shared members":        {Features: 3, Hidden: []int{4}, SharedMembers: -1},
		"501 shared members":       {Features: 3, Hidden: []int{4}, SharedMembers: 501, Members: 2},
		"no hidden layers: member": {Features: 3, SharedMembers: 2},
	} {
		if _, err := NewMLP(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := NewMLP(MLPConfig{Features: 3, SharedMembers: 1}); err != nil {
		t.Error(err)
	}
}
