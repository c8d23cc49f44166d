package train

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/train/internal/network"
)

// forgetful is an optimizer that leaves some steps out.
type forgetful struct {
	Optimizer
	skipped map[uint64]bool
}

func (o forgetful) Step(w, g []float32, learningRate float64, n uint64) {
	if !o.skipped[n] {
		o.Optimizer.Step(w, g, learningRate, n)
	}
}

// A batch that is skipped leaves all others as they are: the weights are, bit for bit,
// the ones of a run in which the optimizer leaves out the same steps; and the run is the
// same after it was resumed.
func TestSkippedBatches(t *testing.T) {
	bad, good := tinySplits(), tinySplits()
	for i := bad.Train.Offsets[3]; i < bad.Train.Offsets[4]; i++ {
		bad.Train.Row(i)[0] *= 3e38 // the scores of query q4 overflow
	}
	c := Config{Inputs: Inputs{Transform: "none"}, Model: Model{Hidden: []int{16}, Activation: ops.ReLU, Dropout: 0.1}, Optimization: Optimization{Optimizer: "adam", Epochs: 3, OnNaN: "skip"}}
	large := func(tr *Trainer) *Trainer {
		for i := range networkOf(tr).Weights {
			networkOf(tr).Weights[i] = 2
		}
		return tr
	}
	skipped := map[uint64]bool{}
	tr := large(mustNew(t, c, bad))
	r := mustRun(t, tr, Hooks{Step: func(s Step) {
		if s.Skipped != nil {
			skipped[tr.loop.steps] = true
			if !strings.Contains(s.Skipped.Error(), "query q4 of train: ") {
				t.Errorf("error %v", s.Skipped)
			}
		}
	}})
	if len(skipped) != c.Epochs {
		t.Fatalf("skipped steps %v, want one an epoch", skipped)
	}
	for _, e := range r.History {
		if e.Skipped != 1 || math.IsNaN(e.Loss) || math.IsInf(e.Loss, 0) {
			t.Errorf("epoch %d: %d skipped, loss %v", e.Epoch, e.Skipped, e.Loss)
		}
	}

	c.Optimizer = "forgetful"
	reference, err := New(c.Plain(), Custom{Optimizer: func(weights int) Optimizer {
		return forgetful{network.Optimizers["adam"](0, 0, []nn.Array{{Name: "w", Shape: []int{weights}}}), skipped}
	}}, good)
	if err != nil {
		t.Fatal(err)
	}
	losses := map[int]float64{} // mean of an epoch, without the skipped steps
	mustRun(t, large(reference), Hooks{Step: func(s Step) {
		if !skipped[reference.loop.steps] {
			losses[s.Epoch] += s.Loss / float64(s.Steps-1)
		}
	}})
	if !slices.Equal(networkOf(tr).Weights, networkOf(reference).Weights) {
		t.Error("the weights are not the ones of the other batches alone")
	}
	for _, e := range r.History {
		if want := losses[e.Epoch]; math.Abs(e.Loss-want) > 1e-12*math.Abs(want) {
			t.Errorf("epoch %d: loss %v, want %v", e.Epoch, e.Loss, want)
		}
	}
}

// An epoch that is a part of a pass may have no batch but skipped ones: the run goes on with the others of the pass, to the
// weights of a run whose epochs are passes. Where all of a pass are skipped, it ends, as without parts.
func TestEpochsOfSkippedBatches(t *testing.T) {
	s := tinySplits()
	for i := s.Train.Offsets[3]; i < s.Train.Offsets[4]; i++ {
		s.Train.Row(i)[0] *= 3e38 // the scores of query q4 overflow
	}
	run := func(parts int) (*Trainer, *Result, error) {
		c := Config{Inputs: Inputs{Transform: "none"}, Model: Model{Hidden: []int{16}, Activation: ops.ReLU}, Optimization: Optimization{Optimizer: "adam", Epochs: 2 * parts, EpochsPerPass: parts, OnNaN: "skip"}}
		tr := mustNew(t, c, s)
		for i := range networkOf(tr).Weights {
			networkOf(tr).Weights[i] = 2
		}
		r, err := tr.Run(ctx, Hooks{})
		return tr, r, err
	}
	whole, _, err := run(1)
	if err != nil {
		t.Fatal(err)
	}
	pass := len(whole.data.Queries)
	tr, r, err := run(pass)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(networkOf(tr).Weights, networkOf(whole).Weights) {
		t.Error("other weights than with passes for epochs")
	}
	skipped := 0
	for _, e := range r.History {
		skipped += e.Skipped
		if e.Skipped == 1 && e.Loss != 0 || math.IsNaN(e.Loss) {
			t.Errorf("epoch %d: %d skipped, loss %v", e.Epoch, e.Skipped, e.Loss)
		}
	}
	if skipped != 2 {
		t.Errorf("%d skipped batches, want one in each pass", skipped)
	}
	if _, err := tr.Checkpoint(); err != nil {
		t.Error(err)
	}
	for i := range s.Train.Features {
		s.Train.Features[i] = 1e38 * float32(1+i%3*i%2)
	}
	tr, _, err = run(pass)
	if err == nil || !strings.Contains(err.Error(), "batches were skipped: ") || len(tr.History()) != pass-1 {
		t.Errorf("%d epochs, error %v", len(tr.History()), err)
	}
}

func TestNothingButSkippedBatches(t *testing.T) {
	s := tinySplits()
	for i := range s.Train.Features {
		s.Train.Features[i] = 1e38 * float32(1+i%3*i%2)
	}
	c := Config{Inputs: Inputs{Transform: "none"}, Model: Model{Hidden: []int{16}, Activation: ops.ReLU}, Optimization: Optimization{Epochs: 1, OnNaN: "skip"}}
	tr := mustNew(t, c, s)
	for i := range networkOf(tr).Weights {
		networkOf(tr).Weights[i] = 2
	}
	if _, err := tr.Run(ctx, Hooks{}); err == nil || !strings.Contains(err.Error(), "batches were skipped: ") {
		t.Errorf("error %v", err)
	}
	// Where the weights themselves are lost, there is nothing to skip.
	_, err := Run(ctx, Config{Optimization: Optimization{LearningRate: 1e39, OnNaN: "skip"}}.Plain(), tinySplits(), Hooks{})
	if err == nil || errors.Is(err, ErrBatch) {
		t.Errorf("a huge learning rate: %v", err)
	}
	if err := (Config{Optimization: Optimization{OnNaN: "skp"}}).Plain().Check(); err == nil || !strings.Contains(err.Error(), "skip") {
		t.Errorf("an unknown way: %v", err)
	}
}
