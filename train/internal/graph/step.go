// Package graph builds and runs the graphs of a training run: from a batch to its loss and the
// gradient of that, and from documents to their scores.
package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/nn"
)

// A Step computes the loss of a batch and its gradient, for one number of rows.
type Step struct {
	G.VM
	features
	batch   losses.Batch // without scores
	base    *G.Node      // nil: there are no base scores
	members int
	loss    *G.Value // apart: the machine points to it, and would hold itself, and never be freed, for it has a finalizer
	weights G.Nodes
	grads   G.Nodes // of the weights
}

// NewStep builds the graph for batches of that size and number of queries,
// with documents of that width. It ends early with the error of the context.
func NewStep(ctx context.Context, model nn.Scorer, o *Objective, size Size, queries, width int) (*Step, error) {
	return newStep(ctx, o, size.Rows, queries, func(s *Step, g *G.ExprGraph) (G.Nodes, error) {
		s.features, s.weights = newFeatures(g, size, width), model.Weights().Nodes(g)
		members, err := nn.BuildMembers(model, s.input(s.batch.Lists.Offsets, s.weights), nn.Train)
		if err == nil && slices.Contains(members, nil) {
			err = errors.New("the model gives no scores")
		}
		return members, err
	})
}

// NewLoss returns a Step of one query whose scores take the place of its features, and which has no
// gradient.
func NewLoss(o *Objective, rows int) (*Step, error) {
	return newStep(context.Background(), o, rows, 1, func(s *Step, g *G.ExprGraph) (G.Nodes, error) {
		s.x = vector(g, tensor.Float32, rows, "scores")
		return G.Nodes{s.x}, nil
	})
}

// NewScoreGradient is [NewStep] for scores that take the place of the features, and of the weights: the gradient is by
// the scores, for every row one.
func NewScoreGradient(ctx context.Context, o *Objective, rows, queries int) (*Step, error) {
	return newStep(ctx, o, rows, queries, func(s *Step, g *G.ExprGraph) (G.Nodes, error) {
		s.x = vector(g, tensor.Float32, rows, "scores")
		s.weights = G.Nodes{s.x}
		return s.weights, nil
	})
}

// newStep builds a graph of the loss of scores, one node for each member.
func newStep(ctx context.Context, o *Objective, rows, queries int, scores func(*Step, *G.ExprGraph) (G.Nodes, error)) (*Step, error) {
	s := &Step{batch: o.Settings, loss: new(G.Value)}
	var err error
	s.VM, err = newMachine(ctx, func(g *G.ExprGraph) (*G.Node, G.Nodes, error) {
		for _, c := range s.columns(o.Data, new(Batch), rows, queries) {
			if c.there {
				*c.node = vector(g, c.dtype, c.length, c.name)
			}
		}
		members, err := scores(s, g)
		if err != nil {
			return nil, nil, err
		}
		s.members = len(members)
		cost, err := s.cost(ctx, members, o.Loss)
		if err != nil {
			return nil, nil, err
		}
		if s.weights != nil {
			if s.grads, err = G.Grad(cost, s.weights...); err != nil {
				return nil, nil, fmt.Errorf("the loss cannot be differentiated by all arrays of the model's weights: %w", err)
			}
		}
		// A copy of the loss: its own value may be overwritten by the backward pass.
		return s.x, append(G.Nodes{G.Read(cost, s.loss)}, s.grads...), nil
	})
	return s, err
}

// A column is an input of a loss.
type column struct {
	node   **G.Node
	there  bool // it is not optional, or the dataset has it
	values any  // of the batch
	name   string
	dtype  tensor.Dtype
	length int
}

