package golearn

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/sjwhitworth/golearn/trees"

	"github.com/plrank/plrank/datasets"
)

// TreeOptions sets up the pointwise baseline; zero fields mean the default.
type TreeOptions struct {
	Depth int // of the tree; 0: 4
	Rows  int // documents it is fitted on, at most: the first queries that fit; 0: 10000
}

// Tree is a pointwise baseline: golearn's CART regressor of the label, whose
// prediction is the score. golearn tries every threshold of every feature, and goes
// through all documents for each: with raw features that takes too long beyond a few
// thousand documents. So its inputs are the per-query min–max and the quantile
// transform, rounded to some 16 values each. It ignores weights of documents and queries.
type Tree struct {
	transform *datasets.Transform
	tree      *trees.CARTDecisionTreeRegressor
}

// FitTree fits the baseline. Errors are those of [datasets.FitTransform] and of golearn.
func FitTree(train *datasets.Dataset, o TreeOptions) (*Tree, error) {
	o.Depth, o.Rows = cmp.Or(o.Depth, 4), cmp.Or(o.Rows, 10000)
	transform, err := datasets.FitTransform("minmax+quantile", train)
	if err != nil {
		return nil, err
	}
	var queries []int
	rows := 0
	for q := range train.Queries() {
		if n := train.Offsets[q+1] - train.Offsets[q]; rows+n <= o.Rows {
			queries = append(queries, q)
			rows += n
		}
	}
	if rows == 0 {
		return nil, errors.New("golearn: every training query has more documents than TreeOptions.Rows")
	}
	t := &Tree{transform, trees.NewDecisionTreeRegressor("mse", int64(o.Depth))}
	grid, err := Grid(t.inputs(train.Select(queries)), GridOptions{})
	if err != nil {
		return nil, err
	}
	if err := t.tree.Fit(grid); err != nil {
		return nil, fmt.Errorf("golearn: fit the tree: %w", err)
	}
	return t, nil
}

// Scores are the scores of all documents of d, which must have the columns of the training
// data.
func (t *Tree) Scores(d *datasets.Dataset) ([]float64, error) {
	grid, err := Grid(t.inputs(d), GridOptions{})
	if err != nil {
		return nil, err
	}
	return t.tree.Predict(grid), nil
}

// inputs are the transformed and rounded features, without weights and groups.
func (t *Tree) inputs(d *datasets.Dataset) *datasets.Dataset {
	in := *d
	width := t.transform.Width()
	in.Features = make([]float32, d.Rows()*width)
	in.FeatureNames, in.FeatureIDs = nil, nil
	in.Weights, in.QueryWeights, in.Groups, in.GroupNames = nil, nil, nil, nil
	for i := range width {
		in.FeatureIDs = append(in.FeatureIDs, i+1)
	}
	for q := range d.Queries() {
		from, to := d.Offsets[q], d.Offsets[q+1]
		t.transform.Query(in.Features[from*width:to*width], d.Features[from*d.Width():to*d.Width()])
	}
	for i, v := range in.Features {
		steps := 16.0 // of min–max, which is within [0, 1]
		if i%width >= width/2 {
			steps = 4 // of the normal score, mostly within ±2
		}
		in.Features[i] = float32(math.Round(float64(v)*steps) / steps)
	}
	return &in
}
