package fuse

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/fusion"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/viz"
)

// findings are what -json prints.
type findings struct {
	Metric  string                        `json:"metric"`
	Queries int                           `json:"queries"`
	Folds   int                           `json:"folds"`
	Methods []method                      `json:"methods"`
	Form    fusion.Form                   `json:"normalization"` // of the learned model
	K       float64                       `json:"k,omitempty"`   // of rrf
	Weights map[string]float64            `json:"weights"`
	Kinds   map[string]map[string]float64 `json:"kinds,omitempty"` // weights by kind of query, if they are better
	Advice  string                        `json:"advice"`

	tuned float64 // k of RRF with equal weights, of all queries
}

// A method is a way to rank, with the mean of its metric and the interval of that.
type method struct {
	Name             string           `json:"name"`
	metrics.Interval                  // of its values
	Difference       metrics.Interval `json:"difference"` // less the value of RRF with k = 60, query by query

	perQuery []float64
}

// constants are the k that the tuning of RRF tries. Of several that are as good, it takes the first.
var constants = []float64{60, 1, 2, 5, 10, 20, 30, 40, 80, 100, 200, 500}

// rrf returns reciprocal rank fusion with equal weights.
func rrf(k float64, runs int) fusion.Weights {
	return equal(fusion.Weights{Form: fusion.Reciprocal, K: k}, runs)
}

// equal returns the weights with equal ones of all runs.
func equal(w fusion.Weights, runs int) fusion.Weights {
	w.Runs = make([]float64, runs)
	floats.AddConst(1/float64(runs), w.Runs)
	return w
}

// A scorer scores the documents of query q, NaN where it has no rank.
type scorer func(q int) []float64

// combMNZ is CombSUM, the sum of scores between 0 and 1, times the number of runs that have the document.
func combMNZ(q *fusion.Query) []float64 {
	scores := rrf(0, len(q.Scores)) // equal weights
	scores.Form = fusion.MinMax
	sums := scores.Scores(q)
	for d := range sums {
		runs := 0.0
		for _, run := range q.Scores {
			if !math.IsNaN(run[d]) {
				runs++
			}
		}
		sums[d] *= runs
	}
	return sums
}

// values returns the metric of each query.
func (o *options) values(d *data, score scorer) ([]float64, error) {
	in := metrics.Queries{Offsets: []int{0}, HighestGrade: float64(d.highest), Gain: o.gain}
	for q := range d.queries {
		scores := score(q)
		for row, label := range d.labels[q] {
			in.Labels = append(in.Labels, label)
			unranked := row >= len(scores) || math.IsNaN(scores[row])
			if in.Unranked = append(in.Unranked, unranked); unranked {
				in.Scores = append(in.Scores, 0)
			} else {
				in.Scores = append(in.Scores, scores[row])
			}
		}
		in.Offsets = append(in.Offsets, len(in.Labels))
	}
	values, err := o.measure.PerQuery(in)
	return metrics.LabelFreeZero.Counted(values), err
}

// tuned returns the k of RRF that is best on the queries of all folds but one, −1: of all.
func tuned(values [][]float64, folds []int, without int, better func(a, b float64) bool) (k float64) {
	best := math.NaN()
	for i, v := range values {
		sum := 0.0
		for q, fold := range folds {
			if fold != without {
				sum += v[q]
			}
		}
		if better(sum, best) {
			best, k = sum, constants[i]
		}
	}
	return k
}

// compare measures all methods.
func (o *options) compare(d *data, model *fusion.Model) (*findings, error) {
	f := &findings{Metric: o.measure.String(), Queries: len(d.queries), Folds: len(model.Held), Form: model.Form, K: model.K,
		Weights: o.byRun(model.Weights), Kinds: map[string]map[string]float64{}}
	for kind, w := range model.Kinds {
		f.Kinds[kind] = o.byRun(w)
	}
	runs := len(o.runs)
	var byK [][]float64
	for _, k := range constants {
		v, err := o.values(d, func(q int) []float64 { return rrf(k, runs).Scores(d.queries[q]) })
		if err != nil {
			return nil, fmt.Errorf("fuse: %w", err)
		}
		byK = append(byK, v)
	}
	held := func(q int) fusion.Weights { return model.Held[model.Fold[q]] }
	weighted := func(weights func(q int) fusion.Weights) scorer {
		return func(q int) []float64 { return weights(q).Scores(d.queries[q]) }
	}
	add := func(name string, score scorer) error {
		v, err := o.values(d, score)
		if err != nil {
			return fmt.Errorf("fuse: %s: %w", name, err)
		}
		f.Methods = append(f.Methods, method{Name: name, perQuery: v})
		return nil
	}
	for r, path := range o.runs {
		if err := add("run "+path, func(q int) []float64 { return d.queries[q].Scores[r] }); err != nil {
			return nil, err
		}
	}
	for _, m := range []struct {
		name  string
		score scorer
	}{
		{usual, weighted(func(int) fusion.Weights { return rrf(60, runs) })},
		{"rrf(tuned)", weighted(func(q int) fusion.Weights { return rrf(tuned(byK, model.Fold, model.Fold[q], o.measure.Better), runs) })},
		{"combsum", weighted(func(int) fusion.Weights { return equal(fusion.Weights{Form: fusion.MinMax}, runs) })},
		{"combmnz", func(q int) []float64 { return combMNZ(d.queries[q]) }},
		{"equal", weighted(func(q int) fusion.Weights { return equal(held(q), runs) })},
		{"learned", weighted(held)},
	} {
		if err := add(m.name, m.score); err != nil {
			return nil, err
		}
	}
	if model.HeldKinds != nil {
		byKind := func(q int) fusion.Weights {
			if w, known := model.HeldKinds[model.Fold[q]][d.queries[q].Kind]; known {
				return w
			}
			return held(q)
		}
		if err := add("learned by kind", weighted(byKind)); err != nil {
			return nil, err
		}
	}
	f.tuned = tuned(byK, model.Fold, -1, o.measure.Better)
	return f, f.judge(o)
}

