package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
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
	better := func(a, b int) int { return v.better(values[a], values[b]) }
	r.text("Queries whose documents have different labels, by %s. Each shows the first %d documents in the order of the model, and "+
		"documents of the best label below them.", v.metric, shownDocuments)
	show := func(title string, order func(a, b int) int, rankers ...ranked) error {
		list := slices.Clone(judged)
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Or(order(a, b), longer(a, b)) })
		shown, err := v.shown(list[:min(shownQueries, len(list))], rankers...)
		r.details(title, shown)
		return err
	}
	err := cmp.Or(show("Worst queries", func(a, b int) int { return -better(a, b) }), show("Best queries", better))
	before := v.perQuery(v.reference)[v.metric]
	if before == nil || err != nil {
		return err
	}
	reference := ranked{name: short(v.reference), values: before, scores: func(queries []int) ([]float64, error) {
		d := v.data.Select(queries)
		if b, ok := train.FeatureBaseline(v.reference, d); ok {
			return b.Ranker.Scores(d)
		}
		scores := make([]float64, d.Rows())
		for i, s := range d.BaseScores {
			scores[i] = float64(s)
		}
		return scores, nil
	}}
	return show("Most changed from "+reference.name, func(a, b int) int {
		return cmp.Compare(math.Abs(values[b]-before[b]), math.Abs(values[a]-before[a]))
	}, reference)
}

// better compares values of queries, the best first.
func (v *view) better(a, b float64) int {
	switch {
	case v.measure.Better(a, b):
		return -1
	case v.measure.Better(b, a):
		return 1
	}
	return 0
}

// A ranked holds values and scores of another ranker, to show next to the model's.
type ranked struct {
	name   string
	values []float64                              // by query
	scores func(queries []int) ([]float64, error) // of the documents
}

// shown returns tables of the documents of queries, ranked by the model and by other rankers.
func (v *view) shown(queries []int, others ...ranked) (all rows, err error) {
	d := v.data.Select(queries)
	scores, err := datasets.Score(v.Model, d)
	if err != nil {
		return nil, err
	}
	var more [][]float64
	for _, o := range others {
		others, err := o.scores(queries)
		if err != nil {
			return nil, err
		}
		more = append(more, others)
	}
	for i, q := range queries {
		title := fmt.Sprintf("Query %s: %s %.4f", short(d.QueryIDs[i]), v.metric, v.split.PerQuery[v.metric][q])
		for _, o := range others {
			title += fmt.Sprintf(", by %s %.4f", o.name, o.values[q])
		}
		from, to := d.Offsets[i], d.Offsets[i+1]
		t := viz.Table{Title: fmt.Sprintf("%d documents", to-from), Columns: []string{"rank"}}
		ranks := ranksOf(scores[from:to])
		var otherRanks [][]int
		for k, o := range others {
			otherRanks = append(otherRanks, ranksOf(more[k][from:to]))
			t.Columns = append(t.Columns, "by "+o.name)
		}
		t.Columns = append(t.Columns, "label", "score", "document")
		columns := v.columns[:min(shownFeatures, len(v.columns))]
		for _, c := range columns {
			t.Columns = append(t.Columns, short(d.FeatureName(c)))
		}
		for _, row := range shownRows(ranks, d.Labels[from:to]) {
			line := viz.Row{ranks[row]}
			for _, ranks := range otherRanks {
				line = append(line, ranks[row])
			}
			id := strconv.Itoa(row + 1)
			if d.DocumentIDs != nil {
				id = short(d.DocumentIDs[from+row])
			}
			line = append(line, strconv.FormatFloat(float64(d.Labels[from+row]), 'g', -1, 32), scores[from+row], id)
			for _, c := range columns {
				line = append(line, shownValue(d, d.Value(from+row, c), c))
			}
			t.Rows = append(t.Rows, line)
		}
		all.details(title, rows{{Table: &table{t}}})
	}
	return all, nil
}

// ranksOf returns the rank of each document by descending score, from 1. Documents with equal scores keep their order.
func ranksOf(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	ranks := make([]int, len(scores))
	for rank, document := range order {
		ranks[document] = rank + 1
	}
	return ranks
}

// shownRows returns the first documents of a ranking, and a few of the best label below them.
func shownRows(ranks []int, labels []float32) (rows []int) {
	for row := range ranks {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	best, missed := slices.Max(labels), 0
	return slices.DeleteFunc(rows, func(row int) bool {
		switch {
		case ranks[row] <= shownDocuments:
			return false
		case labels[row] == best && missed < shownMissed:
			missed++
			return false
		}
		return true
	})
}
