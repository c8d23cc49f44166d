package graph

import (
	"context"
	"errors"
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
)

// A Scores graph computes scores, for one number of rows and as many queries at most.
type Scores struct {
	vm                 G.VM
	x, offsets, scores *G.Node
}

// NewScores builds the graph for that many rows and features.
func NewScores(model nn.Scorer, rows, features int) (*Scores, error) {
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
func describeScores(g *G.ExprGraph, model nn.Scorer, rows, features int) (*Scores, error) {
	building.Lock()
	defer building.Unlock()
	s := &Scores{
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

// Run is the scores of the rows of a batch.
func (s *Scores) Run(b *datasets.Batch) ([]float64, error) {
	if err := errors.Join(set(s.x, b.X), set(s.offsets, b.Offsets)); err != nil {
		return nil, err
	}
	s.vm.Reset()
	if err := s.vm.RunAll(); err != nil {
		return nil, err
	}
	return nn.Float64s(s.scores.Value())
}

// Close frees the memory of the graph.
func (s *Scores) Close() error { return s.vm.Close() }
