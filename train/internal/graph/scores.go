package graph

import (
	"context"
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
)

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

// Score is the scores of the rows of a batch.
func (s *Scores) Score(b *datasets.Batch) ([]float64, error) {
	if err := let(leaf{s.x, b.X}, leaf{s.offsets, b.Offsets}); err != nil {
		return nil, err
	}
	s.Reset()
	if err := s.RunAll(); err != nil {
		return nil, err
	}
	return nn.Float64s(s.scores.Value())
}
