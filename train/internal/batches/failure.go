package batches

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/viterin/vek/vek32"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/plrank/plrank/train/internal/graph"
	"github.com/plrank/plrank/train/internal/shards"
)

var (
	ErrInterrupted = errors.New("a rank was interrupted") // the end of training on all ranks
	ErrElsewhere   = errors.New("an error of another rank")
)

// OfAll returns the error of a step that this rank ends with, given its own, and the worst of all ranks.
func OfAll(own error, failed shards.Failure, interrupted bool) error {
	switch {
	case failed > FailureOf(own) && failed == shards.OfBatch:
		return graph.NewBatchError(ErrElsewhere)
	case failed > FailureOf(own):
		return ErrElsewhere
	case failed == shards.NoFailure && interrupted:
		return ErrInterrupted
	}
	return own
}

// FailureOf is what the other ranks are told of an error.
func FailureOf(err error) shards.Failure {
	switch {
	case err == nil:
		return shards.NoFailure
	case errors.Is(err, graph.ErrBatch):
		return shards.OfBatch
	}
	return shards.OfRank
}

// FiniteLoss computes the loss of a batch and its gradient.
func FiniteLoss(compiled *graph.Step, b *graph.Batch, gradient []float32) (float64, error) {
	loss, err := compiled.Loss(b, gradient)
	if err == nil && !Finite(loss) {
		err = graph.NewBatchError(fmt.Errorf("the loss is %v", loss))
	}
	return loss, err
}

// Failing returns the queries of batches whose loss or gradient, which differentiate computes for a batch of one query, fails by
// itself.
func Failing(ctx context.Context, batches []Shard, differentiate func(alone *Shard) (gradient []float32, err error)) (queries []int,
	err error) {
	for i := range batches {
		for _, q := range batches[i].Queries {
			gradient, failed := differentiate(&Shard{Number: batches[i].Number, Queries: []int{q}})
			if Cancelled(ctx, failed) {
				return nil, failed
			}
			if failed == nil {
				failed = Clip(gradient, 0)
			}
			if failed != nil {
				queries = append(queries, q)
			}
		}
	}
	return queries, nil
}

// Cancelled reports whether an error is the error of a context that has ended.
func Cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// Clip scales a gradient down to the norm given; 0: none. It returns a [graph.BatchError] if the norm is not finite.
func Clip(g []float32, most float64) error {
	norm := Norm(g)
	if !Finite(norm) {
		return graph.NewBatchError(fmt.Errorf("the norm of the gradient is %v", norm))
	}
	if most > 0 && norm > most {
		for i := range g {
			g[i] *= float32(most / norm)
		}
	}
	return nil
}

// Norm returns the norm of x.
func Norm(x []float32) float64 {
	v := blas32.Vector{N: len(x), Inc: 1, Data: x}
	return math.Sqrt(blas32.DDot(v, v))
}

// Finite reports whether v is a finite number.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// AllFinite reports whether all numbers are finite.
func AllFinite(v []float32) bool {
	sum := vek32.Sum(v) // finite only if all are, but it may be too large itself
	return sum-sum == 0 || !slices.ContainsFunc(v, func(x float32) bool { return x-x != 0 })
}

// Sum adds numbers up in their order.
func Sum(x []float64) (total float64) {
	for _, v := range x {
		total += v
	}
	return total
}
