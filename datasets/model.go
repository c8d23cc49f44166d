package datasets

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/transforms"
)

// A Model is a trained model in use, such as ranker.Model, which documents them.
type Model interface {
	FeatureIDs() []int
	FeatureNames() []string
	Levels() [][]string
	NumberLevels() []int
	Vectors() []transforms.Vector
	Products() []transforms.Product
	Columns() map[string]string
	OnBaseScores() bool
	ComparesDocuments() bool
	ScoreOn(ctx context.Context, dst []float64, features, base []float32) ([]float64, error)
	Seen(digests []uint64) int
}

// A sparseModel scores sparse documents in time and memory by their values that are not 0. Others see dense ones, about denseAtOnce
// values at a time.
type sparseModel interface {
	TakesSparse() bool
	ScoreSparse(ctx context.Context, dst []float64, rows *Sparse, base []float32) ([]float64, error)
}

const denseAtOnce = 1 << 22

// OptionsFor returns the options to read a file for a model: the features, by name if the model has
// names, the texts of categorical ones, and the columns of labels, ids and the like.
func OptionsFor(m Model) ReadOptions {
	return ReadOptions{
		OfModel: true, FeatureIDs: m.FeatureIDs(), FeatureNames: m.FeatureNames(), Levels: m.Levels(), NumberLevels: m.NumberLevels(),
		Roles: m.Columns(), Vectors: m.Vectors(), Products: m.Products(),
	}
}

// Score returns the scores of all documents of d by a model, in the order of the rows, on all
// cores. A model that was trained on base scores adds its scores to the base scores of d. Labels may be nil. Score returns an error if d
// has features of other ids, names or Levels than the model, or if the model refuses the features of a query, which the error
// names. [OptionsFor] reads a file in the order of the model.
func Score(m Model, d *Dataset) ([]float64, error) {
	if d == nil {
		return nil, errors.New("datasets: the dataset to score is nil")
	}
	if err := d.checkFor(m); err != nil {
		return nil, err
	}
	d, err := d.ForModel(m)
	if err != nil {
		return nil, err
	}
	rows := 0
	if n := len(d.Offsets); n > 0 {
		rows = d.Offsets[n-1]
	}
	sparse, _ := m.(sparseModel)
	if !d.IsSparse() || sparse != nil && !sparse.TakesSparse() {
		sparse = nil
	}
	onBase := m.OnBaseScores()
	if onBase && len(d.BaseScores) != rows {
		return nil, fmt.Errorf("datasets: %s: %d base scores for %d documents, and the model adds its scores to them: want them in a column "+
			"(-base-column), or one a line in a file FILE.init next to the data",
			d.Name, len(d.BaseScores), rows)
	}
	scores := make([]float64, rows)
	score := func(first, end int) error { // queries
		from, to := d.Offsets[first], d.Offsets[end]
		var base []float32
		if onBase {
			base = d.BaseScores[from:to]
		}
		var err error
		if sparse != nil {
			cut := d.Sparse.Cut(from, to)
			_, err = sparse.ScoreSparse(context.Background(), scores[from:from:to], &cut, base)
		} else {
			_, err = m.ScoreOn(context.Background(), scores[from:from:to], d.Dense(nil, from, to), base)
		}
		return err
	}
	together := 512 // documents: a forest takes the time of 64 for one
	if d.IsSparse() && sparse == nil {
		together = min(together, 1+denseAtOnce/d.Width())
	}
	if m.ComparesDocuments() {
		together = 0
	}
	blocks := d.Blocks(together)
	err = parallel.Each(len(blocks)-1, parallel.Workers(len(blocks)-1), func(_, i int) error {
		if blocks[i+1]-blocks[i] > 1 && score(blocks[i], blocks[i+1]) == nil {
			return nil
		}
		for q := blocks[i]; q < blocks[i+1]; q++ { // to name the query that fails
			if err := score(q, q+1); err != nil {
				return fmt.Errorf("%s: query %s: %w", d.Name, d.QueryIDs[q], err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return scores, nil
}

// Blocks divides d into parts of whole queries, each of at least a number of documents, except for the last; 0: each query is a
// part. It returns the first query of each part, and the number of queries.
func (d *Dataset) Blocks(documents int) []int {
	first, rows := []int{0}, 0
	for q := range d.Queries() {
		if rows += d.Offsets[q+1] - d.Offsets[q]; rows >= documents || q == d.Queries()-1 {
			first, rows = append(first, q+1), 0
		}
	}
	return first
}

// checkFor returns an error if d has other features than the model, or its queries do not have whole
// rows.
func (d *Dataset) checkFor(m Model) error {
	err := names.CheckFeatures(d.Name, names.Features{IDs: d.FeatureIDs, Names: d.FeatureNames, Levels: d.Levels},
		"the model", names.Features{IDs: m.FeatureIDs(), Names: m.FeatureNames(), Levels: m.Levels()})
	if err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	rows := 0
	if n := len(d.Offsets); n > 0 {
		rows = d.Offsets[n-1]
		if d.Offsets[0] != 0 || !slices.IsSorted(d.Offsets) {
			return fmt.Errorf("datasets: %s: the offsets of queries must ascend from 0", d.Name)
		}
	}
	if err := d.checkValues(rows); err != nil {
		return fmt.Errorf("datasets: %s: %w", d.Name, err)
	}
	if d.Labels != nil && len(d.Labels) != rows {
		return fmt.Errorf("datasets: %s: %d labels for %d documents", d.Name, len(d.Labels), rows)
	}
	return nil
}
