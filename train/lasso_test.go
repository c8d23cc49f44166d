package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/network"
)

// Norms of the rows of the first layer become smaller by ηλ√outputs times √(r̄/r), of every network;
// no row changes its direction, and other arrays stay.
func TestGroupLasso(t *testing.T) {
	const rate, lambda = 0.1, 2.
	tr := mustNew(t, Config{Optimization: Optimization{GroupLasso: lambda}, Model: Model{Hidden: []int{4, 3}, Members: 2}}, tinySplits())
	inputs, at := 0, 0
	for _, a := range networkOf(tr).Model.Weights().Arrays() {
		for i := range a.Size() {
			networkOf(tr).Weights[at+i] = float32(i%3) - 1 // rows of norms from √2 to √3
		}
		if a.Inputs && a.Shape[1] == 4 {
			inputs += a.Shape[0]
			clear(networkOf(tr).Weights[at : at+2])
			networkOf(tr).Weights[at+2], networkOf(tr).Weights[at+3] = .3, -.2 // the norm .36 is below ηλ√4 = .4, even without a factor above 1
			clear(networkOf(tr).Weights[at+4 : at+8])                          // stays 0
		} else if a.Inputs {
			t.Errorf("%v is said to be of inputs", a)
		}
		at += a.Size()
	}
	if want := 2 * tr.transform.Width(); inputs != want {
		t.Fatalf("%d rows of inputs, want %d", inputs, want)
	}
	before := slices.Clone(networkOf(tr).Weights)
	network.GroupLasso(networkOf(tr).Weights, arraysOf(tr), rate*tr.Config.GroupLasso)
	at = 0
	for _, a := range networkOf(tr).Model.Weights().Arrays() {
		mean := 0.
		for row := 0; row < a.Size(); row += 4 {
			mean += batches.Norm(before[at+row:at+min(row+4, a.Size())]) / 2 / float64(a.Shape[0])
		}
		for row := 0; row < a.Size(); row += 4 {
			end := min(row+4, a.Size())
			keep := 1.
			if n := batches.Norm(before[at+row : at+end]); a.Inputs {
				keep = max(0, 1-rate*lambda*2*math.Sqrt(mean/(n/2))/n)
			}
			for i := at + row; i < at+end; i++ {
				if want := keep * float64(before[i]); math.Abs(float64(networkOf(tr).Weights[i])-want) > 1e-6 {
					t.Errorf("%s[%d]: %v, want %v", a.Name, i-at, networkOf(tr).Weights[i], want)
				}
			}
		}
		at += a.Size()
	}
}

// Weights of 0 stay, and what is not finite is not hidden.
func TestGroupLassoOfZerosAndInfinity(t *testing.T) {
	for _, weights := range [][]float32{make([]float32, 6), {0, 0, 1, float32(math.Inf(1)), 0, 0}, {1, 2, float32(math.NaN()), 1, 0, 0}} {
		before := slices.Clone(weights)
		network.GroupLasso(weights, []nn.Array{{Shape: []int{3, 2}, Bins: []int{2}, Inputs: true}}, 0.1)
		if batches.AllFinite(weights) != batches.AllFinite(before) || batches.AllFinite(before) && !slices.Equal(weights, before) {
			t.Errorf("%v became %v", before, weights)
		}
	}
}

// Of the six features, the last three say nothing: they are left out, which are no others.
func TestGroupLassoLeavesOutNoise(t *testing.T) {
	t.Parallel()
	tr := mustNew(t, Config{
		Objective:    Objective{Loss: "plrank-exact", NormalizeGains: true},
		Inputs:       Inputs{Transform: "quantile"},
		Model:        Model{Hidden: []int{16}, Activation: ops.ReLU},
		Optimization: Optimization{Optimizer: "adam", LearningRate: 0.01, GroupLasso: 0.3, Batch: 8, Epochs: 60},
	}, small())
	mustRun(t, tr, Hooks{})
	for i := range 6 {
		out := !slices.ContainsFunc(networkOf(tr).Weights[16*i:16*(i+1)], func(w float32) bool { return w != 0 })
		if noise := i >= 3; out != noise {
			t.Errorf("feature %d says something: %t, and is left out: %t", i, !noise, out)
		}
	}
}

// The lines of an input with bins are one group, and its bends another.
func TestGroupLassoTakesLinesAndBendsApart(t *testing.T) {
	const rate, lambda = .1, .7
	c := byBins(mlpScorer)
	c.Bins, c.Members, c.GroupLasso = 5, 2, lambda
	tr := mustNew(t, c, steps())
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range networkOf(tr).Weights {
		networkOf(tr).Weights[i] = float32(rng.NormFloat64())
	}
	before := slices.Clone(networkOf(tr).Weights)
	network.GroupLasso(networkOf(tr).Weights, arraysOf(tr), rate*lambda)
	at := 0
	for range 2 { // members, of w0, b0, w1 and b1
		// Rows of both inputs; the first has a bin of missing values.
		r := [2]float64{batches.Norm(before[at:][:6*8]) / math.Sqrt(6*8), batches.Norm(before[at+6*8:][:5*8]) / math.Sqrt(5*8)}
		for group, rows := range []int{1, 5, 1, 4} {
			by := rate * lambda * math.Sqrt(float64(8*rows)) * math.Sqrt((r[0]+r[1])/2/r[group/2])
			keep := 1 - by/batches.Norm(before[at:at+8*rows])
			for i := at; i < at+8*rows; i++ {
				if want := keep * float64(before[i]); math.Abs(float64(networkOf(tr).Weights[i])-want) > 1e-6 {
					t.Errorf("weight %d: %v, want %v", i, networkOf(tr).Weights[i], want)
				}
			}
			at += 8 * rows
		}
		if end := at + 8 + 8 + 1; !slices.Equal(networkOf(tr).Weights[at:end], before[at:end]) {
			t.Error("other weights changed")
		} else {
			at = end
		}
	}
}
