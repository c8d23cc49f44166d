package compare

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

const (
	mostFiles    = 26   // each is called by a letter
	level        = 0.95 // of the intervals
	shownQueries = 5    // on which two files differ most
)

// usualMetrics are compared unless -metric names one: the last that all files have. ndcg_cut_10 is trec_eval's name for
// the next.
var usualMetrics = []string{"map", "ndcg_cut_10", "ndcg@10"}

// findings are what -json prints.
type findings struct {
	Metric        string  `json:"metric"`
	LowerIsBetter bool    `json:"lowerIsBetter,omitempty"`
	Queries       int     `json:"queries"` // that all files have
	Runs          []means `json:"runs"`
	Pairs         []pair  `json:"pairs"`

	comparisons []metrics.Comparison

	metrics []string // of the means
	values  [][]float64
}

// means holds the means of a file, each over the queries that have the metric in all files.
type means struct {
	File  string       `json:"file"`
	Means train.Values `json:"means"`
}

// A pair is the comparison of two files, by their numbers in runs, from 0.
type pair struct {
	A             int            `json:"a"`
	B             int            `json:"b"`
	Difference    float64        `json:"difference"` // mean of A − B
	Low           float64        `json:"low"`        // of its interval
	High          float64        `json:"high"`
	T             metrics.PValue `json:"t"`
	Randomization metrics.PValue `json:"randomization"`
	Wins          int            `json:"wins"` // of A
	Ties          int            `json:"ties"`
	Losses        int            `json:"losses"`
	Most          []query        `json:"mostDifferent"`
}

type query struct {
	ID string      `json:"query"`
	A  train.Value `json:"a"`
	B  train.Value `json:"b"`
}

// find compares runs by one metric.
func (o *options) find(ctx context.Context, runs []*run, stderr io.Writer) (*findings, error) {
	f := &findings{Metric: o.metric}
	var texts, thresholds []string
	for _, r := range runs {
		texts = append(texts, r.values.Texts...)
		if r.threshold != "" && !slices.Contains(thresholds, r.threshold) {
			thresholds = append(thresholds, r.threshold)
		}
	}
	command.Warn(stderr, thresholds...)
	if slices.Sort(texts); texts != nil {
		command.Warn(stderr, fmt.Sprintf("measures whose values are texts are left out: %s", strings.Join(slices.Compact(texts), ", ")))
	}
	for _, metric := range runs[0].values.Metrics {
		if !slices.ContainsFunc(runs, func(r *run) bool { return !slices.Contains(r.values.Metrics, metric) }) {
			f.metrics = append(f.metrics, metric)
		}
	}
	if f.metrics == nil {
		return nil, fmt.Errorf("compare: no metric is in all files: %s has %s", runs[0].path, strings.Join(runs[0].values.Metrics, ", "))
	}
	if f.Metric == "" {
		f.Metric = f.metrics[0]
		for _, usual := range usualMetrics {
			if slices.Contains(f.metrics, usual) {
				f.Metric = usual
			}
		}
	} else if m, err := metrics.ParseMeasure(f.Metric); err == nil && !slices.Contains(f.metrics, f.Metric) {
		f.Metric = m.String() // precision@5 for P@5
	}
	if !slices.Contains(f.metrics, f.Metric) {
		return nil, fmt.Errorf("compare: not all files have the metric %q: %s", f.Metric, names.Want(f.Metric, f.metrics))
	}
	measure, err := metrics.ParseMeasure(f.Metric)
	if err != nil { // one of trec_eval: more is better
		measure = metrics.NewMeasure(f.Metric, false, nil)
	}
	f.LowerIsBetter = measure.LowerIsBetter()
	queries := f.take(runs, stderr)
	if len(queries) < 2 {
		return nil, fmt.Errorf("compare: queries that have %s in all files: %d: want two or more of the same ids", f.Metric, len(queries))
	}
	if pairs := len(runs) * (len(runs) - 1) / 2; pairs*len(queries) > 100_000 { // some seconds
		fmt.Fprintf(stderr, "resampling the differences of %d pairs of files, %d queries\n", pairs, len(queries))
	}
	f.comparisons, err = cli.Await(ctx, func() ([]metrics.Comparison, error) {
		return metrics.Compare(measure, f.values, metrics.Bootstrap{Level: level, Seed: o.Config.Seed})
	})
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	for _, p := range f.comparisons {
		f.Pairs = append(f.Pairs, pair{
			A: p.A, B: p.B, Difference: p.Difference.Mean, Low: p.Difference.Low, High: p.Difference.High, T: p.T,
			Randomization: p.Randomization, Wins: p.Wins, Ties: p.Ties, Losses: p.Losses,
			Most: mostDifferent(queries, f.values[p.A], f.values[p.B]),
		})
	}
	return f, nil
}

// take takes the values of the metric, and the means of all metrics, on the queries that all runs have.
func (f *findings) take(runs []*run, stderr io.Writer) (queries []string) {
	queries, f.values = shared(runs, f.Metric)
	f.Queries = len(queries)
	most := 0
	for _, r := range runs {
		_, own := r.values.Column(f.Metric)
		most = max(most, len(own))
		f.Runs = append(f.Runs, means{r.path, train.Values{}})
	}
	if left := most - len(queries); left > 0 {
		command.Warn(stderr, fmt.Sprintf("%d of %d queries do not have %s in all files: they are left out", left, most, f.Metric))
	}
	for _, metric := range f.metrics {
		_, values := shared(runs, metric)
		for i, v := range values {
			f.Runs[i].Means[metric] = train.Value(stat.Mean(v, nil))
		}
	}
	return queries
}

// shared returns the queries that have a metric in all runs, and its values by run.
func shared(runs []*run, metric string) (queries []string, values [][]float64) {
	values = make([][]float64, len(runs))
	for _, id := range runs[0].values.Queries {
		if slices.ContainsFunc(runs, func(r *run) bool { return math.IsNaN(r.values.Value(id, metric)) }) {
			continue
		}
		queries = append(queries, id)
		for i, r := range runs {
			values[i] = append(values[i], r.values.Value(id, metric))
		}
	}
	return queries, values
}

// mostDifferent returns the queries on which a and b differ most, the largest difference first.
func mostDifferent(queries []string, a, b []float64) []query {
	list := make([]query, 0, len(queries))
	for q, id := range queries {
		if a[q] != b[q] {
			list = append(list, query{id, train.Value(a[q]), train.Value(b[q])})
		}
	}
	difference := func(q query) float64 { return math.Abs(float64(q.A - q.B)) }
	slices.SortStableFunc(list, func(x, y query) int { return cmp.Compare(difference(y), difference(x)) })
	return list[:min(shownQueries, len(list))]
}