// columns lists all inputs of a loss, without the inputs of the scores, of batches of a dataset.
func (s *Step) columns(d *datasets.Dataset, b *Batch, rows, queries int) []column {
	in, p := &s.batch, &b.Packed
	return []column{
		{&in.Gains, true, b.Gains, "gains", tensor.Float32, rows},
		{&in.Labels, true, p.Labels, "labels", tensor.Float32, rows},
		{&in.Lists.Offsets, true, p.Offsets, "offsets", tensor.Int, queries + 1},
		{&in.Groups, d.Groups != nil, p.Groups, "groups", tensor.Int, rows},
		{&in.Intents, d.Intents != nil, p.Intents, "intents", tensor.Int, rows * (len(d.Intents) / max(1, d.Rows()))},
		{&in.Logged, d.Logged != nil, p.Logged, "logged exposures", tensor.Float32, rows},
		{&in.LoggedScores, d.LoggedScores != nil, p.LoggedScores, "logged scores", tensor.Float32, rows},
		{&in.DocumentWeights, d.Weights != nil, p.Weights, "document weights", tensor.Float32, rows},
		{&s.base, d.BaseScores != nil, p.BaseScores, "base scores", tensor.Float32, rows},
		{&in.QueryWeights, d.QueryWeights != nil, p.QueryWeights, "query weights", tensor.Float32, queries},
	}
}

// cost is the sum of the losses of all members: each learns by itself, from rankings of its own,
// and on top of the base scores.
func (s *Step) cost(ctx context.Context, members G.Nodes, loss losses.Func) (sum *G.Node, err error) {
	for _, scores := range members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.base != nil {
			if scores, err = G.Add(scores, s.base); err != nil {
				return nil, err
			}
		}
		b := s.batch
		b.Lists.Scores = scores
		cost, err := losses.Mean(loss, b)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = cost
		} else if sum, err = G.Add(sum, cost); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// Loss computes the loss of a batch, the mean over members, and the gradient of their
// sum, which goes into a slice as long as the weights.
func (s *Step) Loss(b *Batch, gradient []float32) (float64, error) {
	leaves := s.leaves(&b.Packed)
	for _, c := range s.columns(new(datasets.Dataset), b, 0, 0) {
		leaves = append(leaves, leaf{*c.node, c.values}) // without a node if the dataset lacks it
	}
	if err := run(s, leaves...); err != nil {
		return 0, NewBatchError(err)
	}
	loss, err := nn.Float64s(*s.loss)
	if err != nil || len(loss) != 1 {
		return 0, fmt.Errorf("the loss has the shape %v, want a scalar", (*s.loss).Shape())
	}
	return loss[0] / float64(s.members), s.flattenGradients(gradient)
}

// flattenGradients copies the gradients of all arrays into one slice: ops, which may be anybody's,
// leave them in memory of their own.
func (s *Step) flattenGradients(gradient []float32) error {
	at := 0
	for i, n := range s.grads {
		v := n.Value()
		if t, ok := v.(*tensor.Dense); ok {
			v = op.RowMajor(t)
		}
		size := s.weights[i].Shape().TotalSize()
		switch data := v.Data().(type) {
		case []float32:
			if len(data) != size {
				return fmt.Errorf("the gradient of %s has %d entries, want %d", s.weights[i].Name(), len(data), size)
			}
			copy(gradient[at:], data)
		case float32:
			gradient[at] = data
		default:
			return fmt.Errorf("the gradient of %s is a %T, want numbers of float32", s.weights[i].Name(), data)
		}
		at += size
	}
	return nil
}

// An Objective holds what stays the same in the graphs of a run.
type Objective struct {
	Loss     losses.Func
	Settings losses.Batch      // with samplers, discounts and the highest grade, and without nodes
	Data     *datasets.Dataset // whose optional columns batches have
}

// ExposureSamples is the number of rankings that exposure is estimated from, as in
// Oosterhuis (2021), section 7.
const ExposureSamples = 1000

// SetStep makes the next run draw what belongs to that step.
func (o *Objective) SetStep(step uint64) {
	o.Settings.Sampler.SetStep(step)
	o.Settings.Exposure.SetStep(step)
}

// A Batch holds what a [Step] runs on.
type Batch struct {
	Rows   int // capacity
	Packed datasets.Batch
	Gains  []float32 // [rows]
}

// A BatchError reports that the loss of a batch, or its gradient, is not finite or cannot be
// computed. The weights are unchanged.
type BatchError struct{ error }

// NewBatchError returns a BatchError that wraps an error.
func NewBatchError(err error) *BatchError { return &BatchError{err} }

// ErrBatch is what a BatchError is.
var ErrBatch = errors.New("the loss of a batch, or its gradient, is not finite or cannot be computed")

// Is reports whether the target is ErrBatch.
func (e *BatchError) Is(target error) bool { return target == ErrBatch }

// Unwrap returns the error itself.
func (e *BatchError) Unwrap() error { return e.error }
