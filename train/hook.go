package train

// A hook takes part in a run. Its methods are the moments of a run, in their order; at each of
// them the loop calls the hooks in the order of newHooks. A hook embeds idle, and has the methods
// of the moments that it needs.
type hook interface {
	begin() error         // the first step is about to be made, or the first after a checkpoint
	plan(*step)           // a step is about to be made: its learning rate can change
	gradient(*step) error // its gradient is there, and can change; the weights are still the old ones
	tolerates(error) bool // its gradient, or a hook, failed with this error: true leaves the batch out
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

// A state is what a checkpoint keeps: the memory itself, which is written to where a run goes on.
type state struct {
	arrays map[string][]float32
	values map[string]any // pointers to what JSON can hold
}

// idle is a hook that does nothing.
type idle struct{}

func (idle) begin() error          { return nil }
func (idle) plan(*step)            {}
func (idle) gradient(*step) error  { return nil }
func (idle) tolerates(error) bool  { return false }
func (idle) stepped(*step) error   { return nil }
func (idle) evaluate(*Epoch) error { return nil }
func (idle) finished(Epoch) error  { return nil }
func (idle) enough() bool          { return false }
func (idle) state() state          { return state{} }
