package train

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/graph"
	"github.com/plrank/plrank/transforms"
)

// A scoring gives the scores of some chunks of d that stand one after another, at the indices of
// their rows: see datasets.Dataset.Blocks.
type scoring interface {
	score(d *datasets.Dataset, chunks []int) ([]float64, error)
}

// chunkRows is how many rows are scored at once, at least where there are as many.
const chunkRows = 2048

// graphScoring runs the graphs of a model that is trained, on features after the transform.
type graphScoring struct {
	model    nn.Scorer
	features map[*datasets.Dataset]*datasets.Transformed
	width    int
	graphs   graph.Cache[*graph.Scores]
	batch    *datasets.Batch
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
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		for _, s := range values[:rows] {
			if d.BaseScores != nil {
				s += float64(d.BaseScores[len(scores)])
			}
			if !finite(s) {
				return nil, fmt.Errorf("%s: the score is %v: a lower learning rate, or clipping the gradient, may help", d.Where(len(scores)), s)
			}
			scores = append(scores, s)
		}
	}
	return scores[:d.Rows()], nil
}

// graph returns the graph for a number of rows.
func (g *graphScoring) graph(rows int) (*graph.Scores, error) {
	return g.graphs.Get(rows, func() (*graph.Scores, error) { return graph.NewScores(g.model, rows, g.width) })
}

// run returns the scores of the batch, which has that many rows.
func (g *graphScoring) run(rows int) ([]float64, error) {
	compiled, err := g.graph(rows)
	if err != nil {
		return nil, err
	}
	return compiled.Score(g.batch)
}

// modelScoring is by a trained model.
type modelScoring struct{ *ranker.Model }

func (m modelScoring) score(d *datasets.Dataset, chunks []int) ([]float64, error) {
	from, to := chunks[0], chunks[len(chunks)-1]
	rows := d.Offsets[from : to+1]
	part := &datasets.Dataset{Name: d.Name, FeatureIDs: d.FeatureIDs, QueryIDs: d.QueryIDs[from:to], Features: d.Features[rows[0]*d.Width() : rows[len(rows)-1]*d.Width()]}
	if d.BaseScores != nil {
		part.BaseScores = d.BaseScores[rows[0]:rows[len(rows)-1]]
	}
	for _, offset := range rows {
		part.Offsets = append(part.Offsets, offset-rows[0])
	}
	scores := make([]float64, d.Rows())
	own, err := datasets.Score(m, part)
	copy(scores[rows[0]:], own)
	return scores, err
}

// runScoring is scores that there are already.
type runScoring []float64

func (r runScoring) score(d *datasets.Dataset, _ []int) ([]float64, error) {
	if len(r) != d.Rows() {
		return nil, fmt.Errorf("train: %s: %d scores for %d documents", d.Name, len(r), d.Rows())
	}
	return r, nil
}

func init() { ranker.RegisterOthers(Forward) }

// Forward returns a forward pass of any kind of model that package nn knows, nil for others: it runs the
// graphs of the model. In a program that has this package, package ranker takes it for the kinds
// that have no plain one. Several goroutines may call it at once, but a program that builds graphs
// itself meanwhile has a race: Gorgonia numbers some nodes, such as the ones of Rectify, with a
// counter of the process.
func Forward(f *ranker.File) (ranker.Forward, error) {
	if !slices.Contains(nn.Kinds(), f.Kind) {
		return nil, nil
	}
	model, err := Scorer(f)
	if err != nil {
		return nil, err
	}
	return graphForward(model, f.Transform.Width())
}

// graphForward returns a forward pass that runs the graphs of a model of that many features.
func graphForward(model nn.Scorer, features int) (ranker.Forward, error) {
	pool := sync.Pool{New: func() any { return &graphScoring{model: model, width: features, batch: new(datasets.Batch)} }}
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

// File returns the file of a model that was trained without a [Trainer], on the features of d after
// the transform, and with the gain of that name. The highest label of d is the highest grade. If
// d has base scores, the model needs them. It is a copy of the weights.
func File(model nn.Scorer, t *transforms.Transform, d *datasets.Dataset, gain string) (*ranker.File, error) {
	settings, err := json.Marshal(model.Settings())
	if err != nil {
		return nil, fmt.Errorf("train: settings of the model: %w", err)
	}
	w, f := model.Weights(), fileFor(t, d, gain)
	f.Kind, f.Settings, f.Dtype = model.Kind(), settings, w.Dtype().String()
	for _, a := range w.Arrays() {
		f.Arrays = append(f.Arrays, ranker.Array{Name: a.Name, Shape: a.Shape, Values: w.Get(a.Name)})
	}
	return f, nil
}

// fileFor is the file of a model that was trained on d, without the model.
func fileFor(t *transforms.Transform, d *datasets.Dataset, gain string) *ranker.File {
	return &ranker.File{
		Transform: t, FeatureIDs: d.FeatureIDs, FeatureNames: d.FeatureNames, Levels: d.Levels, NumberLevels: d.NumberLevels, Gain: gain,
		Columns: d.Roles, BaseScores: d.BaseScores != nil, Grade: d.HighestLabel(),
	}
}

var dtypes = map[string]tensor.Dtype{"float32": tensor.Float32, "float64": tensor.Float64}

// weightsOf returns the weights of a model file.
func weightsOf(f *ranker.File) (*nn.Weights, error) {
	var arrays []nn.Array
	for _, a := range f.Arrays {
		arrays = append(arrays, nn.Array{Name: a.Name, Shape: a.Shape})
	}
	weights, err := nn.NewWeights(dtypes[f.Dtype], arrays...)
	if err != nil {
		return nil, err
	}
	for _, a := range f.Arrays {
		if err := weights.Set(a.Name, a.Values); err != nil {
			return nil, err
		}
	}
	return weights, nil
}

// Scorer returns the model of a file, of any kind that package nn knows, as a graph is built of it. It
// has a copy of the weights.
func Scorer(f *ranker.File) (nn.Scorer, error) {
	weights, err := weightsOf(f)
	if err != nil {
		return nil, err
	}
	return nn.Read(f.Kind, f.Settings, weights)
}
