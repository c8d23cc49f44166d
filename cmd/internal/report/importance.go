package report

import (
	"context"
	"fmt"
	"slices"

	"github.com/plrank/plrank/metrics"
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
	sample := sampleOf(v.data, scoredRows/(used*Permutations))
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
	all := viz.Table{Columns: []string{"feature", "mean", "standard deviation"}}
	forest := v.Model.Splits() != nil
	if forest {
		all.Columns = append(all.Columns, "splits", "share of gains")
	}
	for _, i := range list[:min(mostFeatures, len(list))] {
		all.Rows = append(all.Rows, viz.Row{short(i.Name), float64(i.Mean), float64(i.SD)})
		if forest {
			all.Rows[len(all.Rows)-1] = append(all.Rows[len(all.Rows)-1], i.Splits, i.Gain)
		}
	}
	title := fmt.Sprintf("All %d features that the model uses", used)
	if used > mostFeatures {
		title = fmt.Sprintf("The first %d of %d features that the model uses", mostFeatures, used)
	}
	r.details(title, rows{{Table: &table{all}}})
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
