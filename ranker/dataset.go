package ranker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/internal/parallel"
)

// Scores gives the scores of all documents of d, in the order of its rows, on all cores:
// those of [Model.Score], or of [Model.ScoreOn] for a model that needs base scores, which are else
// not used. Labels do not matter, and may be nil. Features of other ids, names or Levels than the model's are an
// error, and so are features that Score refuses; the error names the query. To read a file in the model's order is
// what [Model.ReadOptions] are for.
func (m *Model) Scores(d *datasets.Dataset) ([]float64, error) {
	if d == nil {
		return nil, errors.New("ranker: the dataset to score is nil")
	}
	if err := m.checkDataset(d); err != nil {
		return nil, err
	}
	rows, width := len(d.Features)/max(1, d.Width()), d.Width()
	if m.file.BaseScores && len(d.BaseScores) != rows {
		return nil, fmt.Errorf("ranker: %s: %d base scores for %d documents, and the model adds its scores to them: want them in a column (-base-column), or one a line in a file FILE.init beside the data",
			d.Name, len(d.BaseScores), rows)
	}
	scores := make([]float64, rows)
	err := parallel.Each(d.Queries(), parallel.Workers(d.Queries()), func(_, q int) error {
		from, to := d.Offsets[q], d.Offsets[q+1]
		var base []float32
		if m.file.BaseScores {
			base = d.BaseScores[from:to]
		}
		if _, err := m.ScoreOn(context.Background(), scores[from:from:to], d.Features[from*width:to*width], base); err != nil {
			return fmt.Errorf("%s: query %s: %w", d.Name, d.QueryIDs[q], err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return scores, nil
}

// checkDataset is an error if d has other features than the model, or its queries do not have whole
// rows.
func (m *Model) checkDataset(d *datasets.Dataset) error {
	err := names.CheckFeatures(d.Name, names.Features{IDs: d.FeatureIDs, Names: d.FeatureNames, Levels: d.Levels},
		"the model", names.Features{IDs: m.file.FeatureIDs, Names: m.file.FeatureNames, Levels: m.file.Levels})
	if err != nil {
		return fmt.Errorf("ranker: %w", err)
	}
	rows := 0
	if n := len(d.Offsets); n > 0 {
		rows = d.Offsets[n-1]
		if d.Offsets[0] != 0 || !slices.IsSorted(d.Offsets) {
			return fmt.Errorf("ranker: %s: the offsets of queries must ascend from 0", d.Name)
		}
	}
	if len(d.Features) != rows*d.Width() {
		return fmt.Errorf("ranker: %s: %d feature values for %d documents of %d features", d.Name, len(d.Features), rows, d.Width())
	}
	if d.Labels != nil && len(d.Labels) != rows {
		return fmt.Errorf("ranker: %s: %d labels for %d documents", d.Name, len(d.Labels), rows)
	}
	return nil
}

// UsedFeatures are the FeatureIDs that scores depend on: those of features that varied within a
// query of the training data, and of categorical ones.
func (m *Model) UsedFeatures() []int {
	var used []int
	for _, column := range m.file.Transform.Used() {
		used = append(used, m.file.FeatureIDs[column])
	}
	return used
}

// TrainedOn is the number of queries of d that the model was trained on: those with the
// documents of a training query by all features, whatever their labels, see [datasets.Dataset.QueryDigests]. It is 0
// for a model whose file has no such digests of queries, such as one of an older version that does not use all
// features. Other feature ids than the model's are an error.
func (m *Model) TrainedOn(d *datasets.Dataset) (int, error) {
	if err := m.checkDataset(d); err != nil {
		return 0, err
	}
	if len(m.file.TrainingQueries) == 0 {
		return 0, nil
	}
	return m.file.TrainingQueries.Count(d.QueryDigests()), nil
}
