package fuse

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/fusion"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/metrics"
)

// data are the judged queries, with the documents that a run retrieved first and judged ones that none did after them.
type data struct {
	queries []*fusion.Query
	labels  [][]float32
	highest float32
	cutoff  int // ranks of the expected NDCG
}

// read reads the judgements and the runs.
func (o *options) read(ctx context.Context, stderr io.Writer) (*data, error) {
	judged, err := cli.Await(ctx, func() (*datasets.Dataset, error) { return datasets.ReadQrels(o.qrels) })
	if err != nil {
		return nil, err
	}
	warnings := judged.Warnings
	runs, queries := make([]*datasets.Run, len(o.runs)), make([]map[string]int, len(o.runs))
	for i, path := range o.runs {
		if slices.Contains(o.runs[:i], path) {
			return nil, fmt.Errorf("fuse: %s is named twice: want different runs", path)
		}
		if runs[i], err = cli.Await(ctx, func() (*datasets.Run, error) { return datasets.ReadRun(path, judged) }); err != nil {
			return nil, err
		}
		queries[i] = map[string]int{}
		for q, id := range runs[i].QueryIDs {
			queries[i][id] = q
		}
		if n := judged.Queries() - runs[i].Queries(); n > 0 {
			warnings = append(warnings, fmt.Sprintf("%s lacks %d of the %d judged queries: other runs alone rank these", path, n, judged.Queries()))
		}
		for _, warning := range runs[i].Warnings {
			if !strings.Contains(warning, "judged queries are not in the run") { // they are not left out here
				warnings = append(warnings, warning)
			}
		}
	}
	d := &data{cutoff: o.cutoff()}
	lost, irrelevant := 0, 0
	for row := range judged.Queries() {
		from, to := judged.Offsets[row], judged.Offsets[row+1]
		q, labels := join(judged.QueryIDs[row], judged.DocumentIDs[from:to], judged.Labels[from:to], runs, queries)
		switch {
		case len(q.Gains) == 0:
			lost++
		case slices.Max(labels) <= 0:
			irrelevant++
		default:
			d.queries, d.labels = append(d.queries, q), append(d.labels, labels)
			d.highest = max(d.highest, slices.Max(labels))
		}
	}
	if lost > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of the %d judged queries are in no run: they are left out", lost, judged.Queries()))
	}
	if irrelevant > 0 {
		warnings = append(warnings, fmt.Sprintf("%d judged queries have no relevant document: they are left out", irrelevant))
	}
	if o.kinds != "" && len(d.queries) >= 3 {
		warning, err := setKinds(o.kinds, d.queries)
		if err != nil {
			return nil, err
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	command.Warn(stderr, warnings...)
	if len(d.queries) < 3 {
		return nil, fmt.Errorf("fuse: %d queries have a relevant document and are in a run: want 3 or more, and better 50", len(d.queries))
	}
	return d, d.scale(o.gain)
}

// join joins the judgements of a query with the runs that have it.
func join(id string, documents []string, judged []float32, runs []*datasets.Run, queries []map[string]int) (*fusion.Query, []float32) {
	q, rows, byID := &fusion.Query{ID: id, Scores: make([][]float64, len(runs))}, map[string]int{}, map[string]float32{}
	for d, label := range judged {
		byID[documents[d]] = label
	}
	var labels []float32
	each := func(f func(run, row int, document string)) {
		for i, run := range runs {
			if n, found := queries[i][id]; found {
				for row := run.Offsets[n]; row < run.Offsets[n+1]; row++ {
					if run.Unranked == nil || !run.Unranked[row] {
						f(i, row, run.DocumentIDs[row])
					}
				}
			}
		}
	}
	each(func(_, _ int, document string) {
		if _, known := rows[document]; !known {
			rows[document] = len(rows)
			labels = append(labels, byID[document])
			delete(byID, document)
		}
	})
	for i := range runs {
		q.Scores[i] = make([]float64, len(rows))
		floats.AddConst(math.NaN(), q.Scores[i])
	}
	each(func(run, row int, document string) { q.Scores[run][rows[document]] = runs[run].Scores[row] })
	q.Gains = make([]float64, len(rows))
	for _, document := range documents { // in the order of the file
		if label, left := byID[document]; left {
			labels = append(labels, label)
		}
	}
	return q, labels
}

// scale sets the gains, divided by the best DCG of all judged documents.
func (d *data) scale(gain metrics.Gain) error {
	if d.cutoff == 0 {
		for _, q := range d.queries {
			d.cutoff = max(d.cutoff, len(q.Gains))
		}
	}
	discounts := metrics.Discounts(d.cutoff)
	for i, q := range d.queries {
		gains, err := gain.Gains(d.labels[i])
		if err != nil {
			return fmt.Errorf("fuse: query %s: %w", q.ID, err)
		}
		if best := metrics.IdealDCG(gains, discounts); best > 0 { // fractions of tools have no binary gain
			floats.ScaleTo(q.Gains, 1/best, gains[:len(q.Gains)])
		}
	}
	return nil
}
