package cli

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// bySplit holds the values of rankers on each split: train.Values, or for folds their Spreads by metric.
type bySplit[V any] struct {
	Metrics   map[string]V            `json:"metrics"`   // of the model, by split: train, vali, test
	Baselines map[string]map[string]V `json:"baselines"` // by ranker and split
}

func newBySplit[V any]() bySplit[V] { return bySplit[V]{map[string]V{}, map[string]map[string]V{}} }

// add adds a split; the last ranker is the model.
func (s *bySplit[V]) add(split string, rankers []string, rows []V) {
	model := len(rankers) - 1
	s.Metrics[split] = rows[model]
	for i, name := range rankers[:model] {
		if s.Baselines[name] == nil {
			s.Baselines[name] = map[string]V{}
		}
		s.Baselines[name][split] = rows[i]
	}
}

// A RunSummary is the content of the result file of a run.
type RunSummary struct {
	BestEpoch   int          `json:"bestEpoch"`         // 0: the initial model, or a mixture
	Shares      []float64    `json:"shares,omitempty"`  // of the models of a mixture
	Epochs      int          `json:"epochs"`            // trained
	Skipped     int          `json:"skipped,omitempty"` // batches, see Config.OnNaN
	Interrupted bool         `json:"interrupted"`
	Initial     train.Values `json:"initial,omitempty"` // of the initial model on the validation split
	LabelFree   string       `json:"convention"`        // for label-free queries
	bySplit[train.Values]
}

// SummaryOf returns the summary of a run.
func SummaryOf(r *recipe.Result, report *train.Report) *RunSummary {
	s := &RunSummary{
		BestEpoch: r.BestEpoch, Shares: r.Shares, Epochs: len(r.History), Interrupted: r.Interrupted, Initial: r.Initial,
		LabelFree: report.LabelFree, bySplit: newBySplit[train.Values](),
	}
	for _, e := range r.History {
		s.Skipped += e.Skipped
	}
	for _, split := range report.Splits {
		s.add(split.Name, split.Rankers, split.Rows)
	}
	return s
}

// A FoldReport sums up the reports on the folds of a collection.
type FoldReport struct {
	Folds     []int       `json:"folds"`
	LabelFree string      `json:"convention"` // for label-free queries
	Metrics   []string    `json:"metrics"`    // in the order of a table
	Splits    []FoldSplit `json:"splits"`
}

// A FoldSplit is the part of a FoldReport on one split.
type FoldSplit struct {
	Name    string              `json:"name"` // train, vali or test
	Rankers []string            `json:"rankers"`
	Rows    []map[string]Spread `json:"rows"` // of the rankers, by metric
}

// A Spread holds the values of a metric on the folds, NaN for a fold without one, and the mean and standard deviation
// of the others, sqrt(Σ(x − mean)²/(n − 1)), which is NaN for a single value.
type Spread struct {
	Mean   train.Value   `json:"mean"`
	SD     train.Value   `json:"sd"`
	Values []train.Value `json:"values"` // by fold
}

// bestFeature is the name of the ranker by the best feature, where folds have different ones.
const bestFeature = "best single feature"

// SumUpFolds sums up the reports on the folds with the given numbers, one for each report. There is at least one, and
// all come from the same configuration.
func SumUpFolds(folds []int, reports []*train.Report) *FoldReport {
	r := &FoldReport{Folds: folds, LabelFree: reports[0].LabelFree, Metrics: reports[0].Metrics}
	for _, first := range reports[0].Splits {
		split := FoldSplit{Name: first.Name, Rankers: slices.Clone(first.Rankers)}
		for i, name := range first.Rankers {
			row := map[string]Spread{}
			for _, m := range r.Metrics {
				row[m] = spreadOf(reports, first.Name, i, m)
			}
			split.Rows = append(split.Rows, row)
			another := func(s train.SplitReport) bool { return s.Rankers[i] != name }
			if slices.ContainsFunc(reports, func(r *train.Report) bool { return slices.ContainsFunc(r.Splits, another) }) {
				split.Rankers[i] = bestFeature
			}
		}
		r.Splits = append(r.Splits, split)
	}
	return r
}

// spreadOf returns the spread of a metric of a ranker on a split; a report without the split has no value.
func spreadOf(reports []*train.Report, split string, ranker int, metric string) Spread {
	var s Spread
	var known []float64
	for _, r := range reports {
		v := math.NaN()
		if at := slices.IndexFunc(r.Splits, func(s train.SplitReport) bool { return s.Name == split }); at >= 0 {
			v = r.Splits[at].Value(ranker, metric)
		}
		s.Values = append(s.Values, train.Value(v))
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	mean, sd := stat.MeanStdDev(known, nil)
	s.Mean, s.SD = train.Value(mean), train.Value(sd)
	return s
}

// A FoldsSummary is the content of the FoldsFile, like a RunSummary with spreads for values.
type FoldsSummary struct {
	Folds       []int  `json:"folds"` // that were trained on to the end
	Interrupted bool   `json:"interrupted"`
	LabelFree   string `json:"convention"` // for label-free queries
	bySplit[map[string]Spread]
}
