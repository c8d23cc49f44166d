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

// A scoring gives the scores of some chunks of d that stand one after another, at the indices of
// their rows: see chunks.
type scoring interface {
	score(d *datasets.Dataset, chunks []int) ([]float64, error)
}

// chunkRows is how many rows are scored at once, at least where there are as many.
const chunkRows = 2048

// chunks are the queries with which the parts of d begin that are scored at once, and the
// number of its queries.
func chunks(d *datasets.Dataset) []int {
	first, rows := []int{0}, 0
	for q := range d.Queries() {
		if rows += d.Offsets[q+1] - d.Offsets[q]; rows >= chunkRows || q == d.Queries()-1 {
			first, rows = append(first, q+1), 0
		}
	}
	return first
}

// graphScoring runs the graphs of a model that is trained, on features after the transform.
type graphScoring struct {
	model    nn.Scorer
	features map[*datasets.Dataset]*datasets.Transformed
	width    int
	graphs   graph.Cache[*graph.Scores]
	batch    datasets.Batch
}

func (g *graphScoring) score(d *datasets.Dataset, chunks []int) ([]float64, error) {
	scores := make([]float64, d.Offsets[chunks[0]], d.Rows())
	var queries []int
	for i := range len(chunks) - 1 {
		queries = queries[:0]
		for q := chunks[i]; q < chunks[i+1]; q++ {
			if d.Offsets[q+1] > d.Offsets[q] {
				queries = append(queries, q)
			}
		}
		rows := d.Offsets[chunks[i+1]] - d.Offsets[chunks[i]]
		capacity := datasets.Capacity(rows)
		g.batch.PackTransformed(g.features[d], queries, capacity, capacity)
		values, err := g.run(capacity)
		if err != nil {
			return nil, fmt.Errorf("train: %s: %w", d.Name, err)
		}
		for _, s := range values[:rows] {
			if !finite(s) {
				return nil, fmt.Errorf("train: %s: the score of row %d is %v", d.Name, len(scores), s)
			}
			scores = append(scores, s)
		}
	}
	return scores[:d.Rows()], nil
}

// graph is the graph for so many rows.
func (g *graphScoring) graph(rows int) (*graph.Scores, error) {
	return g.graphs.Get(rows, func() (*graph.Scores, error) { return graph.NewScores(g.model, rows, g.width) })
}

// run is the scores of its batch, which has so many rows.
func (g *graphScoring) run(rows int) ([]float64, error) {
	compiled, err := g.graph(rows)
	if err != nil {
		return nil, err
	}
	return compiled.Score(&g.batch)
}

// modelScoring is by a trained model.
type modelScoring struct{ *ranker.Model }

func (m modelScoring) score(d *datasets.Dataset, chunks []int) ([]float64, error) {
	from, to := chunks[0], chunks[len(chunks)-1]
	rows := d.Offsets[from : to+1]
	part := &datasets.Dataset{Name: d.Name, FeatureIDs: d.FeatureIDs, QueryIDs: d.QueryIDs[from:to], Features: d.Features[rows[0]*d.Width() : rows[len(rows)-1]*d.Width()]}
	for _, offset := range rows {
		part.Offsets = append(part.Offsets, offset-rows[0])
	}
	scores := make([]float64, d.Rows())
	own, err := m.Scores(part)
	copy(scores[rows[0]:], own)
	return scores, err
}

// runScoring is scores that there are already.
type runScoring []float64

func (r runScoring) score(*datasets.Dataset, []int) ([]float64, error) { return r, nil }

func init() { ranker.RegisterOthers(Forward) }

// Forward is a forward pass of any kind of model that package nn knows: it runs the graphs of the
// model, several at once where it is called so. In a program that has this package, package ranker
// takes it for the kinds that have no plain one, and those that neither package knows have none.
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
	pool := sync.Pool{New: func() any { return &graphScoring{model: model, width: features} }}
	first := pool.Get().(*graphScoring)
	if _, err := first.graph(datasets.Capacity(1)); err != nil {
		return nil, fmt.Errorf("the model and the transform of its features do not fit: %w", err)
	}
	pool.Put(first)
	return func(scores []float64, x []float32) error {
		g := pool.Get().(*graphScoring)
		defer pool.Put(g)
		capacity := datasets.Capacity(len(scores))
		g.batch.X = padded(g.batch.X[:0], x, capacity*features, 0)
		g.batch.Offsets = padded(append(g.batch.Offsets[:0], 0), nil, capacity+1, len(scores)) // of one query, and empty ones
		values, err := g.run(capacity)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		copy(scores, values)
		return nil
	}, nil
}
