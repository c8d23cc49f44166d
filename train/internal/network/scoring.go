package network

import (
	"fmt"
	"sync"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/graph"
)

// Scoring runs the graphs of a model that is trained, on features after the transform.
type Scoring struct {
	Model    nn.Scorer
	features map[*datasets.Dataset]*datasets.Transformed
	width    int
	vectors  []int
	graphs   graph.Cache[*graph.Scores]
	batch    *datasets.Batch
}

// NewScoring returns the scoring of a model of inputs of that width, which features have.
func NewScoring(model nn.Scorer, features map[*datasets.Dataset]*datasets.Transformed, width int) *Scoring {
	return &Scoring{Model: model, features: features, width: width, batch: new(datasets.Batch)}
}

// Score returns the scores of chunks of d that stand one after another, see datasets.Dataset.Blocks, at the indices of their rows.
func (g *Scoring) Score(d *datasets.Dataset, chunks []int) ([]float64, error) {
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
		capacity := batches.Capacity(rows)
		batches.PackFeatures(g.batch, g.features[d], nn.TakesSparse(g.Model), g.vectors, queries, capacity, capacity)
		values, err := g.run(capacity)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		for _, s := range values[:rows] {
			if d.BaseScores != nil {
				s += float64(d.BaseScores[len(scores)])
			}
			if !batches.Finite(s) {
				return nil, fmt.Errorf("%s: the score is %v: a lower learning rate, or clipping the gradient, may help", d.Where(len(scores)), s)
			}
			scores = append(scores, s)
		}
	}
	return scores[:d.Rows()], nil
}

// graph returns the graph for a batch of that many rows.
func (g *Scoring) graph(rows int) (*graph.Scores, error) {
	size := graph.SizeOf(rows, g.batch)
	return g.graphs.Get(size, func() (*graph.Scores, error) { return graph.NewScores(g.Model, size, g.width) })
}

// run returns the scores of the batch, which has that many rows.
func (g *Scoring) run(rows int) ([]float64, error) {
	compiled, err := g.graph(rows)
	if err != nil {
		return nil, err
	}
	return compiled.Score(g.batch)
}

// Forward returns a forward pass that runs the graphs of a model of that many features.
func Forward(model nn.Scorer, features int) (ranker.Forward, error) {
	pool := sync.Pool{New: func() any { return NewScoring(model, nil, features) }}
	first := pool.Get().(*Scoring)
	if _, err := first.graph(batches.Capacity(1)); err != nil {
		return nil, fmt.Errorf("the model and the transform of its features do not fit: %w", err)
	}
	pool.Put(first)
	return func(scores []float64, x []float32) error {
		g := pool.Get().(*Scoring)
		defer pool.Put(g)
		capacity := batches.Capacity(len(scores))
		g.batch.X = batches.Padded(g.batch.X[:0], x, capacity*features, 0)
		g.batch.Offsets = batches.Padded(append(g.batch.Offsets[:0], 0), nil, capacity+1, len(scores)) // of one query, and empty ones
		values, err := g.run(capacity)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		copy(scores, values)
		return nil
	}, nil
}
