package train

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
)

// A Ranker scores raw documents: a model with the transform of its features. It
// is not for use by several goroutines at once.
type Ranker struct {
	model     *nn.MLP
	transform *datasets.Transform
	ids       []int
	names     []string // of the features, or nil
	gain      string
	graphs    map[int]*scoreGraph
	batch     datasets.Batch
}

func newRanker(model *nn.MLP, t *datasets.Transform, ids []int, names []string, gain string) *Ranker {
	return &Ranker{model: model, transform: t, ids: ids, names: names, gain: gain, graphs: map[int]*scoreGraph{}}
}

// LoadRanker reads a model file that Save wrote. A file that is damaged or not
// consistent in itself is an error.
func LoadRanker(path string) (*Ranker, error) {
	f, err := nn.Load(path)
	if err != nil {
		return nil, err
	}
	t := &datasets.Transform{}
	if err := json.Unmarshal(f.Transform, t); err != nil {
		return nil, fmt.Errorf("train: %s: feature transform: %w", path, err)
	}
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("train: %s: %w", path, err)
	}
	if t.Inputs != len(f.FeatureIDs) || t.Width() != f.Model.Config().Features {
		return nil, fmt.Errorf("train: %s: %d feature ids, a transform from %d to %d features and a model of %d do not fit",
			path, len(f.FeatureIDs), t.Inputs, t.Width(), f.Model.Config().Features)
	}
	return newRanker(f.Model, t, f.FeatureIDs, f.FeatureNames, f.Gain), nil
}

// Save writes the model file, see [nn.File].
func (r *Ranker) Save(path string) error {
	t, err := json.Marshal(r.transform)
	if err != nil {
		return err
	}
	return (&nn.File{Model: r.model, Transform: t, FeatureIDs: r.ids, FeatureNames: r.names, Gain: r.gain}).Save(path)
}

// FeatureIDs are the ids of the features that the model wants, ascending: what to
// give datasets.ReadFile.
func (r *Ranker) FeatureIDs() []int { return slices.Clone(r.ids) }

// FeatureNames are the names of those features, nil where the training data had
// none: what to give datasets.ReadFile, too.
func (r *Ranker) FeatureNames() []string { return slices.Clone(r.names) }

// Gain names how labels became gains when the model was trained.
func (r *Ranker) Gain() string { return r.gain }

// chunkRows is how many rows are scored at once, at least where there are as
// many.
const chunkRows = 2048

// Score gives the scores of all documents of d, in the order of its rows. Other
// feature ids than the model's are an error, and so is a score that is not a
// finite number, with its row.
func (r *Ranker) Score(d *datasets.Dataset) ([]float64, error) {
	if !slices.Equal(d.FeatureIDs, r.ids) {
		return nil, fmt.Errorf("train: %s has other feature ids than the model: %s", d.Name, difference(d.FeatureIDs, r.ids))
	}
	scores := make([]float64, 0, d.Rows())
	var chunk []int
	rows := 0
	for q := range d.Queries() {
		chunk = append(chunk, q)
		rows += d.Offsets[q+1] - d.Offsets[q]
		if rows < chunkRows && q < d.Queries()-1 {
			continue
		}
		var err error
		if scores, err = r.scoreChunk(scores, d, chunk, rows); err != nil {
			return nil, err
		}
		chunk, rows = chunk[:0], 0
	}
	return scores, nil
}

// scoreChunk appends the scores of some queries.
func (r *Ranker) scoreChunk(scores []float64, d *datasets.Dataset, queries []int, rows int) ([]float64, error) {
	capacity := rung(rows)
	g := r.graphs[capacity]
	if g == nil {
		var err error
		if g, err = newScoreGraph(r.model, capacity, r.transform.Width()); err != nil {
			return nil, fmt.Errorf("train: %w", err)
		}
		r.graphs[capacity] = g
	}
	r.batch.Pack(d, r.transform, queries, capacity, len(queries))
	values, err := g.run(r.batch.X)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", d.Name, err)
	}
	for _, v := range values[:rows] {
		s := float64(v)
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("train: %s: the score of row %d is %v", d.Name, len(scores), s)
		}
		scores = append(scores, s)
	}
	return scores, nil
}

// difference says how two ascending lists of feature ids differ.
func difference(got, want []int) string {
	for _, id := range got {
		if _, ok := slices.BinarySearch(want, id); !ok {
			return fmt.Sprintf("%d is not one of the model's %d", id, len(want))
		}
	}
	for _, id := range want {
		if _, ok := slices.BinarySearch(got, id); !ok {
			return fmt.Sprintf("%d is missing", id)
		}
	}
	return "they are not in ascending order"
}
