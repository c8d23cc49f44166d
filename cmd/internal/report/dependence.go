package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/viz"
)

const (
	mostDocuments = 100 // in a curve
	mostValues    = 20  // of a feature
	mostTexts     = 12
)

// dependences draws how the score depends on each of the most important features.
func (v *view) dependences(ctx context.Context, r *rows) error {
	if v.data == nil || len(v.columns) == 0 || v.data.IsSparse() {
		return nil
	}
	sample := sampleOf(v.data, min(scoredRows/mostValues, mostDocuments*v.data.Rows()/max(1, v.data.Queries())))
	varying := v.data.Varying(true)
	for _, column := range v.columns[:min(shownFeatures, len(v.columns))] {
		_, varies := slices.BinarySearch(varying, column)
		curves, values, err := v.dependence(ctx, sample, column, !varies)
		if err != nil {
			return err
		}
		if len(values) < 2 {
			continue
		}
		if *r == nil {
			r.text("How a document's score changes with the value of one feature. Each document's mean over the values is subtracted. "+
				"Shown are the mean, and the range from the 10th to the 90th percentile, of %d documents, each from another query.",
				len(curves))
		}
		r.plot("Feature "+short(sample.FeatureName(column)), dependencePlot(sample, column, values, curves))
	}
	return nil
}

// dependence returns the scores of one random document of each query for each value of a column, less the document's mean. A query
// feature changes for all documents of the query.
func (v *view) dependence(ctx context.Context, d *datasets.Dataset, column int, ofQuery bool) (
	curves [][]float64, values []float32, err error) {
	if values = grid(d, column); len(values) < 2 { // the sample has no second one
		values = grid(v.data, column)
	}
	var documents, changes []int // rows
	for q := range d.Queries() {
		from, to := d.Offsets[q], d.Offsets[q+1]
		if from == to {
			continue
		}
		documents = append(documents, from+int(num.SplitMixNext(uint64(q))%uint64(to-from)))
		for row := from; row < to; row++ {
			if ofQuery || row == documents[len(documents)-1] {
				changes = append(changes, row)
			}
		}
	}
	changed := *d
	changed.Features, curves = slices.Clone(d.Features), make([][]float64, len(documents))
	for _, value := range values {
		for _, row := range changes {
			changed.Row(row)[column] = value
		}
		scores, err := datasets.Score(v.Model, &changed)
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return nil, nil, err
		}
		for i, row := range documents {
			curves[i] = append(curves[i], scores[row])
		}
	}
	for _, curve := range curves {
		floats.AddConst(-stat.Mean(curve, nil), curve)
	}
	return curves, values, nil
}

// grid returns the values of a column, or quantiles if there are many. Of texts it returns the most frequent.
func grid(d *datasets.Dataset, column int) []float32 {
	counts := map[float32]int{}
	var all []float32
	for row := range d.Rows() {
		if x := d.Value(row, column); x-x == 0 {
			counts[x]++
			all = append(all, x)
		}
	}
	values := slices.Sorted(maps.Keys(counts))
	switch {
	case d.Levels != nil && d.Levels[column] != nil:
		slices.SortStableFunc(values, func(a, b float32) int { return cmp.Compare(counts[b], counts[a]) })
		return values[:min(mostTexts, len(values))]
	case len(values) <= mostValues:
		return values
	}
	slices.Sort(all)
	values = values[:0]
	for i := range mostValues {
		values = append(values, all[i*(len(all)-1)/(mostValues-1)])
	}
	return slices.Compact(values)
}

// dependencePlot draws the mean of curves and their spread: a line with a band, or for texts, points with bars.
func dependencePlot(d *datasets.Dataset, column int, values []float32, curves [][]float64) viz.Plot {
	var mean, low, high, at []float64
	for i, value := range values {
		var scores []float64
		for _, c := range curves {
			scores = append(scores, c[i])
		}
		slices.Sort(scores)
		mean = append(mean, stat.Mean(scores, nil))
		low, high = append(low, stat.Quantile(0.1, stat.Empirical, scores, nil)), append(high, stat.Quantile(0.9, stat.Empirical, scores, nil))
		at = append(at, float64(value))
	}
	if d.Levels == nil || d.Levels[column] == nil {
		return viz.Plot{X: "value", Y: "score", Series: []viz.Series{{X: at, Y: mean, Low: low, High: high, Style: viz.LinePoints}}}
	}
	p := viz.Plot{X: "score", Series: []viz.Series{{X: mean, Left: low, Right: high, Style: viz.Points}}}
	for i, value := range values {
		p.Series[0].Y = append(p.Series[0].Y, float64(len(values)-1-i))
		p.YNames = append([]string{shownValue(d, value, column)}, p.YNames...)
	}
	return p
}

// shownValue returns a value of a feature as in the data.
func shownValue(d *datasets.Dataset, value float32, column int) string {
	v := cli.FeatureValue(d, value, column)
	if v == nil {
		return "missing"
	}
	return short(fmt.Sprint(v))
}
