package graph

import (
	"context"
	"errors"
	"fmt"
	"sync"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/nn"
)

// building is held while nodes are made: Gorgonia numbers some of them, as for Rectify
// among others, with a counter of the process.
var building sync.Mutex

// newMachine compiles the graph that describe makes, which computes the outputs. Compiling by one
// input prunes what Grad adds apart from the outputs. Gorgonia cannot be stopped while it compiles,
// which takes long for a large graph: when the context ends, it is left alone.
func newMachine(ctx context.Context, describe func(g *G.ExprGraph) (input *G.Node, outputs G.Nodes, err error)) (G.VM, error) {
	g := G.NewGraph()
	input, outputs, err := func() (*G.Node, G.Nodes, error) {
		building.Lock()
		defer building.Unlock()
		return describe(g)
	}()
	if err != nil {
		return nil, err
	}
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

// A leaf is an input of a graph, nil if it has none, and its values for a run.
type leaf struct {
	node   *G.Node
	values any
}

// run gives leaves their values, and runs a graph.
func run(vm G.VM, leaves ...leaf) error {
	for _, in := range leaves {
		if in.node == nil {
			continue
		}
		if err := G.Let(in.node, tensor.New(tensor.WithShape(in.node.Shape()...), tensor.WithBacking(in.values))); err != nil {
			return err
		}
	}
	vm.Reset()
	return vm.RunAll()
}

// vector and matrix are nodes of leaves.
func vector(g *G.ExprGraph, dtype tensor.Dtype, length int, name string) *G.Node {
	return G.NewVector(g, dtype, G.WithShape(length), G.WithName(name))
}

func matrix(g *G.ExprGraph, rows, columns int, name string) *G.Node {
	return G.NewMatrix(g, tensor.Float32, G.WithShape(rows, columns), G.WithName(name))
}

// A Scores graph computes scores, for one number of rows and as many queries at most.
type Scores struct {
	G.VM
	x, offsets, scores *G.Node
}

// NewScores builds the graph for that many rows and features.
func NewScores(model nn.Scorer, rows, features int) (*Scores, error) {
	s := &Scores{}
	var err error
	s.VM, err = newMachine(context.Background(), func(g *G.ExprGraph) (*G.Node, G.Nodes, error) {
		s.x, s.offsets = matrix(g, rows, features, "x"), vector(g, tensor.Int, rows+1, "offsets")
		s.scores, err = model.Build(nn.Input{Features: s.x, Offsets: s.offsets, Weights: model.Weights().Nodes(g)}, nn.Evaluate)
		if err == nil && !s.scores.Shape().Eq(tensor.Shape{rows}) {
			err = fmt.Errorf("the scores of the model have the shape %v for %d rows, want a vector", s.scores.Shape(), rows)
		}
		return s.x, G.Nodes{s.scores}, err
	})
	return s, err
}

// Graph returns what it was compiled from.
func (s *Scores) Graph() *G.ExprGraph { return s.x.Graph() }

// Score returns the scores of the rows of a batch.
func (s *Scores) Score(b *datasets.Batch) ([]float64, error) {
	if err := run(s, leaf{s.x, b.X}, leaf{s.offsets, b.Offsets}); err != nil {
		return nil, err
	}
	return nn.Float64s(s.scores.Value())
}

// A Cache has compiled graphs of the same ops, by their number of rows. One of them runs at a time: their results
// are in the same memory. Its zero value is empty.
type Cache[T compiled] struct {
	by    map[int]T
	rooms op.Rooms
}

type compiled interface {
	Graph() *G.ExprGraph
	Close() error
}

// mostGraphs is how many there may be at once: more than an epoch of usual data has.
const mostGraphs = 64

// Get returns the graph of that many rows, which it makes if there is none. Its results last until another one runs.
func (c *Cache[T]) Get(rows int, build func() (T, error)) (made T, err error) {
	if made, ok := c.by[rows]; ok {
		return made, nil
	}
	if len(c.by) >= mostGraphs {
		if err := c.Close(); err != nil {
			return made, err
		}
	}
	if made, err = build(); err != nil {
		return made, err
	}
	if c.by == nil {
		c.by = map[int]T{}
	}
	c.by[rows] = made
	c.rooms.Give(made.Graph())
	return made, nil
}

// Close frees the memory of all graphs. They are made again when they are needed.
func (c *Cache[T]) Close() error {
	var errs []error
	for _, g := range c.by {
		errs = append(errs, g.Close())
	}
	*c = Cache[T]{}
	return errors.Join(errs...)
}
