package train

import (
	"fmt"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// remember keeps the queries of the training split for the model files, beside those of the
// initial model, and notes which of them other splits have: as the model sees them, by the
// features that it uses.
func (t *Trainer) remember() {
	s, columns := t.splits, t.transform.Used()
	queries := s.Train.QueryDigests(columns)
	train := ranker.NewQueryDigests(queries...)
	vali := s.Vali.QueryDigests(columns)
	t.warnShared(s.Vali, "training", train.Count(vali))
	if s.Test != nil {
		test := s.Test.QueryDigests(columns)
		t.warnShared(s.Test, "training", train.Count(test))
		t.warnShared(s.Test, "validation", ranker.NewQueryDigests(vali...).Count(test))
	}
	if t.parts.Initial != nil {
		train = ranker.NewQueryDigests(append(queries, t.parts.Initial.trained...)...)
	}
	t.current.trained, t.best.trained = train, train
}

func (t *Trainer) warnShared(d *datasets.Dataset, split string, n int) {
	if n > 0 {
		t.warnings = append(t.warnings, fmt.Sprintf("%s: %d of %d queries have the same documents as queries of the %s split: what is measured on them is no measure for new queries",
			d.Name, n, d.Queries(), split))
	}
}

// Warnings are what is odd about the splits together: queries of one that have the same
// documents as those of another, whatever their ids. Those of each by itself are in
// datasets.Splits.Warnings.
func (t *Trainer) Warnings() []string { return t.warnings }
