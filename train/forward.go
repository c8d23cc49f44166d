package train

import (
	"fmt"
	"slices"
	"sync"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/graph"
)

func init() { ranker.RegisterOthers(Forward) }

// Forward is a forward pass of any kind of model that package nn knows: it runs the
// graphs of the model, several at once where it is called so. In a program that has this package,
// package ranker takes it for the kinds that have no plain one, and those that neither package
// knows have none.
//
// It may be called by several goroutines at once: graphs run side by side, and are built one
// at a time, for Gorgonia numbers some nodes, such as those of Rectify, with a counter of the
// process. A program that makes such nodes itself meanwhile has a race on that counter.
func Forward(f *ranker.File) (ranker.Forward, error) {
	if !slices.Contains(nn.Kinds(), f.Kind) {
		return nil, nil
	}
	model, err := Scorer(f)
	if err != nil {
		return nil, err
	}
	return forward(model, f.Transform.Width())
}

// forward runs the graphs of a model, for so many features.
func forward(model nn.Scorer, features int) (ranker.Forward, error) {
	newScoring := func() *graphScoring {
		return &graphScoring{model: model, width: features, graphs: graph.Cache[*graph.Scores]{}}
	}
	first := newScoring()
	if _, err := first.graph(datasets.Capacity(1)); err != nil {
		return nil, fmt.Errorf("the model and the transform of its features do not fit: %w", err)
	}
	pool := sync.Pool{New: func() any { return newScoring() }}
	pool.Put(first)
	return func(scores []float64, x []float32) error {
		g := pool.Get().(*graphScoring)
		defer pool.Put(g)
		capacity := datasets.Capacity(len(scores))
		g.batch.X = append(g.batch.X[:0], x...)
		g.batch.X = append(g.batch.X, make([]float32, (capacity-len(scores))*features)...)
		g.batch.Offsets = g.batch.Offsets[:0]
		for len(g.batch.Offsets) <= capacity { // of one query, and empty ones
			g.batch.Offsets = append(g.batch.Offsets, len(scores))
		}
		g.batch.Offsets[0] = 0
		values, err := g.run(capacity, &g.batch)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		copy(scores, values)
		return nil
	}, nil
}
