package train

import (
	"context"

	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/batches"
)

// A learner is the model being trained. A step moves the weights of a network along the gradient of a batch, or adds a tree to a
// forest along the derivatives of the loss by the scores of all training documents. Loop, validation, checkpoints and hooks use
// these methods alone.
type learner interface {
	scoring // as it is evaluated after an epoch

	// Numbers returns what steps change, and its gradient: the memory of both, as Step has it; what their average is written to, nil if
	// none is evaluated; and the arrays that divide each.
	Numbers() (weights, gradient, averaged []float32, arrays []nn.Array)
	// Compute computes the loss of a step, given the number of steps before it, and its gradient. If a rank fails, all do.
	Compute(ctx context.Context, b *batches.Step, steps uint64) (float64, error)
	// Blame returns those queries of a batch of this rank whose loss or gradient fails by itself.
	Blame(ctx context.Context, b *batches.Step, steps uint64) (queries []int, err error)
	// Update makes the step of a number in the epoch, and in the run, along the gradient.
	Update(ofEpoch int, number uint64, rate float64) error

	Parts() []batches.Part // that are evaluated and kept by themselves before the whole; nil: none
	KeepBest()             // makes the model that is evaluated the best one
	File(f *ranker.File, best bool) (ranker.Maker, error)
	Kind() (name string, settings any)
	String() string // its architecture
	State() (arrays map[string][]float32, values map[string]any)
	Close() // gives memory back that is made again if it is needed
}
