package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/viz"
)

const (
	mostDocuments  = 100 // in a curve
	leastDocuments = 10  // even if queries are long
	mostValues     = 20  // of a feature
	mostTexts      = 12
)

// dependences draws how the score depends on each of the most important features.
func (v *view) dependences(ctx context.Context, r *rows) error {
	if v.data == nil || len(v.columns) == 0 {
		return nil
	}
	// Each value needs the scores of a query, or of one document if the model does not compare documents.
	rows := max(1, v.data.Rows()/max(1, v.data.Queries()))
	if !v.Model.ComparesDocuments() {
		rows = 1
	}
	sample := sampleOf(v.data, v.data.Rows()/max(1, v.data.Queries())*max(leastDocuments, min(mostDocuments, scoredRows/(mostValues*rows))))
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
				sample.Queries())
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
	curves = make([][]float64, d.Queries())
	err = parallel.Each(d.Queries(), parallel.Workers(d.Queries()), func(_, q int) error {
		from, to := d.Offsets[q], d.Offsets[q+1]
		if from == to {
			return nil
		}
		document := from + int(num.SplitMixNext(uint64(q))%uint64(to-from))
		if !v.Model.ComparesDocuments() {
			from, to = document, document+1
		}
		width := d.Width()
		features := slices.Clone(d.Dense(nil, from, to))
		var base []float32
		if v.Model.OnBaseScores() {
			base = d.BaseScores[from:to]
		}
		var scores, curve []float64
		for _, value := range values {
			for row := range to - from {
				if ofQuery || from+row == document {
					features[row*width+column] = value
				}
			}
			var err error
			if scores, err = v.Model.ScoreOn(ctx, scores[:0], features, base); err != nil {
				return err
			}
			curve = append(curve, scores[document-from])
		}
		mean := stat.Mean(curve, nil)
		for i := range curve {
			curve[i] -= mean
		}
		curves[q] = curve
		return nil
	})
	return slices.DeleteFunc(curves, func(c []float64) bool { return c == nil }), values, err
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
