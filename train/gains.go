package train

import (
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets"
)

// Gains of documents are made and packed in this file alone: from labels by Config.Gain, or as clicks gave them.

// rawGains returns the gain of every document of d: its own, or else the gain of its label. An error says where the label
// is that has none.
func (l *trainingLoss) rawGains(d *datasets.Dataset) (gains []float64, err error) {
	if d.Gains != nil {
		return d.Gains, nil
	}
	gains = make([]float64, d.Rows())
	for row, label := range d.Labels {
		if gains[row], err = l.gain.Of(label); err != nil {
			return nil, fmt.Errorf("train: %s: %w", d.Where(row), err)
		}
	}
	return gains, nil
}

// gains returns the gains of d as the loss takes them: with Config.NormalizeGains, the gains of a query are divided by its
// ideal value of the objective, if that is above 0.
func (l *trainingLoss) gains(d *datasets.Dataset) ([]float32, error) {
	raw, err := l.rawGains(d)
	if err != nil {
		return nil, err
	}
	gains := make([]float32, len(raw))
	for q := range d.Queries() {
		from, to, norm := d.Offsets[q], d.Offsets[q+1], 1.0
		if l.settings.NormalizeGains {
			if best := l.discounts.Norm(raw[from:to]); best > 0 {
				norm = best
			}
		}
		for i := from; i < to; i++ {
			gains[i] = float32(raw[i] / norm)
		}
	}
	return gains, nil
}

// relevantQueries returns the queries of d with a document whose gain is not 0: above 0, or of any sign if gains were
// estimated from clicks. It returns an error if a label has no gain.
func (l *trainingLoss) relevantQueries(d *datasets.Dataset) ([]int, error) {
	gains, err := l.rawGains(d)
	if err != nil {
		return nil, err
	}
	relevant := func(gain float64) bool { return gain != 0 }
	return queriesWhere(d, func(from, to int) bool { return slices.ContainsFunc(gains[from:to], relevant) }), nil
}

// queriesWhere returns the queries of d whose rows are as wanted.
func queriesWhere(d *datasets.Dataset, wanted func(from, to int) bool) (queries []int) {
	for q := range d.Queries() {
		if wanted(d.Offsets[q], d.Offsets[q+1]) {
			queries = append(queries, q)
		}
	}
	return queries
}
