package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
)

// A Ranker scores raw documents by running the graphs of a model: of any kind that
// package nn knows. It serves one goroutine at a time; another one gets an error.
type Ranker struct {
	busy      sync.Mutex
	model     nn.Scorer
	transform *datasets.Transform
	ids       []int
	names     []string // of the features, or nil
	gain      string
	trained   ranker.QueryDigests // see ranker.File
	grade     float64             // the highest, see ranker.File
	graphs    graphs[*scoreGraph]
	batch     datasets.Batch
}

func newRanker(model nn.Scorer, t *datasets.Transform, ids []int, names []string, gain string, grade float64) *Ranker {
	return &Ranker{model: model, transform: t, ids: ids, names: names, gain: gain, grade: grade, graphs: graphs[*scoreGraph]{}}
}

// NewRanker makes a ranker of a model that was trained without a [Trainer], on the
// features of d after the transform, and with the gain of that name. The highest label of d
// is the highest grade.
func NewRanker(model nn.Scorer, t *datasets.Transform, d *datasets.Dataset, gain string) *Ranker {
	grade := float32(0)
	for _, label := range d.Labels {
		grade = max(grade, label)
	}
	return newRanker(model, t, d.FeatureIDs, d.FeatureNames, gain, float64(grade))
}

// LoadRanker reads a model file. A file that is damaged or not consistent in itself is
// an error. Models of one's own kind are made known by [nn.Register] first.
func LoadRanker(path string) (*Ranker, error) {
	m, err := ranker.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := rankerOf(m.File())
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", path, err)
	}
	return r, nil
}

// ReadRanker is LoadRanker for a file that is read from r, to its end: that of an
// embed.FS, or of an upload.
func ReadRanker(r io.Reader) (*Ranker, error) {
	m, err := ranker.Read(r)
	if err != nil {
		return nil, err
	}
	read, err := rankerOf(m.File())
	if err != nil {
		return nil, fmt.Errorf("train: the model: %w", err)
	}
	return read, nil
}

var dtypes = map[string]tensor.Dtype{"float32": tensor.Float32, "float64": tensor.Float64}

func rankerOf(f *ranker.File) (*Ranker, error) {
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
	model, err := nn.Read(f.Kind, f.Settings, weights)
	if err != nil {
		return nil, err
	}
	r := newRanker(model, f.Transform, f.FeatureIDs, f.FeatureNames, f.Gain, f.Grade)
	r.trained = f.TrainingQueries
	if _, err := r.graph(datasets.Capacity(1)); err != nil {
		return nil, fmt.Errorf("the model and the transform of its features do not fit: %w", err)
	}
	return r, nil
}

// File is what the model file holds.
func (r *Ranker) File() (*ranker.File, error) {
	settings, err := json.Marshal(r.model.Settings())
	if err != nil {
		return nil, fmt.Errorf("train: settings of the model: %w", err)
	}
	w := r.model.Weights()
	f := &ranker.File{
		Kind: r.model.Kind(), Settings: settings, Dtype: w.Dtype().String(),
		Transform: r.transform, FeatureIDs: r.ids, FeatureNames: r.names, Gain: r.gain, Grade: r.grade,
		TrainingQueries: r.trained,
	}
	for _, a := range w.Arrays() {
		f.Arrays = append(f.Arrays, ranker.Array{Name: a.Name, Shape: a.Shape, Values: w.Get(a.Name)})
	}
	return f, nil
}

// Model is the model as package ranker uses it: without graphs, and by any number of
// goroutines.
func (r *Ranker) Model() (*ranker.Model, error) {
	f, err := r.File()
	if err != nil {
		return nil, err
	}
	return ranker.New(f)
}

// Save writes the model file, see [ranker.File].
func (r *Ranker) Save(path string) error {
	f, err := r.File()
	if err != nil {
		return err
	}
	return f.Save(path)
}

// Scorer is the model.
func (r *Ranker) Scorer() nn.Scorer { return r.model }

// FeatureIDs are the ids of the features that the model wants, ascending: what to
// give datasets.ReadFile.
func (r *Ranker) FeatureIDs() []int { return slices.Clone(r.ids) }

// UsedFeatures are those of FeatureIDs that scores depend on: the ones that varied
// within a query of the training data, and the categorical ones.
func (r *Ranker) UsedFeatures() []int {
	var ids []int
	for _, c := range r.transform.Used() {
		ids = append(ids, r.ids[c])
	}
	return ids
}

// categorical are the ids of the categorical features.
func (r *Ranker) categorical() (ids []int) {
	for _, c := range r.transform.Categories {
		ids = append(ids, r.ids[c.Column])
	}
	return ids
}

