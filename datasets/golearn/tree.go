package golearn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sjwhitworth/golearn/base"
	"github.com/sjwhitworth/golearn/trees"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/transforms"
)

// TreeOptions sets up the pointwise baseline.
type TreeOptions struct {
	Depth int // of the tree; 0: 4
	Rows  int // documents it is fitted on, at most: random queries that fit; 0: 10000
}

// Tree is a pointwise baseline: golearn's CART regressor of the label, whose
// prediction is the score. golearn tries every threshold of every feature, and goes
// through all documents for each: with raw features that takes too long beyond a few
// thousand documents. So its inputs are the per-query min–max and the quantile
// transform, rounded to some 16 values each. It ignores weights of documents and queries.
type Tree struct {
	transform *transforms.Transform
	tree      *trees.CARTDecisionTreeRegressor
}

// FitTree fits the baseline. It returns the errors of [datasets.FitTransform] and of golearn.
func FitTree(train *datasets.Dataset, o TreeOptions) (*Tree, error) {
	o.Depth, o.Rows = cmp.Or(o.Depth, 4), cmp.Or(o.Rows, 10000)
	transform, err := datasets.FitTransform("minmax+quantile", train)
	if err != nil {
		return nil, err
	}
	var queries []int
	rows := 0
	for _, q := range rand.New(rand.NewPCG(0, 0)).Perm(train.Queries()) {
		if n := train.Offsets[q+1] - train.Offsets[q]; rows+n <= o.Rows {
			queries = append(queries, q)
			rows += n
		}
	}
	if rows == 0 {
		return nil, errors.New("golearn: every training query has more documents than TreeOptions.Rows")
	}
	slices.Sort(queries)
	t := &Tree{transform, trees.NewDecisionTreeRegressor("mse", int64(o.Depth))}
	grid, err := t.grid(train.Select(queries))
	if err != nil {
		return nil, err
	}
	if err := t.tree.Fit(grid); err != nil {
		return nil, fmt.Errorf("golearn: fit the tree: %w", err)
	}
	return t, nil
}

// Scores returns the scores of all documents of d, which must have the columns of the training
// data.
func (t *Tree) Scores(d *datasets.Dataset) ([]float64, error) {
	grid, err := t.grid(d)
	if err != nil {
		return nil, err
	}
	return t.tree.Predict(grid), nil
}

// grid has the transformed and rounded features, and the labels.
func (t *Tree) grid(d *datasets.Dataset) (base.FixedDataGrid, error) {
	queries := make([]int, d.Queries())
	for q := range queries {
		queries[q] = q
	}
	var b datasets.Batch
	b.Pack(d, t.transform, queries, d.Rows(), d.Queries())
	in := &datasets.Dataset{Name: d.Name, Features: b.X, Labels: d.Labels, Offsets: d.Offsets, QueryIDs: d.QueryIDs}
	width := t.transform.Width()
	for i := range width {
		in.FeatureIDs = append(in.FeatureIDs, i+1)
	}
	for i, v := range in.Features {
		steps := 16.0 // of min–max, which is within [0, 1]
		if i%width >= width/2 {
			steps = 4 // of the normal score, mostly within ±2
		}
		in.Features[i] = float32(math.Round(float64(v)*steps) / steps)
	}
	return Grid(in, GridOptions{})
}
