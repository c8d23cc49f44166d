package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const mostFeatures = 200 // in a table

// importance shows how much worse the metric gets when a feature is shuffled.
func (v *view) importance(ctx context.Context, r *rows) error {
	if v.data == nil {
		return nil
	}
	v.columns = v.usedColumns()
	used := len(v.columns)
	if used == 0 {
		r.text("The model uses no feature.")
		return nil
	}
	most := min(scoredRows, scoredNumbers/v.data.Width()) / (used * Permutations)
	if most < v.data.Rows()/max(1, v.data.Queries()) && v.data.Width() > scoredNumbers/scoredRows {
		r.text("No importance: to shuffle each of %d features takes long. plrank evaluate -importance does it.", used)
		return nil
	}
	sample := sampleOf(v.data, most)
	c := v.Config
	c.Metric = ImportanceMetric(c.Metric)
	list, err := train.Importances(ctx, c, train.Custom{}, v.Model, sample, Permutations)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.text("No importance: %s.", cut(err.Error(), mostText))
		return nil
	}
	for i, feature := range list {
		v.columns[i] = slices.Index(v.data.FeatureIDs, feature.Feature)
	}
	r.text("How much worse %s gets when the values of a feature are shuffled: mean and standard deviation "+
		"of %d permutations. Correlated features share their importance.%s", c.Metric, Permutations, sampleNote(sample, v.data))
	p := ImportancePlot(c.Metric, list)
	p.X = "" // too long for a small picture
	r.plot("Loss of "+short(c.Metric), p)
	title := fmt.Sprintf("All %d features that the model uses", used)
	if used > mostFeatures {
		title = fmt.Sprintf("The first %d of %d features that the model uses", mostFeatures, used)
	}
	r.details(title, rows{{Table: &table{ImportanceTable(list, mostFeatures)}}})
	return nil
}

func (v *view) usedColumns() (columns []int) {
	for _, id := range v.Model.UsedFeatures() {
		if column, ok := slices.BinarySearch(v.data.FeatureIDs, id); ok {
			columns = append(columns, column)
		}
	}
	return columns
}

// ImportanceMetric returns the metric by which features matter: of an expected one, the ranking's. Expectations depend on the scale of
// scores, which mixtures and single models do not share.
func ImportanceMetric(metric string) string {
	if m, err := metrics.ParseMeasure(metric); err == nil {
		return m.Ranking().String()
	}
	return metric
}

const (
	Permutations  = 5  // of each feature, for its importance
	ShownFeatures = 20 // in a picture of their importance
)

// ImportancePlot draws the most important features from the top down.
func ImportancePlot(metric string, list []train.Importance) viz.Plot {
	list = slices.Clone(list[:min(ShownFeatures, len(list))])
	slices.Reverse(list)
	s := viz.Series{Style: viz.Points}
	p := viz.Plot{X: "loss of " + metric}
	for y, i := range list {
		mean, sd := float64(i.Mean), float64(i.SD)
		s.X, s.Left, s.Right = append(s.X, mean), append(s.Left, mean-sd), append(s.Right, mean+sd)
		s.Y = append(s.Y, float64(y))
		p.YNames = append(p.YNames, short(i.Name))
	}
	p.Series = []viz.Series{{Style: viz.Guide, X: []float64{0, 0}, Y: []float64{0, float64(len(list)) - 0.5}}, s} // the axis has 0
	return p
}

// ImportanceTable returns the table of the most important features, with splits and gains of forests.
func ImportanceTable(list []train.Importance, most int) viz.Table {
	t := viz.Table{Columns: []string{"feature", "mean", "standard deviation"}}
	forest := slices.ContainsFunc(list, func(i train.Importance) bool { return i.Splits > 0 })
	if forest {
		t.Columns = append(t.Columns, "splits", "share of gains")
	}
	for _, i := range list[:min(most, len(list))] {
		row := viz.Row{short(i.Name), float64(i.Mean), float64(i.SD)}
		if forest {
			row = append(row, i.Splits, i.Gain)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

const (
	explainedRows    = 1000 // of queries whose first document is explained
	mostInteractions = 10   // in a table
)

// shares shows what features, and two of them together, give to the first documents of forests, whose Shapley values are exact.
func (v *view) shares(ctx context.Context, r *rows) error {
	if v.data == nil || !v.Model.ExplainsExactly() {
		return nil
	}
	d := sampleOf(v.data, explainedRows)
	scores, err := datasets.Score(v.Model, d)
	if err != nil {
		return err
	}
	parts, pairs := make([]float64, d.Width()), map[[2]int]float64{}
	for q := range d.Queries() {
		from, to := d.Offsets[q], d.Offsets[q+1]
		if to-from < 2 {
			continue
		}
		var base []float32
		if v.Model.OnBaseScores() && d.BaseScores != nil {
			base = d.BaseScores[from:to]
		}
		e, err := v.Model.Explain(ctx, d.Dense(nil, from, to), base,
			ranker.Comparison{Document: metrics.Rank(scores[from:to])[0], Other: ranker.MeanOfQuery, Interactions: true})
		if err != nil {
			return err
		}
		for c, value := range e.Values {
			parts[c] += math.Abs(value) / float64(d.Queries())
		}
		for _, i := range e.Interactions {
			pairs[i.Columns] += math.Abs(i.Value) / float64(d.Queries())
		}
	}
	r.text("Shapley values of the score of the first document of a query, less the mean of the query: the mean of their sizes, and of those "+
		"of the interactions of two features.%s", sampleNote(d, v.data))
	alone, together := viz.Table{Columns: []string{"feature", "mean size"}}, viz.Table{Columns: []string{"features together", "mean size"}}
	columns := num.DescendingOrder(nil, parts)
	for _, c := range columns[:min(ShownFeatures, len(columns))] {
		if parts[c] > 0 {
			alone.Rows = append(alone.Rows, viz.Row{short(v.Model.BlockName(c)), parts[c]})
		}
	}
	best := slices.SortedFunc(maps.Keys(pairs), func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(pairs[b], pairs[a]), slices.Compare(a[:], b[:]))
	})
	for _, p := range best[:min(mostInteractions, len(best))] {
		together.Rows = append(together.Rows, viz.Row{short(v.Model.BlockName(p[0])) + ", " + short(v.Model.BlockName(p[1])), pairs[p]})
	}
	r.table(alone)
	if together.Rows != nil {
		r.table(together)
	}
	return nil
}
