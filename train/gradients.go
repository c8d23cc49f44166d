package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/graph"
	"github.com/plrank/plrank/train/internal/shards"
)

// gradients compute the loss of a step and its gradient.
type gradients struct {
	model     nn.Scorer
	features  int // of the model
	objective *graph.Objective
	division  shards.Division
	graphs    graph.Cache[*graph.Step]
	total     []float32         // the gradient of a step
	own       [][]float32       // gradients of this rank's shards
	reduction *shards.Reduction // of the gradients of all ranks into total; nil: total is the first of own
}

// newGradients makes room for the gradients of the shards of this rank, and for their sum,
// which is the first of them where there is one process.
func newGradients(model nn.Scorer, features int, o *graph.Objective, division shards.Division, group mpi.Group) *gradients {
	g := &gradients{model: model, features: features, objective: o, division: division}
	for range division.Own() {
		g.own = append(g.own, make([]float32, model.Weights().Size()))
	}
	g.total = g.own[0]
	if group.Size() > 1 {
		g.total = make([]float32, len(g.total))
		g.reduction = shards.NewReduction(group, division.Shards, g.own)
	}
	return g
}

var (
	errInterrupted = errors.New("a rank was interrupted") // the end of training on all ranks
	errElsewhere   = errors.New("an error of another rank")
)

// compute computes the loss of a step, given the number of steps before it, and its gradient: the mean over the queries
// of all shards. If a rank fails, all do, in the same way.
func (g *gradients) compute(ctx context.Context, b *stepBatch, steps uint64) (float64, error) {
	losses, err := g.ownShares(ctx, b, steps)
	if g.reduction == nil {
		shards.Fold(g.own)
		return sum(losses), err
	}
	if cancelled(ctx, err) { // while a graph was built: all ranks are told, and end
		err = nil
	}
	b.next() // to come to the others without other work going on
	all := g.reduction.Sum(g.total, shards.Record{Failed: failureOf(err), Interrupted: ctx.Err() != nil, Losses: losses})
	if err := ofAll(err, all.Failed, all.Interrupted); err != nil {
		return 0, err
	}
	return sum(all.Losses), nil
}

// ofAll returns the error of a step that this rank ends with, given its own, and the worst of all ranks.
func ofAll(own error, failed shards.Failure, interrupted bool) error {
	switch {
	case failed > failureOf(own) && failed == shards.OfBatch:
		return graph.NewBatchError(errElsewhere)
	case failed > failureOf(own):
		return errElsewhere
	case failed == shards.NoFailure && interrupted:
		return errInterrupted
	}
	return own
}

// Skippable reports whether an error of [Trainer.Run] is about a batch that would have been left out with Config.OnNaN
// "skip". A weight that became infinite is not: all batches after it are lost.
func Skippable(err error) bool {
	var of *graph.BatchError
	return errors.As(err, &of)
}

// failureOf is what the other ranks are told of an error.
func failureOf(err error) shards.Failure {
	switch {
	case err == nil:
		return shards.NoFailure
	case Skippable(err):
		return shards.OfBatch
	}
	return shards.OfRank
}

// ownShares computes what the shards of this rank add to the loss of a step and to its gradient.
func (g *gradients) ownShares(ctx context.Context, b *stepBatch, steps uint64) ([]float64, error) {
	losses := make([]float64, len(b.shards))
	for i := range b.shards {
		of, gradient := &b.shards[i], g.own[i]
		if len(of.queries) == 0 {
			clear(gradient)
			continue
		}
		loss, err := g.differentiate(ctx, &g.graphs, of, g.division.Capacity(), steps, gradient)
		if err == nil && g.reduction != nil { // the sum would not tell whose it was
			err = clip(gradient, 0)
		}
		if err != nil {
			return losses, err
		}
		share := float64(len(of.queries)) / float64(len(b.queries))
		losses[i] = share * loss
		if share < 1 {
			for k := range gradient {
				gradient[k] *= float32(share)
			}
		}
	}
	return losses, nil
}

// differentiate computes the loss of a batch, for graphs of that many queries, and its gradient.
func (g *gradients) differentiate(ctx context.Context, graphs *graph.Cache[*graph.Step], b *shardBatch, queries int, steps uint64, gradient []float32) (float64, error) {
	compiled, err := graphs.Get(b.Rows, func() (*graph.Step, error) {
		return graph.NewStep(ctx, g.model, g.objective, b.Rows, queries, g.features)
	})
	if err != nil {
		return 0, err
	}
	// What is random is drawn for each shard by itself.
	draw := steps*uint64(g.division.Shards) + uint64(b.shard)
	nn.SetStep(g.model, draw)
	g.objective.SetStep(draw)
	return finiteLoss(compiled, &b.Batch, gradient)
}

// finiteLoss computes the loss of a batch and its gradient.
func finiteLoss(compiled *graph.Step, b *graph.Batch, gradient []float32) (float64, error) {
	loss, err := compiled.Loss(b, gradient)
	if err == nil && !finite(loss) {
		err = graph.NewBatchError(fmt.Errorf("the loss is %v", loss))
	}
	return loss, err
}

// blame gives those queries of a batch of this rank whose loss or gradient fails by itself.
func (g *gradients) blame(ctx context.Context, b *stepBatch, pack func(*shardBatch, int), steps uint64) (queries []int, err error) {
	var single graph.Cache[*graph.Step] // of one query
	defer single.Close()
	gradient := make([]float32, len(g.total))
	return failing(ctx, b.shards, func(alone *shardBatch) ([]float32, error) {
		pack(alone, 1)
		_, err := g.differentiate(ctx, &single, alone, 1, steps, gradient)
		return gradient, err
	})
}

// failing returns the queries of batches whose loss or gradient, which differentiate computes for a batch of one query, fails by
// itself.
func failing(ctx context.Context, batches []shardBatch, differentiate func(alone *shardBatch) (gradient []float32, err error)) (queries []int, err error) {
	for i := range batches {
		for _, q := range batches[i].queries {
			gradient, failed := differentiate(&shardBatch{shard: batches[i].shard, queries: []int{q}})
			if cancelled(ctx, failed) {
				return nil, failed
			}
			if failed == nil {
				failed = clip(gradient, 0)
			}
			if failed != nil {
				queries = append(queries, q)
			}
		}
	}
	return queries, nil
}

func sum(x []float64) (total float64) {
	for _, v := range x {
		total += v
	}
	return total
}
