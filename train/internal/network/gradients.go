package network

import (
	"context"

	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/graph"
	"github.com/plrank/plrank/train/internal/shards"
)

// gradients compute the loss of a step and its gradient.
type gradients struct {
	model     nn.Scorer
	features  int // of the model
	objective *graph.Objective
	batches   *batches.Batches
	graphs    graph.Cache[*graph.Step]
	total     []float32         // the gradient of a step
	own       [][]float32       // gradients of this rank's shards
	reduction *shards.Reduction // of the gradients of all ranks into total; nil: total is the first of own
}

// newGradients makes room for the gradients of the shards of this rank, and for their sum,
// which is the first of them where there is one process.
func newGradients(model nn.Scorer, features int, o *graph.Objective, b *batches.Batches, group mpi.Group) *gradients {
	g := &gradients{model: model, features: features, objective: o, batches: b}
	for range b.Own {
		g.own = append(g.own, make([]float32, model.Weights().Size()))
	}
	g.total = g.own[0]
	if group.Size() > 1 {
		g.total = make([]float32, len(g.total))
		g.reduction = shards.NewReduction(group, b.Division.Shards, g.own)
	}
	return g
}

// Compute computes the loss of a step, given the number of steps before it, and its gradient: the mean over the queries
// of all shards. If a rank fails, all do, in the same way.
func (g *gradients) Compute(ctx context.Context, b *batches.Step, steps uint64) (float64, error) {
	losses, err := g.ownShares(ctx, b, steps)
	if g.reduction == nil {
		shards.Fold(g.own)
		return batches.Sum(losses), err
	}
	if batches.Cancelled(ctx, err) { // while a graph was built: all ranks are told, and end
		err = nil
	}
	b.Next() // to come to the others without other work going on
	all := g.reduction.Sum(g.total, shards.Record{Failed: batches.FailureOf(err), Interrupted: ctx.Err() != nil, Losses: losses})
	if err := batches.OfAll(err, all.Failed, all.Interrupted); err != nil {
		return 0, err
	}
	return batches.Sum(all.Losses), nil
}

// ownShares computes what the shards of this rank add to the loss of a step and to its gradient.
func (g *gradients) ownShares(ctx context.Context, b *batches.Step, steps uint64) ([]float64, error) {
	losses := make([]float64, len(b.Shards))
	for i := range b.Shards {
		shard, gradient := &b.Shards[i], g.own[i]
		if len(shard.Queries) == 0 {
			clear(gradient)
			continue
		}
		loss, err := g.differentiate(ctx, &g.graphs, shard, g.batches.Division.Capacity(), steps, gradient)
		if err == nil && g.reduction != nil { // the sum would not tell whose it was
			err = batches.Clip(gradient, 0)
		}
		if err != nil {
			return losses, err
		}
		share := float64(len(shard.Queries)) / float64(len(b.Queries))
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
func (g *gradients) differentiate(ctx context.Context, graphs *graph.Cache[*graph.Step], b *batches.Shard, queries int, steps uint64,
	gradient []float32) (float64, error) {
	size := graph.SizeOf(b.Rows, &b.Packed)
	compiled, err := graphs.Get(size, func() (*graph.Step, error) {
		return graph.NewStep(ctx, g.model, g.objective, size, queries, g.features)
	})
	if err != nil {
		return 0, err
	}
	// What is random is drawn for each shard by itself.
	draw := steps*uint64(g.batches.Division.Shards) + uint64(b.Number)
	nn.SetStep(g.model, draw)
	g.objective.SetStep(draw)
	return batches.FiniteLoss(compiled, &b.Batch, gradient)
}

// Blame returns those queries of a batch of this rank whose loss or gradient fails by itself.
func (g *gradients) Blame(ctx context.Context, b *batches.Step, steps uint64) (queries []int, err error) {
	var single graph.Cache[*graph.Step] // of one query
	defer single.Close()
	gradient := make([]float32, len(g.total))
	return batches.Failing(ctx, b.Shards, func(alone *batches.Shard) ([]float32, error) {
		g.batches.Pack(alone, 1)
		_, err := g.differentiate(ctx, &single, alone, 1, steps, gradient)
		return gradient, err
	})
}
