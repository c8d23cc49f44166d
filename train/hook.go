package train

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

// An Epoch is a line of the history of training.
type Epoch struct {
	Epoch        int     `json:"epoch"`             // from 1
	Steps        uint64  `json:"steps"`             // made since the beginning
	Samples      int     `json:"samples"`           // N of the last step, for losses that sample
	LearningRate float64 `json:"learningRate"`      // of the last step
	Loss         float64 `json:"loss"`              // mean over the training queries of the epoch, at the time of their step, but for those of skipped batches; 0 where all were skipped
	Skipped      int     `json:"skipped,omitempty"` // batches, see Config.OnNaN
	Train        Values  `json:"train,omitempty"`   // with Config.EvaluateTrain
	Vali         Values  `json:"vali"`              // as Train and Test, of the model, or of the ensemble of its networks after their best epochs until now, see Config.Members
	Test         Values  `json:"test,omitempty"`    // with Config.EvaluateTest
	Best         bool    `json:"best"`              // the validation value is better than in all epochs before, and than that of the initial model
	Seconds      float64 `json:"seconds"`           // for training and evaluation; times are all here that may differ from run to run
	TrainSeconds float64 `json:"trainSeconds"`      // for the steps alone, and the packing of their batches
}

// A Step is how far an epoch has come.
type Step struct {
	Epoch       int // from 1
	Step, Steps int // done, and in all, of this epoch
	Loss        float64
	Skipped     error // why the batch was skipped, see Config.OnNaN; nil: it was not
}
