package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/viz"
)

const (
	shownQueries   = 4  // of each kind
	shownDocuments = 10 // of a query
	shownMissed    = 3  // with its best label, below these
)

// queries shows the worst, best, and most changed queries with their documents.
func (v *view) queries(_ context.Context, r *rows) error {
	if v.data == nil || v.data.Gains != nil {
		return nil
	}
	values := v.split.PerQuery[v.metric]
	var judged []int
	for q, value := range values {
		labels := v.data.Labels[v.data.Offsets[q]:v.data.Offsets[q+1]]
		if len(labels) > 1 && slices.Max(labels) > slices.Min(labels) && !math.IsNaN(value) {
			judged = append(judged, q)
		}
	}
	if judged == nil {
		return nil
	}
	longer := func(a, b int) int { // shows more
		return cmp.Compare(v.data.Offsets[b+1]-v.data.Offsets[b], v.data.Offsets[a+1]-v.data.Offsets[a])
	}
	worse := func(a, b int) int { return cmp.Compare(values[a], values[b]) }
	if v.measure.LowerIsBetter() {
		worse = func(a, b int) int { return cmp.Compare(values[b], values[a]) }
	}
	r.text("Queries whose documents have different labels, by %s. Each shows the first %d documents in the order of the model, and "+
		"documents of the best label below them.", v.metric, shownDocuments)
	show := func(title string, order func(a, b int) int, others ...ranked) error {
		list := slices.Clone(judged)
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Or(order(a, b), longer(a, b)) })
		shown, err := v.shown(list[:min(shownQueries, len(list))], others...)
		r.details(title, shown)
		return err
	}
	err := cmp.Or(show("Worst queries", worse), show("Best queries", func(a, b int) int { return worse(b, a) }))
	before := v.perQuery(v.reference)[v.metric]
	if before == nil || err != nil {
		return err
	}
	return show("Most changed from "+short(v.reference), func(a, b int) int {
		return cmp.Compare(math.Abs(values[b]-before[b]), math.Abs(values[a]-before[a]))
	}, ranked{short(v.reference), before})
}

// A ranked holds the values of another ranker by query, to show next to the model's.
type ranked struct {
	name   string
	values []float64
}

// shown returns tables of the documents of queries, in the order of the model.
func (v *view) shown(queries []int, others ...ranked) (all rows, err error) {
	d := v.data.Select(queries)
	scores, err := datasets.Score(v.Model, d)
	if err != nil {
		return nil, err
	}
	columns := v.columns[:min(shownFeatures, len(v.columns))]
	for i, q := range queries {
		title := fmt.Sprintf("Query %s: %s %.4f", short(d.QueryIDs[i]), v.metric, v.split.PerQuery[v.metric][q])
		for _, o := range others {
			title += fmt.Sprintf(", by %s %.4f", o.name, o.values[q])
		}
		from, to := d.Offsets[i], d.Offsets[i+1]
		t := viz.Table{Title: fmt.Sprintf("%d documents", to-from), Columns: []string{"rank", "label", "score", "document"}}
		for _, c := range columns {
			t.Columns = append(t.Columns, short(d.FeatureName(c)))
		}
		order := num.DescendingOrder(nil, scores[from:to])
		for _, rank := range shownRanks(order, d.Labels[from:to]) {
			row := from + order[rank]
			id := strconv.Itoa(order[rank] + 1)
			if d.DocumentIDs != nil {
				id = short(d.DocumentIDs[row])
			}
			line := viz.Row{rank + 1, strconv.FormatFloat(float64(d.Labels[row]), 'g', -1, 32), scores[row], id}
			for _, c := range columns {
				line = append(line, shownValue(d, d.Value(row, c), c))
			}
			t.Rows = append(t.Rows, line)
		}
		all.details(title, rows{{Table: &table{t}}})
	}
	return all, nil
}

// shownRanks returns the first ranks of a ranking, from 0, and a few ranks below with documents of the best label.
func shownRanks(order []int, labels []float32) (ranks []int) {
	best, left := slices.Max(labels), shownDocuments+shownMissed
	for rank, row := range order {
		if rank < shownDocuments || labels[row] == best && len(ranks) < left {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// shownValue returns a value of a feature as in the data.
func shownValue(d *datasets.Dataset, value float32, column int) string {
	v := cli.FeatureValue(d, value, column)
	if v == nil {
		return "missing"
	}
	return short(fmt.Sprint(v))
}
