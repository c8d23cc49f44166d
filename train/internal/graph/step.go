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

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
)

// A Step computes the loss of a batch and its gradient, for one number of
// rows. Compiling only these prunes what Grad adds beside them.
type Step struct {
	vm                        G.VM
	x, gains, labels, offsets *G.Node
	groups, logged            *G.Node // nil: documents have none
	ofDocuments, ofQueries    *G.Node // weights; nil: all are 1
	members                   int
	loss                      *G.Value // apart: the machine points to it, and would hold itself, and never be freed, for it has a finalizer
	weights, grads            G.Nodes  // of the arrays of the model
}

// NewStep builds the graph for batches of that many rows, queries and
// features. It ends early with the error of the context.
func NewStep(ctx context.Context, model nn.Scorer, o *Objective, rows, queries, features int) (*Step, error) {
	g := G.NewGraph()
	s, outputs, err := describeStep(ctx, g, model, o, rows, queries, features)
	if err == nil {
		s.vm, err = compiled(ctx, g, s.x, outputs)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// describeStep makes the nodes of a step, and gives those that are to be computed.
func describeStep(ctx context.Context, g *G.ExprGraph, model nn.Scorer, o *Objective, rows, queries, features int) (*Step, G.Nodes, error) {
	building.Lock()
	defer building.Unlock()
	s := newInputs(g, o, rows, queries)
	s.x = G.NewMatrix(g, tensor.Float32, G.WithShape(rows, features), G.WithName("x"))
	s.weights = model.Weights().Nodes(g)
	members, err := nn.BuildMembers(model, nn.Input{Features: s.x, Offsets: s.offsets, Weights: s.weights}, nn.Train)
	if err != nil {
		return nil, nil, err
	}
	if slices.Contains(members, nil) {
		return nil, nil, errors.New("the model gives no scores")
	}
	s.members = len(members)
	cost, err := s.cost(ctx, members, o)
	if err != nil {
		return nil, nil, err
	}
	if s.grads, err = G.Grad(cost, s.weights...); err != nil {
		return nil, nil, fmt.Errorf("the loss cannot be differentiated by all arrays of the model's weights: %w", err)
	}
	return s, s.outputs(cost), nil
}

// NewLoss is a Step of one query whose scores take the place of its features, and which has no
// gradient.
func NewLoss(o *Objective, rows int) (*Step, error) {
	ctx := context.Background()
	g := G.NewGraph()
	building.Lock()
	s := newInputs(g, o, rows, 1)
	s.x = G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("scores"))
	s.members = 1
	cost, err := s.cost(ctx, G.Nodes{s.x}, o)
	building.Unlock()
	if err == nil {
		s.vm, err = compiled(ctx, g, s.x, s.outputs(cost))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// newInputs is a graph with the inputs of a loss, but for those that scores are made of.
func newInputs(g *G.ExprGraph, o *Objective, rows, queries int) *Step {
	s := &Step{
		gains:   G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("gains")),
		labels:  G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("labels")),
		offsets: G.NewVector(g, tensor.Int, G.WithShape(queries+1), G.WithName("offsets")),
	}
	if o.Grouped {
		s.groups = G.NewVector(g, tensor.Int, G.WithShape(rows), G.WithName("groups"))
	}
	if o.Logged {
		s.logged = G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("logged exposures"))
	}
	if o.DocumentWeights {
		s.ofDocuments = G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("document weights"))
	}
	if o.QueryWeights {
		s.ofQueries = G.NewVector(g, tensor.Float32, G.WithShape(queries), G.WithName("query weights"))
	}
	return s
}

// outputs are what the machine computes: the loss and its gradients.
func (s *Step) outputs(cost *G.Node) G.Nodes {
	// A copy of the loss: its own value may be overwritten by the backward pass.
	s.loss = new(G.Value)
	return append(G.Nodes{G.Read(cost, s.loss)}, s.grads...)
}

// cost is the sum of the losses of all members: each learns by itself, from
// rankings of its own.
func (s *Step) cost(ctx context.Context, members G.Nodes, o *Objective) (sum *G.Node, err error) {
	for _, scores := range members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cost, err := losses.Mean(o.Loss, losses.Batch{
			Lists:        ops.Lists{Scores: scores, Offsets: s.offsets},
			Gains:        s.gains,
			Labels:       s.labels,
			HighestGrade: o.HighestGrade,
			Groups:       s.groups,
			Logged:       s.logged,

			DocumentWeights: s.ofDocuments,
			QueryWeights:    s.ofQueries,

			Sampler:   o.Sampler,
			Exposure:  o.Exposure,
			Discounts: o.Discounts,
		})
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

// Run computes the loss of a batch, the mean over members, and the gradient of their
// sum, which goes into a slice as long as the weights.
func (s *Step) Run(b *Batch, gradient []float32) (float64, error) {
	for _, let := range []struct {
		node   *G.Node // nil: not of this graph
		values any
	}{
		{s.x, b.Packed.X}, {s.gains, b.Gains}, {s.labels, b.Packed.Labels}, {s.offsets, b.Packed.Offsets},
		{s.groups, b.Packed.Groups}, {s.logged, b.Packed.Logged}, {s.ofDocuments, b.Packed.Weights}, {s.ofQueries, b.Packed.QueryWeights},
	} {
		if err := set(let.node, let.values); err != nil {
			return 0, err
		}
	}
	s.vm.Reset()
	if err := s.vm.RunAll(); err != nil {
		return 0, Unsound(err)
	}
	loss, err := nn.Float64s(*s.loss)
	if err != nil || len(loss) != 1 {
		return 0, fmt.Errorf("the loss has the shape %v, want a scalar", (*s.loss).Shape())
	}
	return loss[0] / float64(s.members), s.gather(gradient)
}

// set gives an input of a graph its values; there is nothing to do where it is nil.
func set(n *G.Node, values any) error {
	if n == nil {
		return nil
	}
	return G.Let(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(values)))
}

// gather brings the gradients of all arrays together: ops, which may be anybody's,
// leave them in memory of their own.
func (s *Step) gather(gradient []float32) error {
	at := 0
	for i, n := range s.grads {
		v := n.Value()
		if t, ok := v.(*tensor.Dense); ok && t.RequiresIterator() { // a view
			v = t.Materialize().(*tensor.Dense)
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

// Close frees the memory of the graph.
func (s *Step) Close() error { return s.vm.Close() }
