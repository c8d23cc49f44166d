package train

import "math"

// An Epoch is a line of the history of training.
type Epoch struct {
	Epoch        int     `json:"epoch"`             // from 1
	Steps        uint64  `json:"steps"`             // made since the beginning
	Samples      int     `json:"samples"`           // N of this epoch, for losses that sample
	LearningRate float64 `json:"learningRate"`      // of the last step
	Loss         float64 `json:"loss"`              // mean over the training queries, at the time of their step, but for those of skipped batches
	Skipped      int     `json:"skipped,omitempty"` // batches, see Config.OnNaN
	Train        Values  `json:"train,omitempty"`   // with Config.EvaluateTrain
	Vali         Values  `json:"vali"`
	Test         Values  `json:"test,omitempty"` // with Config.EvaluateTest
	Best         bool    `json:"best"`           // the validation value is better than in all epochs before, and than that of the initial model
	Seconds      float64 `json:"seconds"`        // for training and evaluation; times are all here that may differ from run to run
	TrainSeconds float64 `json:"trainSeconds"`   // for the steps alone, and the packing of their batches
}

// A Step is how far an epoch has come.
type Step struct {
	Epoch       int // from 1
	Step, Steps int // done, and in all, of this epoch
	Loss        float64
	Skipped     error // why the batch was skipped, see Config.OnNaN; nil: it was not
}

// A history is the hook that keeps the lines of epochs.
type history struct {
	idle
	metric  criterion
	epochs  []Epoch
	initial Values // of the initial model on the validation split; nil: there is none
}

func (h *history) finished(e Epoch) error {
	h.epochs = append(h.epochs, e)
	return nil
}

func (h *history) state() state {
	return state{values: map[string]any{"history": &h.epochs, "initial": &h.initial}}
}

// best is the index of the best epoch, −1 if there is none.
func (h *history) best() int {
	for i := len(h.epochs) - 1; i >= 0; i-- {
		if h.epochs[i].Best {
			return i
		}
	}
	return -1
}

// bestValue is the best validation value until now, NaN if there is none.
func (h *history) bestValue() float64 {
	of := h.initial
	if i := h.best(); i >= 0 {
		of = h.epochs[i].Vali
	}
	if v, ok := of[h.metric.name]; ok {
		return float64(v)
	}
	return math.NaN()
}

// patience is the hook that ends a run after Config.Epochs, or where Config.Patience epochs in a
// row were not better than the best one; 0: never for that.
type patience struct {
	idle
	history          *history
	epochs, patience int
}

func (p *patience) enough() bool {
	done := len(p.history.epochs)
	return done >= p.epochs || p.patience > 0 && done-1-p.history.best() >= p.patience
}
