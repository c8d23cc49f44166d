package train

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
