package cli

import (
	"fmt"

	"github.com/plrank/plrank/ranker"
)

// A ModelSize counts the trees and leaves of a forest, or the weights of another model.
type ModelSize struct {
	Kind    string `json:"kind"`
	Trees   int    `json:"trees,omitempty"`
	Leaves  int    `json:"leaves,omitempty"`
	Weights int    `json:"weights,omitempty"`
}

// SizeOf returns the size of a model that is not a mixture.
func SizeOf(m *ranker.Model) (s ModelSize) {
	f := m.File()
	if s.Kind = f.Kind; s.Kind != ranker.ForestKind {
		for _, a := range f.Arrays {
			s.Weights += len(a.Values)
		}
		return s
	}
	trees := m.Forests()[0]
	s.Trees = len(trees.Trees)
	for _, t := range trees.Trees {
		s.Leaves += len(t.Leaves)
	}
	return s
}

func (s ModelSize) String() string {
	if s.Trees > 0 {
		return fmt.Sprintf("%d trees, with %d leaves", s.Trees, s.Leaves)
	}
	return fmt.Sprintf("%d weights", s.Weights)
}
