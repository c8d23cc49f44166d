package train

import "github.com/plrank/plrank/nn"

// newHooks are the hooks of a run, in the order in which the loop calls them at each moment. The
// weights that are evaluated are averaged ones with Config.Average.
func newHooks(c Config, s schedule, arrays []nn.Array, evaluated []float32, v *validation) []hook {
	var list []hook
	for _, row := range []struct {
		wanted bool
		hook   hook
	}{
		{true, &rates{Optimization: c.Optimization, schedule: s, history: v.history}},
		{c.L2 != 0, &l2{rate: float32(c.L2), arrays: arrays}},
		{true, &clipping{most: c.Clip}},
		{c.GroupLasso != 0, &groupLasso{penalty: c.GroupLasso, arrays: arrays}},
		{true, finiteWeights{}},
		{c.Average != 0, &average{beta: c.Average, averaged: evaluated}},
		{true, v},
		{true, v.history},
		{true, &patience{history: v.history, epochs: c.Epochs, patience: c.Patience}},
	} {
		if row.wanted {
			list = append(list, row.hook)
		}
	}
	return list
}

// A hook takes part in a run. Its methods are the moments of a run, in their order; at each of
// them the loop calls the hooks in the order of newHooks. A hook embeds idle, and has the methods
// of the moments that it needs.
type hook interface {
	begin() error         // the first step is about to be made, or the first after a checkpoint
	plan(*step)           // a step is about to be made: its learning rate can change
	gradient(*step) error // its gradient is there, and can change; the weights are still the old ones
	stepped(*step) error  // the optimizer has changed the weights
	evaluate(*Epoch) error
	finished(Epoch) error // an epoch is evaluated
	enough() bool         // true ends the training after this epoch

	state() state // what a checkpoint keeps
}

// A step is a step of a run, as hooks see it.
type step struct {
	epoch        int    // from 0
	index, steps int    // in this epoch: from 0, and how many there are
	number       uint64 // in the run, from 1
	rate         float64

	weights, gradient []float32
}

// idle is a hook that does nothing.
type idle struct{}

func (idle) begin() error          { return nil }
func (idle) plan(*step)            {}
func (idle) gradient(*step) error  { return nil }
func (idle) stepped(*step) error   { return nil }
func (idle) evaluate(*Epoch) error { return nil }
func (idle) finished(Epoch) error  { return nil }
func (idle) enough() bool          { return false }
func (idle) state() state          { return state{} }
