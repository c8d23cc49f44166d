package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
)

// A stepGraph computes the loss of a batch and its gradient, for one number of
// rows. Compiling only these prunes what Grad adds beside them.
type stepGraph struct {
	vm                        G.VM
	x, gains, labels, offsets *G.Node
	groups                    *G.Node // nil: documents have none
	ofDocuments, ofQueries    *G.Node // weights; nil: all are 1
	members                   int
	loss                      *G.Value // apart: the machine points to it, and would hold itself, and never be freed, for it has a finalizer
	weights, grads            G.Nodes  // of the arrays of the model
}

// An objective is what stays the same in the graphs of a run.
type objective struct {
	loss         losses.Func
	sampler      *ops.Sampler // for the gradient
	exposure     *ops.Sampler // for the exposure of fairness losses
	discounts    []float64
	highestGrade float64
	grouped      bool // documents have groups

	documentWeights, queryWeights bool // documents and queries have them
}

// exposureSamples is the number of rankings that exposure is estimated from, that
// of Oosterhuis (2021), section 7.
const exposureSamples = 1000

// setStep makes the next run draw what belongs to that step.
func (o *objective) setStep(step uint64) {
	o.sampler.SetStep(step)
	o.exposure.SetStep(step)
}

// newStepGraph builds the graph for batches of that many rows, queries and
// features. It ends early with the error of the context.
func newStepGraph(ctx context.Context, model nn.Scorer, o *objective, rows, queries, features int) (*stepGraph, error) {
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
func describeStep(ctx context.Context, g *G.ExprGraph, model nn.Scorer, o *objective, rows, queries, features int) (*stepGraph, G.Nodes, error) {
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

// newInputs is a graph with the inputs of a loss, but for those that scores are made of.
func newInputs(g *G.ExprGraph, o *objective, rows, queries int) *stepGraph {
	s := &stepGraph{
		gains:   G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("gains")),
		labels:  G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("labels")),
		offsets: G.NewVector(g, tensor.Int, G.WithShape(queries+1), G.WithName("offsets")),
	}
	if o.grouped {
		s.groups = G.NewVector(g, tensor.Int, G.WithShape(rows), G.WithName("groups"))
	}
	if o.documentWeights {
		s.ofDocuments = G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("document weights"))
	}
	if o.queryWeights {
		s.ofQueries = G.NewVector(g, tensor.Float32, G.WithShape(queries), G.WithName("query weights"))
	}
	return s
}

// outputs are what the machine computes: the loss and its gradients.
func (s *stepGraph) outputs(cost *G.Node) G.Nodes {
	// A copy of the loss: its own value may be overwritten by the backward pass.
	s.loss = new(G.Value)
	return append(G.Nodes{G.Read(cost, s.loss)}, s.grads...)
}

// building is held while nodes are made: Gorgonia numbers some of them, those of Rectify
// among others, with a counter of the process.
var building sync.Mutex

