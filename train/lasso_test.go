package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
)

// Norms of the rows of the first layer become smaller by ηλ√outputs, of every network;
// no row changes its direction, and other arrays stay.
func TestGroupLasso(t *testing.T) {
	const rate, lambda = 0.1, 2.
	tr := mustNew(t, Config{Optimization: Optimization{GroupLasso: lambda}, Model: Model{Hidden: []int{4, 3}, Members: 2}}, tinySplits())
	inputs, at := 0, 0
	for _, a := range tr.loop.gradients.model.Weights().Arrays() {
		for i := range a.Size() {
			tr.loop.weights[at+i] = float32(i%3) - 1 // rows of norms from √2 to √3
		}
		if a.Inputs && a.Shape[1] == 4 {
			inputs += a.Shape[0]
			clear(tr.loop.weights[at : at+2])
			tr.loop.weights[at+2], tr.loop.weights[at+3] = .3, -.2 // the norm .36 is below ηλ√4 = .4
		} else if a.Inputs {
			t.Errorf("%v is said to be of inputs", a)
		}
		at += a.Size()
	}
	if want := 2 * tr.transform.Width(); inputs != want {
		t.Fatalf("%d rows of inputs, want %d", inputs, want)
	}
	before := slices.Clone(tr.loop.weights)
	if err := (&groupLasso{penalty: tr.Config.GroupLasso, arrays: tr.arrays}).stepped(&step{rate: rate, weights: tr.loop.weights}); err != nil {
		t.Fatal(err)
	}
	at = 0
	for _, a := range tr.loop.gradients.model.Weights().Arrays() {
		for row := 0; row < a.Size(); row += 4 {
			end := min(row+4, a.Size())
			norm := 0.
			for _, w := range before[at+row : at+end] {
				norm += float64(w * w)
			}
			keep := 1.
			if a.Inputs {
				keep = max(0, 1-rate*lambda*2/math.Sqrt(norm))
			}
			for i := at + row; i < at+end; i++ {
				if want := keep * float64(before[i]); math.Abs(float64(tr.loop.weights[i])-want) > 1e-6 {
					t.Errorf("%s[%d]: %v, want %v", a.Name, i-at, tr.loop.weights[i], want)
				}
			}
		}
		at += a.Size()
	}
}

// Of the six features, the last three say nothing: they are left out, which are no others.
func TestGroupLassoLeavesOutNoise(t *testing.T) {
	t.Parallel()
	tr := mustNew(t, Config{
		Objective:    Objective{Loss: "plrank-exact", NormalizeGains: true},
		Inputs:       Inputs{Transform: "quantile"},
		Model:        Model{Hidden: []int{16}, Activation: ops.ReLU},
		Optimization: Optimization{Optimizer: "adam", LearningRate: 0.01, GroupLasso: 0.7, Batch: 8, Epochs: 60},
	}, small())
	mustRun(t, tr, Hooks{})
	for i := range 6 {
		out := !slices.ContainsFunc(tr.loop.weights[16*i:16*(i+1)], func(w float32) bool { return w != 0 })
		if noise := i >= 3; out != noise {
			t.Errorf("feature %d says something: %t, and is left out: %t", i, !noise, out)
		}
	}
}

// The weights of all bins of an input are one group, whose norm becomes smaller.
func TestGroupLassoTakesAllBinsOfAnInput(t *testing.T) {
	const rate, lambda = .1, .7
	c := byBins(mlpScorer)
	c.Bins, c.Members, c.GroupLasso = 5, 2, lambda
	tr := mustNew(t, c, steps())
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range tr.loop.weights {
		tr.loop.weights[i] = float32(rng.NormFloat64())
	}
	before := slices.Clone(tr.loop.weights)
	if err := (&groupLasso{penalty: lambda, arrays: tr.arrays}).stepped(&step{rate: rate, weights: tr.loop.weights}); err != nil {
		t.Fatal(err)
	}
	at := 0
	for range 2 { // members, of w0, b0, w1 and b1
		for _, rows := range []int{6, 5} { // the first has a bin of missing values
			norm := math.Sqrt(squares(before[at : at+8*rows]))
			for i := at; i < at+8*rows; i++ {
				want := float64(before[i]) * (1 - rate*lambda*math.Sqrt(float64(8*rows))/norm)
				if math.Abs(float64(tr.loop.weights[i])-want) > 1e-6 {
					t.Errorf("weight %d: %v, want %v", i, tr.loop.weights[i], want)
				}
			}
			at += 8 * rows
		}
		if end := at + 8 + 8 + 1; !slices.Equal(tr.loop.weights[at:end], before[at:end]) {
			t.Error("other weights changed")
		} else {
			at = end
		}
	}
}

func squares(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// Steps of the weights of an input of n bins are √12/n as long; those of few bins, of other layers and of
// biases are as the optimizer made them.
func TestBinRate(t *testing.T) {
	arrays := []nn.Array{{Name: "w0", Shape: []int{16 + 2 + 1, 2}, Inputs: true, Bins: []int{16, 2}}, {Name: "b0", Shape: []int{2}, Bias: true}}
	s := &step{weights: make([]float32, 40)}
	for i := range s.weights {
		s.weights[i] = float32(i)
	}
	r := &binRate{arrays: arrays}
	if err := r.gradient(s); err != nil {
		t.Fatal(err)
	}
	for i := range s.weights {
		s.weights[i]++
	}
	if err := r.stepped(s); err != nil {
		t.Fatal(err)
	}
	for i, w := range s.weights {
		want := 1.
		if i < 32 {
			want = math.Sqrt(12) / 16
		}
		if math.Abs(float64(w)-float64(i)-want) > 1e-5 {
			t.Errorf("weight %d: a step of %v, want %v", i, w-float32(i), want)
		}
	}
}
