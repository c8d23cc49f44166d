package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/viz"
)

// tables shows the metrics of every split. The last split comes first, with intervals.
func (v *view) tables(_ context.Context, r *rows) error {
	for i, split := range v.splits() {
		t, err := v.table(split)
		if err != nil {
			return err
		}
		if i > 0 {
			r.details("Split "+split, rows{{Table: &table{t}}})
			continue
		}
		r.table(t)
		if slices.Contains(t.Columns, interval) {
			r.text("Intervals are 95 %% bootstrap intervals over queries. If the interval of the gain is above 0, the model is better than " +
				"random order.")
		}
		if v.changed(split) {
			r.text("On the data as they are now, the model has other values than in the run: the data have changed, or plrank has. The table " +
				"shows the values of the run. All parts below are measured on the data as they are now.")
		}
	}
	return nil
}

const interval = "interval"

// splits returns the names of the splits that have values, the test split or a model file's first.
func (v *view) splits() (names []string) {
	for _, name := range []string{"data", "test", "vali", "train"} {
		if v.results.Metrics[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// lastSplit returns the name of the split that the page examines.
func (v *view) lastSplit() string {
	if v.data != nil {
		return v.split.Name
	}
	return append(v.splits(), "vali")[0]
}

// value returns a metric of a ranker on a split, NaN if it is unknown. The model's name is "".
func (v *view) value(split, ranker, metric string) float64 {
	values := v.results.Metrics[split]
	if ranker != "" {
		values = v.results.Baselines[ranker][split]
	}
	if value, ok := values[metric]; ok {
		return float64(value)
	}
	return math.NaN()
}

// changed reports whether the model's values on a split differ from those in its result.
func (v *view) changed(split string) bool {
	if v.data == nil || split != v.split.Name {
		return false
	}
	model := len(v.split.Rows) - 1
	for metric, then := range v.results.Metrics[split] {
		now := v.split.Value(model, metric)
		if both := !math.IsNaN(now) && !math.IsNaN(float64(then)); both && math.Abs(now-float64(then)) > 1e-9*(1+math.Abs(now)) {
			return true
		}
	}
	return false
}

// table returns the table of a split, with a row for each metric.
func (v *view) table(split string) (viz.Table, error) {
	values := v.results.Metrics[split]
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(v.results.Baselines)), func(name string) bool {
		return name == randomOrder || v.results.Baselines[name][split] == nil
	})
	intervals := v.data != nil && split == v.split.Name && !v.changed(split)
	t := viz.Table{Title: "Split " + split, Columns: []string{"metric", "model"}}
	if intervals {
		t.Columns = append(t.Columns, interval)
	}
	t.Columns = append(t.Columns, randomOrder)
	if intervals {
		t.Columns = append(t.Columns, "gain over random order", interval)
	}
	for _, name := range others {
		t.Columns = append(t.Columns, short(name))
	}
	names := slices.DeleteFunc(slices.Clone(v.names), func(name string) bool { _, there := values[name]; return !there })
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, metric := range names {
		row := viz.Row{metric, v.value(split, "", metric)}
		var model, gain string
		if intervals {
			var err error
			if model, gain, err = v.intervals(metric, v.value(split, "", metric)); err != nil {
				return t, err
			}
			row = append(row, model)
		}
		row = append(row, v.value(split, randomOrder, metric))
		if intervals {
			row = append(row, v.value(split, "", metric)-v.value(split, randomOrder, metric), gain)
		}
		for _, name := range others {
			row = append(row, v.value(split, name, metric))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// intervals returns the intervals of a metric's mean on the last split, and of its difference to random order. It returns "–" if the
// value is not this mean, for example if queries have weights.
func (v *view) intervals(metric string, value float64) (model, gain string, err error) {
	own, random := v.split.PerQuery[metric], v.perQuery(randomOrder)[metric]
	var values, differences []float64
	for q, x := range own {
		if !math.IsNaN(x) {
			values = append(values, x)
			if random != nil && !math.IsNaN(random[q]) {
				differences = append(differences, x-random[q])
			}
		}
	}
	if len(values) == 0 || math.Abs(stat.Mean(values, nil)-value) > 1e-9*(1+math.Abs(value)) {
		return "–", "–", nil
	}
	b := v.bootstrap(len(values), 2000)
	text := func(values []float64) string {
		i, e := b.MeanInterval(values)
		err = cmp.Or(err, e)
		return fmt.Sprintf("%.4f to %.4f", i.Low, i.High)
	}
	model, gain = text(values), "–"
	if len(differences) == len(values) {
		gain = text(differences)
	}
	return model, gain, err
}

// bootstrap returns the settings for intervals over that many queries.
func (v *view) bootstrap(queries, mostResamples int) metrics.Bootstrap {
	return metrics.Bootstrap{Seed: v.Config.Seed, Resamples: max(250, min(mostResamples, resampled/max(1, queries)))}
}

// perQuery returns the metrics by query of a ranker other than the model, nil if no ranker has this name.
func (v *view) perQuery(ranker string) map[string][]float64 {
	if i := slices.Index(v.split.Rankers, ranker); i >= 0 && i < len(v.split.OthersPerQuery) {
		return v.split.OthersPerQuery[i]
	}
	return nil
}