// compiled makes the machine that computes the outputs. Gorgonia cannot be stopped while it
// compiles, which takes long for a large graph: when the context ends, it is left alone.
func compiled(ctx context.Context, g *G.ExprGraph, input *G.Node, outputs G.Nodes) (G.VM, error) {
	type result struct {
		vm  G.VM
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- result{err: fmt.Errorf("the graph cannot be compiled: panic: %v", r)}
			}
		}()
		prog, locs, err := G.CompileFunction(g, G.Nodes{input}, outputs)
		if err != nil {
			done <- result{err: err}
			return
		}
		done <- result{vm: G.NewTapeMachine(g, G.WithPrecompiled(prog, locs))}
	}()
	select {
	case r := <-done:
		return r.vm, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// cost is the sum of the losses of all members: each learns by itself, from
// rankings of its own.
func (s *stepGraph) cost(ctx context.Context, members G.Nodes, o *objective) (sum *G.Node, err error) {
	for _, scores := range members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cost, err := losses.Mean(o.loss, losses.Batch{
			Lists:        ops.Lists{Scores: scores, Offsets: s.offsets},
			Gains:        s.gains,
			Labels:       s.labels,
			HighestGrade: o.highestGrade,
			Groups:       s.groups,

			DocumentWeights: s.ofDocuments,
			QueryWeights:    s.ofQueries,

			Sampler:   o.sampler,
			Exposure:  o.exposure,
			Discounts: o.discounts,
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

// run computes the loss of a batch, the mean over members, and the gradient of their
// sum, which goes into a slice as long as the weights.
func (s *stepGraph) run(b *batch, gradient []float32) (float64, error) {
	for _, let := range []struct {
		node   *G.Node // nil: not of this graph
		values any
	}{
		{s.x, b.packed.X}, {s.gains, b.gains}, {s.labels, b.packed.Labels}, {s.offsets, b.packed.Offsets},
		{s.groups, b.packed.Groups}, {s.ofDocuments, b.packed.Weights}, {s.ofQueries, b.packed.QueryWeights},
	} {
		if err := set(let.node, let.values); err != nil {
			return 0, err
		}
	}
	s.vm.Reset()
	if err := s.vm.RunAll(); err != nil {
		return 0, &batchError{err}
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
func (s *stepGraph) gather(gradient []float32) error {
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

// A scoreGraph computes scores, for one number of rows and as many queries at most.
type scoreGraph struct {
	vm                 G.VM
	x, offsets, scores *G.Node
}

func newScoreGraph(model nn.Scorer, rows, features int) (*scoreGraph, error) {
	g := G.NewGraph()
	s, err := describeScores(g, model, rows, features)
	if err == nil {
		s.vm, err = compiled(context.Background(), g, s.x, G.Nodes{s.scores})
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// describeScores makes the nodes.
func describeScores(g *G.ExprGraph, model nn.Scorer, rows, features int) (*scoreGraph, error) {
	building.Lock()
	defer building.Unlock()
	s := &scoreGraph{
		x:       G.NewMatrix(g, tensor.Float32, G.WithShape(rows, features), G.WithName("x")),
		offsets: G.NewVector(g, tensor.Int, G.WithShape(rows+1), G.WithName("offsets")),
	}
	var err error
	if s.scores, err = model.Build(nn.Input{Features: s.x, Offsets: s.offsets, Weights: model.Weights().Nodes(g)}, nn.Evaluate); err != nil {
		return nil, err
	}
	if !s.scores.Shape().Eq(tensor.Shape{rows}) {
		return nil, fmt.Errorf("the scores of the model have the shape %v for %d rows, want a vector", s.scores.Shape(), rows)
	}
	return s, nil
}

// run is the scores of the rows of a batch.
func (s *scoreGraph) run(b *datasets.Batch) ([]float64, error) {
	if err := errors.Join(set(s.x, b.X), set(s.offsets, b.Offsets)); err != nil {
		return nil, err
	}
	s.vm.Reset()
	if err := s.vm.RunAll(); err != nil {
		return nil, err
	}
	return nn.Float64s(s.scores.Value())
}

func (s *stepGraph) close() error  { return s.vm.Close() }
func (s *scoreGraph) close() error { return s.vm.Close() }

// graphs are compiled graphs by their number of rows.
type graphs[T interface{ close() error }] map[int]T

// most is how many there may be at once: more than an epoch of usual data has.
const mostGraphs = 64

// get gives the graph of so many rows, which it makes if there is none.
func (g graphs[T]) get(rows int, build func() (T, error)) (T, error) {
	if s, ok := g[rows]; ok {
		return s, nil
	}
	if len(g) >= mostGraphs {
		if err := g.close(); err != nil {
			var none T
			return none, err
		}
	}
	s, err := build()
	if err == nil {
		g[rows] = s
	}
	return s, err
}

// close frees the memory of all graphs. They are made again when they are needed.
func (g graphs[T]) close() error {
	var errs []error
	for rows, s := range g {
		errs = append(errs, s.close())
		delete(g, rows)
	}
	return errors.Join(errs...)
}
