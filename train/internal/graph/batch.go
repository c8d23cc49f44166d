package graph

import (
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
)

// An Objective is what stays the same in the graphs of a run.
type Objective struct {
	Loss     losses.Func
	Settings losses.Batch // with samplers, discounts and the highest grade, and without nodes

	Groups, DocumentWeights, QueryWeights bool // documents have groups; documents and queries have weights
}

// ExposureSamples is the number of rankings that exposure is estimated from, that
// of Oosterhuis (2021), section 7.
const ExposureSamples = 1000

// SetStep makes the next run draw what belongs to that step.
func (o *Objective) SetStep(step uint64) {
	o.Settings.Sampler.SetStep(step)
	o.Settings.Exposure.SetStep(step)
}

// A Batch is what a [Step] runs on.
type Batch struct {
	Rows   int // capacity
	Packed datasets.Batch
	Gains  []float32 // [rows]
}

// A BatchError tells that the loss of a batch, or its gradient, is not finite or cannot be
// computed. The weights are still those of the step before.
type BatchError struct{ error }

// Unsound makes a BatchError of an error.
func Unsound(err error) *BatchError { return &BatchError{err} }

// Unwrap is the error itself.
func (e *BatchError) Unwrap() error { return e.error }
