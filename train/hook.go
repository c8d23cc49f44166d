package train

import (
	"errors"
	"fmt"

	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/nn"
)

// A Hook takes part in a run. Learning rates, penalties, clipping, the average of the weights, validation, history and
// patience are hooks; [Custom].Hooks adds custom ones. Its methods are the moments of a run, in their order. A hook embeds
// [NopHook] and has the methods of the moments that it needs, so that a new moment breaks no hook.
//
// At each moment the hooks are called in one order; only AfterUpdate has the reverse order, so that hooks nest: what one
// changes in Gradient it can restore in AfterUpdate, after the hooks within it. The order is
//
//	history, average of the weights, weights must be finite, targets of exposure, validation, learning rate,
//	L2 penalty, Custom.Hooks as they are listed, clipping, patience, Hooks of Run
//
// A custom hook therefore sees the gradient with the L2 penalty and before it is clipped, and the new weights before
// they are checked and averaged; in AfterEpoch the history has the epoch already.
//
// An error of a hook ends the run. If several processes train together, each has its own hooks, which must change the Step in the
// same way on all ranks, and agree on Done. An error on one rank becomes an error on all.
type Hook interface {
	// Prepare is called once, by New, with the arrays of the model's weights. A hook makes the arrays of its State here.
	Prepare([]nn.Array) error
	// Begin is called by Run before the first step, also where Run goes on from a checkpoint.
	Begin() error

	// BeforeStep can change the learning rate of the step. The gradient is not computed yet.
	BeforeStep(*Step) error
	// Gradient can change the gradient. The weights are still the old ones.
	Gradient(*Step) error
	// AfterUpdate can change the weights, which the optimizer has changed. Hooks are called in reverse order.
	AfterUpdate(*Step) error
	// AfterStep is called when all of the step is done, also for a batch that was skipped, which has no Gradient or AfterUpdate.
	AfterStep(*Step) error

	// Evaluate is called after the last step of an epoch and completes the line of the history.
	// Custom hooks find the values of the validation in it.
	Evaluate(*Epoch) error
	// AfterEpoch is called when all of the epoch is done.
	AfterEpoch(Epoch) error
	// Done reports whether the run ends here. It is asked between epochs, and by Trainer.Done at any time.
	Done() bool

	// State returns what the hook remembers from epoch to epoch, which a checkpoint keeps.
	State() State
}

// NopHook is a Hook that does nothing, for others to embed.
type NopHook struct{}

// Prepare returns nil.
func (NopHook) Prepare([]nn.Array) error { return nil }

// Begin returns nil.
func (NopHook) Begin() error { return nil }

// BeforeStep returns nil.
func (NopHook) BeforeStep(*Step) error { return nil }

// Gradient returns nil.
func (NopHook) Gradient(*Step) error { return nil }

// AfterUpdate returns nil.
func (NopHook) AfterUpdate(*Step) error { return nil }

// AfterStep returns nil.
func (NopHook) AfterStep(*Step) error { return nil }

// Evaluate returns nil.
func (NopHook) Evaluate(*Epoch) error { return nil }

// AfterEpoch returns nil.
func (NopHook) AfterEpoch(Epoch) error { return nil }

// Done returns false.
func (NopHook) Done() bool { return false }

// State returns the zero State: nothing.
func (NopHook) State() State { return State{} }

// A Step is a step of a run, as hooks see it.
type Step struct {
	Epoch       int     // from 1
	Step, Steps int     // the number of the step in its epoch, from 1, and of how many
	Number      uint64  // of the step in the run, from 1
	Rate        float64 // learning rate
	Loss        float64 // mean over the queries of the batch, from Gradient on; 0 of a skipped batch
	Skipped     error   // why the batch was skipped, see Config.OnNaN; nil: it was not

	// Weights and Gradient are flat: the arrays that Prepare gets, one after another. They are the memory of the run, to be used
	// until the method returns. Gradient is set from the moment Gradient on. For a forest Weights are the scores of the training
	// documents, without base scores, and Gradient is the derivative of the loss by these scores; a step grows one tree.
	Weights, Gradient []float32
}

// An Epoch is a line of the history of training.
type Epoch struct {
	Epoch        int     `json:"epoch"`           // from 1
	Model        int     `json:"model,omitempty"` // of a mixture, which this epoch trained, from 1
	Steps        uint64  `json:"steps"`           // made since the beginning
	Samples      int     `json:"samples"`         // N of the last step, for losses that sample
	LearningRate float64 `json:"learningRate"`    // of the last step
	// mean over the training queries of the epoch at the time of their step, without skipped batches; 0 if all were skipped
	Loss    float64 `json:"loss"`
	Skipped int     `json:"skipped,omitempty"` // batches, see Config.OnNaN
	Train   Values  `json:"train,omitempty"`   // with Config.EvaluateTrain
	// like Train and Test of the model, or of the ensemble of its networks after their best epochs until now, see Config.Members
	Vali    Values   `json:"vali"`
	Test    Values   `json:"test,omitempty"`    // with Config.EvaluateTest
	Targets []Target `json:"targets,omitempty"` // of Config.AtLeast
	// the validation value is better than in all epochs before, and than the initial model's; with Config.AtLeast, epochs that meet the
	// targets are better than those that do not, and than the initial model
	Best         bool    `json:"best"`
	Seconds      float64 `json:"seconds"`      // for training and evaluation; only times may differ from run to run
	TrainSeconds float64 `json:"trainSeconds"` // for the steps alone, and the packing of their batches
}

// customHook is one of Custom.Hooks. callHook adds its type to errors, and its state is kept under names of its own.
type customHook struct {
	Hook
	number int // from 1
	group  mpi.Group
}

// hookError is an error of a custom hook that all ranks have.
type hookError struct {
	hook string
	err  error
}

func (e *hookError) Error() string { return fmt.Sprintf("hook %s: %v", e.hook, e.err) }
func (e *hookError) Unwrap() error { return e.err }

// ofHook adds to an error of a custom hook where in the run it happened; others have that already.
func ofHook(where string, err error) error {
	if hook := (*hookError)(nil); errors.As(err, &hook) {
		return fmt.Errorf("train: %s%w", where, err)
	}
	return err
}

// callHook calls f with a hook. All ranks get the error of a custom one.
func callHook(h Hook, f func(Hook) error) error {
	c, custom := h.(*customHook)
	if !custom {
		return f(h)
	}
	if err := mpi.Agree(c.group, f(c.Hook)); err != nil {
		return &hookError{fmt.Sprintf("%T", c.Hook), err}
	}
	return nil
}

func (c *customHook) State() State {
	s := c.Hook.State()
	return State{Arrays: renamed(s.Arrays, c.number), Values: renamed(s.Values, c.number)}
}

func renamed[V any](values map[string]V, hook int) map[string]V {
	named := map[string]V{}
	for name, v := range values {
		named[fmt.Sprintf("hook%d-%s", hook, name)] = v
	}
	return named
}
