package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// letter returns the name of a run in tables and pictures.
func (v *view) letter() string { return string(rune('A' + v.number - 1)) }

// sideBySide compares several runs: values, paired tests and curves.
func sideBySide(ctx context.Context, views []*view) (group, error) {
	t := together(views)
	return newGroup(ctx, "together", "Side by side",
		part{"values", "Values", t.values},
		part{"tests", "Paired tests", t.tests},
		part{"curves", "Curves", t.curves})
}

// together are several runs on one page.
type together []*view

// values shows the values of all runs on the last split of the first.
func (views together) values(_ context.Context, r *rows) error {
	split := views[0].lastSplit()
	legend, t := viz.Table{}, viz.Table{Title: "Split " + split, Columns: []string{"metric"}}
	all := train.Values{}
	for _, v := range views {
		legend.Rows = append(legend.Rows, viz.Row{v.letter(), short(v.Name)})
		t.Columns = append(t.Columns, v.letter())
		maps.Copy(all, v.results.Metrics[split])
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		line := viz.Row{name}
		for _, v := range views {
			line = append(line, v.value(split, "", name))
		}
		t.Rows = append(t.Rows, line)
	}
	r.table(legend)
	r.table(t)
	return nil
}

// incomparable says why two runs cannot be tested query by query; "" if they can.
func incomparable(a, b *view) string {
	x, y := a.Config, b.Config
	switch {
	case a.data == nil || b.data == nil:
		return "the data were not found"
	case !slices.Equal(a.data.QueryIDs, b.data.QueryIDs) || !slices.Equal(a.data.Labels, b.data.Labels) || !slices.Equal(a.data.Offsets,
		b.data.Offsets):
		return "their last splits have different queries or labels"
	case x.Gain != y.Gain || x.Discounts != y.Discounts || x.LabelFree != y.LabelFree || x.Ties != y.Ties:
		return "the runs measure differently: -gain, -discounts, -convention or -ties"
	case b.split.PerQuery[a.metric] == nil || a.split.PerQuery[a.metric] == nil:
		return fmt.Sprintf("only one of them has %s: train with -report to measure it", a.metric)
	}
	return ""
}

// tests shows paired tests of all pairs of runs that can be compared with the first.
func (views together) tests(ctx context.Context, r *rows) error {
	first := views[0]
	var list []*view
	var values [][]float64
	for _, v := range views {
		if why := incomparable(first, v); why != "" {
			r.text("%s is not tested against %s: %s.", v.letter(), first.letter(), why)
			continue
		}
		list, values = append(list, v), append(values, slices.Clone(v.split.PerQuery[first.metric]))
	}
	if len(list) < 2 {
		return nil
	}
	var queries []int // with a value in all runs
	for q := range values[0] {
		if !slices.ContainsFunc(values, func(run []float64) bool { return math.IsNaN(run[q]) }) {
			for i := range values {
				values[i][len(queries)] = values[i][q]
			}
			queries = append(queries, q)
		}
	}
	for i := range values {
		values[i] = values[i][:len(queries)]
	}
	b := first.bootstrap(len(queries), 10_000)
	pairs, err := cli.Await(ctx, func() ([]metrics.Comparison, error) { return metrics.Compare(first.measure, values, b) })
	if err != nil {
		r.text("No tests: %s.", short(err.Error()))
		return ctx.Err()
	}
	t := Pairs(pairs, func(run int) string { return list[run].letter() })
	t.Title = fmt.Sprintf("Differences of %s, %d queries", first.metric, len(queries))
	r.table(t)
	r.text("t-test, Fisher: p-values of the paired t-test and of Fisher's randomization test. Holm: the p-value to the left, adjusted for " +
		"all comparisons. w/t/l: queries won, tied and lost.")
	if first.data.Gains != nil {
		return nil
	}
	for _, v := range list[1:] {
		other := v.split.PerQuery[first.metric]
		difference := func(q int) float64 { return math.Abs(other[q] - first.split.PerQuery[first.metric][q]) }
		changed := slices.DeleteFunc(slices.Clone(queries), func(q int) bool { return difference(q) == 0 })
		slices.SortStableFunc(changed, func(a, b int) int { return cmp.Compare(difference(b), difference(a)) })
		shown, err := first.shown(changed[:min(shownQueries, len(changed))], ranked{v.letter(), other})
		if err != nil {
			return err
		}
		r.details(fmt.Sprintf("Queries on which %s and %s differ most", first.letter(), v.letter()), shown)
	}
	return nil
}

// Pairs returns the table of comparisons of every two runs. name returns the name of a run.
func Pairs(list []metrics.Comparison, name func(run int) string) viz.Table {
	t := viz.Table{Columns: []string{"", "mean", "95 % interval", "t-test", "Holm", "Fisher", "Holm", "w/t/l"}}
	for _, p := range list {
		t.Rows = append(t.Rows, viz.Row{
			name(p.A) + " − " + name(p.B), p.Difference.Mean, fmt.Sprintf("%.4f, %.4f", p.Difference.Low, p.Difference.High),
			pText(p.T.P), pText(p.T.Holm), pText(p.Randomization.P), pText(p.Randomization.Holm),
			fmt.Sprintf("%d/%d/%d", p.Wins, p.Ties, p.Losses),
		})
	}
	return t
}

// pText returns a p-value as tables show it.
func pText(p float64) string {
	if p < 0.0001 {
		return "<.0001"
	}
	return cli.FormatValue(train.Value(p))
}

// curves draws the validation metric of all runs.
func (views together) curves(_ context.Context, r *rows) error {
	var plots []viz.Plot // by metric
	for _, v := range views {
		if len(v.History) == 0 {
			continue
		}
		metric := v.Config.Metric
		if _, ok := v.History[0].Vali[views[0].metric]; ok {
			metric = views[0].metric // also for runs that validate by another metric
		}
		i := slices.IndexFunc(plots, func(p viz.Plot) bool { return p.Y == metric })
		if i < 0 {
			i, plots = len(plots), append(plots, viz.Plot{X: "epoch", Y: metric})
		}
		if v.History[0].Model > 0 {
			plots[i].Series = append(plots[i].Series, ofModels(v.models(), metric, v.letter()+", ")...)
			continue
		}
		s := viz.Series{Name: v.letter()}
		for _, e := range v.History {
			s.Y = append(s.Y, float64(e.Vali[metric]))
		}
		plots[i].Series = append(plots[i].Series, s)
	}
	for _, p := range plots {
		r.plot("Validation, "+p.Y, p)
	}
	return nil
}
