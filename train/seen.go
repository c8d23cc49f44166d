package train

import (
	"fmt"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// seenQueries are the queries of the training split for the model files, beside those of the
// initial model; and warnings of those that other splits have, too: as the model sees them, by the
// features that it uses.
func seenQueries(s datasets.Splits, t *datasets.Transform, initial *ranker.Model) (seen ranker.QueryDigests, warnings []string) {
	warn := func(d *datasets.Dataset, split string, n int) {
		if n > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %d of %d queries have the same documents as queries of the %s split: metrics on them say little about new queries",
				d.Name, n, d.Queries(), split))
		}
	}
	columns := t.Used()
	queries := s.Train.QueryDigests(columns)
	train := ranker.NewQueryDigests(queries...)
	vali := s.Vali.QueryDigests(columns)
	warn(s.Vali, "training", train.Count(vali))
	if s.Test != nil {
		test := s.Test.QueryDigests(columns)
		warn(s.Test, "training", train.Count(test))
		warn(s.Test, "validation", ranker.NewQueryDigests(vali...).Count(test))
	}
	if initial != nil {
		train = ranker.NewQueryDigests(append(queries, initial.File().TrainingQueries...)...)
	}
	return train, warnings
}