// FeatureNames are the names of those features, nil where the training data had
// none: what to give datasets.ReadFile, too.
func (r *Ranker) FeatureNames() []string { return slices.Clone(r.names) }

// Gain names how labels became gains when the model was trained.
func (r *Ranker) Gain() string { return r.gain }

// ErrBusy is the error of a Ranker that another goroutine is using.
var ErrBusy = errors.New("the ranker is in use by another goroutine: load one for each")

// Close frees the memory of the graphs. A ranker that goes on to score makes them
// anew.
func (r *Ranker) Close() error {
	if !r.busy.TryLock() {
		return fmt.Errorf("train: %w", ErrBusy)
	}
	defer r.busy.Unlock()
	return r.graphs.close()
}

// chunkRows is how many rows are scored at once, at least where there are as
// many.
const chunkRows = 2048

// Score gives the scores of all documents of d, in the order of its rows; labels do
// not matter, and may be nil. Other feature ids than the model's are an error, and so
// is a score that is not a finite number, with its row. A call while another one goes
// on is [ErrBusy].
func (r *Ranker) Score(d *datasets.Dataset) ([]float64, error) {
	d, err := r.scorable(d)
	if err != nil {
		return nil, err
	}
	return r.score(d, nil, chunks(d))
}

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

// score is the scores of some chunks of d that stand one after another, at the places of
// their rows; with the features of d after the transform, or nil.
func (r *Ranker) score(d *datasets.Dataset, features *datasets.Transformed, chunks []int) ([]float64, error) {
	if !r.busy.TryLock() {
		return nil, fmt.Errorf("train: %w", ErrBusy)
	}
	defer r.busy.Unlock()
	if d.Queries() == 0 {
		return []float64{}, nil
	}
	scores := make([]float64, d.Offsets[chunks[0]], d.Rows())
	var queries []int
	for i := range len(chunks) - 1 {
		queries = queries[:0]
		for q := chunks[i]; q < chunks[i+1]; q++ {
			if d.Offsets[q+1] > d.Offsets[q] {
				queries = append(queries, q)
			}
		}
		var err error
		if scores, err = r.scoreChunk(scores, d, features, queries, d.Offsets[chunks[i+1]]-d.Offsets[chunks[i]]); err != nil {
			return nil, err
		}
	}
	return scores[:d.Rows()], nil
}

// scorable is d with labels, whose values do not matter, after looking that it is
// whole and has the features of the model.
func (r *Ranker) scorable(d *datasets.Dataset) (*datasets.Dataset, error) {
	if d == nil {
		return nil, errors.New("train: the dataset to score is nil")
	}
	if !slices.Equal(d.FeatureIDs, r.ids) {
		return nil, fmt.Errorf("train: %s has other feature ids than the model: %s", d.Name, difference(d.FeatureIDs, r.ids))
	}
	rows := 0
	if len(d.Offsets) > 0 {
		rows = d.Offsets[len(d.Offsets)-1]
	}
	if len(d.Offsets) > 0 && d.Offsets[0] != 0 || !slices.IsSorted(d.Offsets) {
		return nil, fmt.Errorf("train: %s: the offsets of queries must ascend from 0", d.Name)
	}
	if len(d.Features) != rows*len(r.ids) {
		return nil, fmt.Errorf("train: %s: %d feature values for %d documents of %d features", d.Name, len(d.Features), rows, len(r.ids))
	}
	if d.Labels == nil {
		with := *d
		with.Labels = make([]float32, rows)
		d = &with
	}
	if len(d.Labels) != rows {
		return nil, fmt.Errorf("train: %s: %d labels for %d documents", d.Name, len(d.Labels), rows)
	}
	return d, nil
}

// graph is the graph for so many rows.
func (r *Ranker) graph(capacity int) (*scoreGraph, error) {
	return r.graphs.get(capacity, func() (*scoreGraph, error) { return newScoreGraph(r.model, capacity, r.transform.Width()) })
}

// scoreChunk appends the scores of some queries.
func (r *Ranker) scoreChunk(scores []float64, d *datasets.Dataset, features *datasets.Transformed, queries []int, rows int) ([]float64, error) {
	capacity := datasets.Capacity(rows)
	g, err := r.graph(capacity)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if features == nil {
		r.batch.Pack(d, r.transform, queries, capacity, capacity)
	} else {
		r.batch.PackTransformed(features, queries, capacity, capacity)
	}
	values, err := g.run(&r.batch)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", d.Name, err)
	}
	for _, s := range values[:rows] {
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
