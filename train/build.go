package train

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/network"
	"github.com/plrank/plrank/train/internal/trees"
	"github.com/plrank/plrank/transforms"
)

// newLearner makes the learner that the configuration names, for a loop over the data, with warnings.
func newLearner(p *parsed, d *runData, t *transforms.Transform, l *loop) (learner, []string, error) {
	if p.config.Scorer == forestScorer {
		return newForest(p, d, t, l)
	}
	c := p.config
	if err := p.checkMemory(inputsOf(t), l.batches.Division.Batch); err != nil {
		return nil, nil, err
	}
	var first []nn.Array
	n, err := network.New(network.Settings{
		Model: func() (nn.Scorer, error) {
			s, err := newScorer(c, p.parts.Scorer, t)
			if err != nil {
				return nil, err
			}
			arrays := s.Weights().Arrays()
			if first == nil {
				first = arrays
			} else if !reflect.DeepEqual(arrays, first) {
				return nil, errors.New("train: Custom.Scorer gives models of other weights each time")
			}
			return s, nil
		},
		Products:  network.NewProducts(d.splits.Train, d.learned, t),
		Transform: t, Features: d.features, Batches: l.batches, Objective: l.objective,
		Optimizer: func(arrays []nn.Array) (network.Optimizer, error) {
			return newOptimizer(c.Optimization, p.parts.Optimizer, arrays)
		},
		GroupLasso: c.GroupLasso, Averaged: c.Average != 0, Whole: c.AtLeast != nil, Group: p.group,
		Begin: func(model nn.Scorer) error { return startFrom(p.parts.Initial, model) },
	})
	if err != nil {
		return nil, nil, err
	}
	train, batch := d.splits.Train, l.batches.Division.Batch
	l.batches.Sparse = nn.TakesSparse(n.Model)
	if bytes := 4 * float64(batch) * float64(longest(train)) * float64(t.Width()); train.IsSparse() && !l.batches.Sparse && bytes > maxMemory {
		return nil, nil, fmt.Errorf("train: %s: sparse documents of %d features: a step of %d queries may take %s in a custom scorer, want %s "+
			"at most: want a smaller -batch", train.Name, train.Width(), batch, gigabytes(bytes), gigabytes(maxMemory))
	}
	return n, nil, nil
}

// newForest makes the learner of a forest.
func newForest(p *parsed, d *runData, t *transforms.Transform, l *loop) (f *trees.Forest, warnings []string, err error) {
	c := p.config
	if c.Leaves == 0 && c.Depth > forest.MaxDepth {
		return nil, nil, fmt.Errorf("train: symmetric trees of depth %d: want at most %d, or trees of a number of leaves", c.Depth,
			forest.MaxDepth)
	}
	if c.Bins != 0 && c.Bins < forest.LeastBins {
		return nil, nil, fmt.Errorf("train: a forest with %d bins: want %d to %d, or 0 for 64", c.Bins, forest.LeastBins, forest.MaxBins)
	}
	f, err = trees.New(trees.Settings{
		Tree: forest.Config{Depth: c.Depth, Leaves: c.Leaves, L2: c.L2, Rows: c.Sampling, Columns: c.FeatureSampling,
			MinWeight: c.MinWeight, Seed: c.Seed},
		Bins: c.Bins, Rising: c.Rising, Falling: c.Falling, Interactions: c.Interactions, Transform: t, Features: d.features, Data: &d.Data,
		Objective: l.objective, Terms: p.loss.terms, Curvature: p.parts.Curvature, Initial: p.parts.Initial, Refit: c.Refit,
		Group: p.group,
	})
	if err != nil {
		return nil, nil, err
	}
	if loss := f.Unknown(); p.parts.Curvature == nil && (loss != "" || p.loss.terms == nil) {
		warnings = append(warnings, fmt.Sprintf("the curvature of %s is not known: the size of its gradient stands for it", cmp.Or(loss,
			c.Loss)))
	}
	l.passes, l.batches.Own = max(1, c.Trees), nil // a tree is a pass, and the chunks of a forest have all data
	if c.Refit > 0 {
		l.passes = f.InitialTrees()
	}
	return f, warnings, p.checkMemory(nn.MLPConfig{Features: 1}, f.Queries)
}
