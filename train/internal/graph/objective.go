package graph

import (
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
)

// An Objective is what stays the same in the graphs of a run.
type Objective struct {
	Loss         losses.Func
	Sampler      *ops.Sampler // for the gradient
	Exposure     *ops.Sampler // for the exposure of fairness losses
	Discounts    []float64
	HighestGrade float64
	Grouped      bool // documents have groups
	Logged       bool // and an exposure in a log

	DocumentWeights, QueryWeights bool // documents and queries have them
}

// ExposureSamples is the number of rankings that exposure is estimated from, that
// of Oosterhuis (2021), section 7.
const ExposureSamples = 1000

// SetStep makes the next run draw what belongs to that step.
func (o *Objective) SetStep(step uint64) {
	o.Sampler.SetStep(step)
	o.Exposure.SetStep(step)
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
