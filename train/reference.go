package train

import (
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// newReference describes the training documents, for a model with this transform. It is nil if they have no rows of features, or
// are sparse with more than mostDense features.
func newReference(d *datasets.Dataset, t *transforms.Transform) *ranker.Reference {
	w := d.Width()
	if d.IsSparse() && w > mostDense || !d.IsSparse() && len(d.Features) < d.Rows()*w {
		return nil
	}
	used := make([]bool, w)
	for _, c := range t.Used() {
		used[c] = true
	}
	return ranker.NewReference(used, d.Levels, func(q int) []float32 { return d.Dense(nil, d.Offsets[q], d.Offsets[q+1]) }, d.Offsets)
}

// mostDense bounds the features of sparse documents that a reference sees as dense ones.
const mostDense = 4000

// mostScored bounds the documents behind the scores of a reference.
const mostScored = 2000

// ReferScores adds the scores of some of the documents of d to the reference of a model that is not yet in use, if it has one. It
// leaves out models on base scores, whose logs have none, and models that have no scores for some documents.
func ReferScores(m *ranker.Model, d *datasets.Dataset) {
	r := m.File().Reference
	if r == nil || m.OnBaseScores() {
		return
	}
	sample := d.Select(num.Sample(max(1, d.Queries()*mostScored/max(mostScored, d.Rows())), d.Queries()))
	if scores, err := datasets.Score(m, sample); err == nil && len(scores) > 0 {
		r.SetScores(scores, sample.Offsets)
	}
}
