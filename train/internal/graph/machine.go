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
	"github.com/plrank/plrank/ops"
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
	return ofOp(vm.RunAll())
}

// ofOp returns the error of an op without what Gorgonia says of its machine.
func ofOp(err error) error {
	for {
		switch e := err.(type) {
		case interface{ Err() error }:
			err = e.Err()
		case interface{ Cause() error }:
			err = e.Cause()
		default:
			return err
		}
	}
}

// vector and matrix are nodes of leaves.
func vector(g *G.ExprGraph, dtype tensor.Dtype, length int, name string) *G.Node {
	return G.NewVector(g, dtype, G.WithShape(length), G.WithName(name))
}

func matrix(g *G.ExprGraph, rows, columns int, name string) *G.Node {
	return G.NewMatrix(g, tensor.Float32, G.WithShape(rows, columns), G.WithName(name))
}

// A Size tells graphs of the same ops apart.
type Size struct {
	Rows    int
	Entries int // room for entries of sparse documents; 0: documents are not sparse
}

// SizeOf returns the size of a batch of that many rows.
func SizeOf(rows int, b *datasets.Batch) Size { return Size{rows, len(b.Sparse.Values)} }

// features are the nodes of the features of documents.
type features struct {
	x      *G.Node     // of sparse ones, the values
	sparse *ops.Sparse // nil: they are not sparse
}

func newFeatures(g *G.ExprGraph, size Size, width int) features {
	if size.Entries == 0 {
		return features{x: matrix(g, size.Rows, width, "x")}
	}
	x := vector(g, tensor.Float32, size.Entries, "x")
	return features{x, &ops.Sparse{
		Starts: vector(g, tensor.Int, size.Rows+1, "starts"), Columns: vector(g, tensor.Int32, size.Entries, "columns"), Values: x,
	}}
}

// Graph returns the graph of the nodes.
func (f *features) Graph() *G.ExprGraph { return f.x.Graph() }

// input returns the input of a model.
func (f *features) input(offsets *G.Node, weights G.Nodes) nn.Input {
	if f.sparse != nil {
		return nn.Input{Sparse: f.sparse, Offsets: offsets, Weights: weights}
	}
	return nn.Input{Features: f.x, Offsets: offsets, Weights: weights}
}

// leaves returns the nodes with the features of a batch.
func (f *features) leaves(b *datasets.Batch) []leaf {
	if s := f.sparse; s != nil {
		return []leaf{{s.Values, b.Sparse.Values}, {s.Starts, b.Sparse.Starts}, {s.Columns, b.Sparse.Columns}}
	}
	return []leaf{{f.x, b.X}}
}

// A Scores graph computes scores, for one number of rows and as many queries at most.
type Scores struct {
	G.VM
	features
	offsets, scores *G.Node
}

// NewScores builds the graph for batches of that size, with documents of that width.
func NewScores(model nn.Scorer, size Size, width int) (*Scores, error) {
	s := &Scores{}
	var err error
	s.VM, err = newMachine(context.Background(), func(g *G.ExprGraph) (*G.Node, G.Nodes, error) {
		s.features, s.offsets = newFeatures(g, size, width), vector(g, tensor.Int, size.Rows+1, "offsets")
		s.scores, err = model.Build(s.input(s.offsets, model.Weights().Nodes(g)), nn.Evaluate)
		if err == nil && !s.scores.Shape().Eq(tensor.Shape{size.Rows}) {
			err = fmt.Errorf("the scores of the model have the shape %v for %d rows, want a vector", s.scores.Shape(), size.Rows)
		}
		return s.x, G.Nodes{s.scores}, err
	})
	return s, err
}

// Score returns the scores of the rows of a batch.
func (s *Scores) Score(b *datasets.Batch) ([]float64, error) {
	if err := run(s, append(s.leaves(b), leaf{s.offsets, b.Offsets})...); err != nil {
		return nil, err
	}
	return nn.Float64s(s.scores.Value())
}

// A Cache has compiled graphs of the same ops, by their size. One of them runs at a time: their results
// are in the same memory. Its zero value is empty.
type Cache[T compiled] struct {
	by    map[Size]T
	rooms op.Rooms
}

type compiled interface {
	Graph() *G.ExprGraph
	Close() error
}

// mostGraphs is how many there may be at once: more than an epoch of usual data has.
const mostGraphs = 64

// Get returns the graph of that size, which it makes if there is none. Its results last until another one runs.
func (c *Cache[T]) Get(size Size, build func() (T, error)) (made T, err error) {
	if made, ok := c.by[size]; ok {
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
		c.by = map[Size]T{}
	}
	c.by[size] = made
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
