package rundir

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/train"
)

// A FoldReport sums up the reports on the folds of a collection.
type FoldReport struct {
	Folds      []int       `json:"folds"`
	Convention string      `json:"convention"` // for label-free queries
	Metrics    []string    `json:"metrics"`    // in the order of a table
	Splits     []FoldSplit `json:"splits"`
}

// A FoldSplit is the part of a FoldReport on one split.
type FoldSplit struct {
	Name    string              `json:"name"` // train, vali or test
	Rankers []string            `json:"rankers"`
	Rows    []map[string]Spread `json:"rows"` // of the rankers, by metric
}

// A Spread is the values of a metric on the folds, those that have none being
// NaN, and the mean and the standard deviation of the others,
// sqrt(Σ(x − mean)²/(n − 1)). That of a single value is NaN.
type Spread struct {
	Mean   train.Value   `json:"mean"`
	SD     train.Value   `json:"sd"`
	Values []train.Value `json:"values"` // by fold
}

// SumUp sums up the reports on folds with the given numbers, as many as reports
// (at least one), which come from the same configuration.
func SumUp(folds []int, reports []*train.Report) *FoldReport {
	r := &FoldReport{Folds: folds, Convention: reports[0].Convention, Metrics: reports[0].Metrics}
	for _, first := range reports[0].Splits {
		split := FoldSplit{Name: first.Name, Rankers: slices.Clone(first.Rankers)}
		for i := range first.Rankers {
			row := map[string]Spread{}
			for _, m := range r.Metrics {
				var values []float64
				for _, report := range reports {
					values = append(values, valueOf(report, first.Name, i, m))
				}
				row[m] = spread(values)
			}
			split.Rows = append(split.Rows, row)
		}
		for _, report := range reports {
			for _, other := range report.Splits {
				for i, name := range other.Rankers {
					if name != first.Rankers[i] {
						split.Rankers[i] = "best single feature" // another one in each fold
					}
				}
			}
		}
		r.Splits = append(r.Splits, split)
	}
	return r
}

// valueOf is NaN where the report has no such split.
func valueOf(r *train.Report, split string, ranker int, metric string) float64 {
	for _, s := range r.Splits {
		if s.Name == split {
			return s.Value(ranker, metric)
		}
	}
	return math.NaN()
}

func spread(values []float64) Spread {
	var s Spread
	var known []float64
	for _, v := range values {
		s.Values = append(s.Values, train.Value(v))
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	mean, sd := stat.MeanStdDev(known, nil)
	s.Mean, s.SD = train.Value(mean), train.Value(sd)
	return s
}

// A FoldsSummary is what is in the FoldsFile, a Summary with spreads for values.
type FoldsSummary struct {
	Folds       []int                                   `json:"folds"` // that were trained on to the end
	Interrupted bool                                    `json:"interrupted"`
	Convention  string                                  `json:"convention"` // for label-free queries
	Metrics     map[string]map[string]Spread            `json:"metrics"`    // of the model, by split
	Baselines   map[string]map[string]map[string]Spread `json:"baselines"`  // by ranker and split
}

// summary is what the FoldsFile says of a report.
func (r *FoldReport) summary(interrupted bool) FoldsSummary {
	s := FoldsSummary{
		Folds: r.Folds, Interrupted: interrupted, Convention: r.Convention,
		Metrics: map[string]map[string]Spread{}, Baselines: map[string]map[string]map[string]Spread{},
	}
	for _, split := range r.Splits {
		model := len(split.Rankers) - 1
		s.Metrics[split.Name] = split.Rows[model]
		for i, name := range split.Rankers[:model] {
			if s.Baselines[name] == nil {
				s.Baselines[name] = map[string]map[string]Spread{}
			}
			s.Baselines[name][split.Name] = split.Rows[i]
		}
	}
	return s
}
