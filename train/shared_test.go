package train

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/train/internal/batches"
)

// sharing has twice three members that share weights.
func sharing(scorer string) Config {
	c := byBins(scorer)
	c.Members, c.SharedMembers, c.Dropout, c.Epochs = 2, 3, .2, 2
	return c
}

// A member that scales nothing has the loss and the gradient of a network by itself, and two such
// members that share all have its loss, the mean, and its gradient: half of it from each.
func TestSharedMembersLearnFromTheMeanOfTheirLosses(t *testing.T) {
	c := byBins(mlpScorer)
	one := mustNew(t, c, steps())
	c.SharedMembers = 2
	two := mustNew(t, c, steps())
	of := func(tr *Trainer) *nn.Weights { return networkOf(tr).Model.Weights() }
	for _, a := range of(two).Arrays() {
		values := of(one).Get(a.Name[strings.Index(a.Name, ".")+1:])
		if values == nil { // a scale
			values = slices.Repeat([]float64{1}, a.Size())
		}
		if err := of(two).Set(a.Name, values); err != nil {
			t.Fatal(err)
		}
	}
	gradient := func(tr *Trainer) (float64, map[string][]float32) {
		var b batches.Step
		tr.loop.batches.PackStep(&b, tr.loop.batches.Division.Order(0, tr.data.Queries, tr.data.Documents), 0)
		loss, err := networkOf(tr).Compute(ctx, &b, 0)
		if err != nil {
			t.Fatal(err)
		}
		arrays, at := map[string][]float32{}, 0
		for _, a := range of(tr).Arrays() {
			arrays[a.Name] = gradientOf(tr)[at : at+a.Size()]
			at += a.Size()
		}
		return loss, arrays
	}
	want, slopes := gradient(one)
	got, shared := gradient(two)
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("loss %v, want %v", got, want)
	}
	for name, g := range shared {
		_, own, ofMember := strings.Cut(name, ".")
		if !ofMember {
			own = name
		}
		for i, v := range slopes[own] { // none for scales
			if ofMember {
				v /= 2
			}
			if math.Abs(float64(g[i]-v)) > 1e-6 {
				t.Errorf("%s[%d]: gradient %v, want %v", name, i, g[i], v)
			}
		}
	}
}

// A saved model gives the scores of the graph, bit for bit, with bins and without, for any activation.
func TestSharedMembersFile(t *testing.T) {
	s := steps()
	for i, scorer := range append(networkScorers, networkScorers...) {
		c := sharing(scorer)
		if i >= len(networkScorers) {
			c.Bins, c.Transform, c.Activation, c.Hidden = 0, "minmax", ops.GELU, []int{8, 6}
		}
		m := mustRun(t, mustNew(t, c, s), Hooks{}).Model
		model := mustScorer(t, m)
		checkRanker(t, model, m.File().Transform, s.Test)
	}
}

// Runs go on from a checkpoint as if they had not stopped, on another number of cores, and have the same
// bits on any number of processes. They begin at a model of as many members.
func TestSharedMembersResume(t *testing.T) {
	s := steps()
	c := sharing(mlpScorer)
	c.Average = .9
	whole := mustRun(t, mustNew(t, c, s), Hooks{})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
	resumes(t, whole, c, 1, func(c Config) *Trainer { return mustNew(t, c, s) })
	if _, err := New(c.Plain(), Custom{Initial: whole.Model}, s); err != nil {
		t.Error(err)
	}
	c.SharedMembers = 2
	if _, err := New(c.Plain(), Custom{Initial: whole.Model}, s); err == nil || !strings.Contains(err.Error(), "3 members that share weights") {
		t.Errorf("another number of members: %v", err)
	}

	c = busy("adam")
	c.Shards, c.SharedMembers, c.Epochs = 4, 2, 2
	one := mustRun(t, mustNew(t, c, small()), Hooks{})
	_, weights := onEach(t, 2, c, Custom{})
	if !slices.Equal(weights[0], trainedWeights(one.Model)) || !slices.Equal(weights[1], weights[0]) {
		t.Error("another model on two processes")
	}
}

func TestSharedMembersNeedAHiddenLayer(t *testing.T) {
	c := sharing(mlpScorer)
	c.Hidden = nil
	if _, err := New(c.Plain(), Custom{}, steps()); err == nil || !strings.Contains(err.Error(), "no hidden layers: members that share weights need one or more") {
		t.Errorf("error %v", err)
	}
}