// byRun returns the weights by the path of the run.
func (o *options) byRun(w fusion.Weights) map[string]float64 {
	weights := map[string]float64{}
	for r, path := range o.runs {
		weights[path] = w.Runs[r]
	}
	return weights
}

const usual = "rrf(60)"

// judge adds the intervals and the advice. It compares one method, the last, so that there is one test.
func (f *findings) judge(o *options) error {
	base := f.Methods[len(o.runs)].perQuery
	for i := range f.Methods {
		m := &f.Methods[i]
		differences, err := metrics.Differences(m.perQuery, base)
		if err == nil {
			m.Interval, err = metrics.Bootstrap{}.MeanInterval(m.perQuery)
		}
		if err == nil {
			m.Difference, err = metrics.Bootstrap{}.MeanInterval(differences)
		}
		if err != nil {
			return fmt.Errorf("fuse: %s: %w", m.Name, err)
		}
	}
	learned := f.Methods[len(f.Methods)-1].Difference
	if o.measure.Better(learned.Low, 0) && o.measure.Better(learned.High, 0) {
		f.Advice = fmt.Sprintf("Use the learned weights: they differ from %s by %+.4f, and the interval does not reach 0.", usual, learned.Mean)
	} else {
		f.Advice = fmt.Sprintf("Keep %s: on these %d queries, learned weights are not certainly better. More judged queries may show it.", usual,
			f.Queries)
	}
	return nil
}

// print prints the methods, the advice, the weights, and the settings of engines.
func (o *options) print(w io.Writer, f *findings, model *fusion.Model) {
	fmt.Fprintf(w, "%s of %d queries, by cross-validation with %d folds\n", f.Metric, f.Queries, f.Folds)
	table := viz.Table{Columns: []string{"method", f.Metric, "95 % interval", "− " + usual, "95 % interval "}}
	ends := func(i metrics.Interval) string { return fmt.Sprintf("%.4f to %.4f", i.Low, i.High) }
	for _, m := range f.Methods {
		table.Rows = append(table.Rows, viz.Row{m.Name, m.Mean, ends(m.Interval), m.Difference.Mean, ends(m.Difference)})
	}
	fmt.Fprintf(w, "%s\n", table)
	cli.PrintNote(w, f.Advice)
	fmt.Fprintf(w, "\nlearned on all queries: %s\n", describe(model.Weights))
	weights := viz.Table{Columns: []string{"run", "weight"}}
	kinds := slices.Sorted(maps.Keys(model.Kinds))
	for _, kind := range kinds {
		weights.Columns = append(weights.Columns, cmp.Or(kind, "no kind"))
	}
	for r, path := range o.runs {
		row := viz.Row{path, model.Runs[r]}
		for _, kind := range kinds {
			row = append(row, model.Kinds[kind].Runs[r])
		}
		weights.Rows = append(weights.Rows, row)
	}
	fmt.Fprintf(w, "%s\n", weights)
	switch {
	case kinds != nil:
		cli.PrintNote(w, "No engine knows kinds of queries. What follows, as the model file, has the weights of all. Put those of a kind in "+
			"their place, and let the application choose, query by query: OpenSearch's pipeline, Vespa's rank profile, or what the "+
			"request to the others says.")
	case model.HeldKinds != nil:
		cli.PrintNote(w, "Weights by kind of query are not certainly better than the same for all, which stay.")
	}
	o.printEngines(w, model, f.tuned)
}

// describe names the form of weights.
func describe(w fusion.Weights) string {
	if w.Form == fusion.Reciprocal {
		return fmt.Sprintf("reciprocal ranks, weight/(%.3g + rank)", w.K)
	}
	return fmt.Sprintf("scores normalised by %s", w.Form)
}
