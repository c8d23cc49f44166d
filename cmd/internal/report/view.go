package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// Limits on the data that a page examines, so that it is made in seconds.
const (
	scoredRows    = 1_000_000     // rows scored with changed features, for importance
	scoredNumbers = 1_000_000_000 // their features
	shownFeatures = 6             // with documents
	resampled     = 25_000_000    // queries drawn for an interval
)

const randomOrder = "random order"

// A view is a run with measurements of its model.
type view struct {
	*Run
	number int // from 1
	alone  bool

	results   *cli.RunSummary   // of the run, or else measured on data
	data      *datasets.Dataset // the last split; nil: no data
	split     train.SplitReport // measured on data
	names     []string          // of the metrics, in the order of a table; nil: unknown
	metric    string            // for values by query
	measure   metrics.Measure
	reference string // the ranker that the model is compared with; "": none
	columns   []int  // of features, the most important first
}

// newView measures the model of a run.
func newView(ctx context.Context, r *Run) (*view, error) {
	v := &view{Run: r, results: cmp.Or(r.Summary, &cli.RunSummary{})}
	if len(r.Splits) == 0 {
		return v, nil
	}
	last := r.Splits[len(r.Splits)-1]
	if r.Config.DropLabelFreeTest && last.Name == "test" {
		last.Data = withRelevant(r.Config, last.Data)
	}
	v.data = last.Data
	var parts train.Custom
	if r.Summary != nil {
		for name := range r.Summary.Baselines {
			if b, ok := train.FeatureBaseline(name, v.data); ok {
				parts.Baselines, v.reference = []train.Baseline{b}, name
			}
		}
	}
	if v.data.BaseScores != nil {
		v.reference = "base scores"
	}
	measured, err := cli.Await(ctx, func() (*train.Report, error) { return train.Evaluate(r.Config, parts, r.Model, last) })
	if err != nil && ctx.Err() == nil && v.trained() { // for example, the data now have other features
		v.Missing, v.data = err.Error(), nil
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	v.split, v.names = measured.Splits[0], measured.Metrics
	if r.Summary == nil {
		v.results = cli.SummaryOf(&recipe.Result{Result: &train.Result{}}, measured)
	}
	v.metric = r.Config.Metric
	if m, err := metrics.ParseMeasure(v.metric); err == nil && v.split.PerQuery[m.Ranking().String()] != nil {
		v.metric = m.Ranking().String() // documents are shown in this order
	}
	if v.split.PerQuery[v.metric] == nil { // a sum
		v.metric = measured.Metrics[0]
	}
	if v.measure, err = metrics.ParseMeasure(v.metric); err != nil { // the loss
		v.measure = metrics.NewMeasure(v.metric, true, nil)
	}
	return v, nil
}

// withRelevant returns the queries with a document whose gain is not 0.
func withRelevant(c train.Config, d *datasets.Dataset) *datasets.Dataset {
	gain, err := metrics.ParseGain(c.Gain)
	if err != nil {
		return d
	}
	var queries []int
	for q := range d.Queries() {
		gains, err := gain.Gains(d.Labels[d.Offsets[q]:d.Offsets[q+1]])
		if err == nil && slices.ContainsFunc(gains, func(g float64) bool { return g != 0 }) {
			queries = append(queries, q)
		}
	}
	return d.Select(queries)
}

// title names what was trained. Next to other runs, it names the run.
func (v *view) title() string {
	switch {
	case !v.alone:
		return "Run " + v.letter() + ": " + short(v.Name)
	case !v.trained():
		return short(v.Name)
	case v.mixture():
		return ranker.MixtureKind
	}
	return short(v.Config.Scorer + ", " + v.Config.Loss)
}

// trained reports whether v is a run, not a model file alone.
func (v *view) trained() bool { return v.Summary != nil || v.History != nil }

// mixture reports whether the model is a mixture, whose parts have separate objectives.
func (v *view) mixture() bool { return v.Model.File().Kind == ranker.MixtureKind }

// group returns the sections of a run.
func (v *view) group(ctx context.Context) (group, error) {
	return newGroup(ctx, fmt.Sprintf("run%d", v.number), v.title(),
		part{"trained", "What was trained", v.facts},
		part{"metrics", "Metrics", v.tables},
		part{"curves", "Learning curves", v.curves},
		part{"importance", "Which features matter", v.importance},
		part{"shares", "What features give to the first documents", v.shares},
		part{"queries", "Queries to look at", v.queries})
}

// facts describes the data, the recipe, the model and its training.
func (v *view) facts(_ context.Context, r *rows) error {
	if v.Missing != "" {
		r.text("Data not found: %s. Without data the page has no intervals, features or queries. If the data have moved, "+
			"give their new place: plrank report -data.", cut(v.Missing, mostText))
	}
	if v.trained() && v.Summary == nil {
		r.text("The run has not ended: the values are from its current model.")
	}
	if v.data != nil && v.split.TrainedOn > 0 {
		r.text("The model was trained on %d of the %d queries of the split %s: values on them say little about new queries.",
			v.split.TrainedOn, v.split.Queries, v.split.Name)
	}
	for _, warning := range v.warnings() {
		r.text("Warning: %s", cut(warning, mostText))
	}
	facts := viz.Table{Rows: append([]viz.Row{{"Data", cut(v.Data, mostText)}}, v.targets()...)}
	add := func(name, format string, args ...any) {
		facts.Rows = append(facts.Rows, viz.Row{name, fmt.Sprintf(format, args...)})
	}
	for _, s := range v.Splits {
		add("Split "+s.Name, "%s%s", cut(s.Data.String(), mostText), labels(s.Data))
	}
	if v.Recipe != "" {
		add("Recipe", "%s", cut(v.Recipe, mostText))
	}
	c := v.Config
	if v.trained() && !v.mixture() {
		add("Objective", "%s, cutoff %s, gain %s, discounts %s", cut(c.Loss, mostText), c.Cutoff, short(c.Gain), short(c.Discounts))
	}
	description, err := describe(v.Model)
	if err != nil {
		return err
	}
	add("Model", "%s; it uses %d of %d features", description, len(v.Model.UsedFeatures()), len(v.Model.FeatureIDs()))
	for _, f := range v.models() {
		if f.name == "" {
			break
		}
		c := f.config
		add(strings.ToUpper(f.name[:1])+f.name[1:], "%s, %s; the best of %d epochs is %d: %s %s", short(c.Scorer), cut(c.Loss, mostText),
			len(f.epochs), f.best, short(c.Metric), cli.FormatValue(f.epochs[f.best-1].Vali[c.Metric]))
	}
	if s := v.Summary; s != nil {
		ended := fmt.Sprintf("%d epochs", s.Epochs)
		if s.BestEpoch > 0 {
			ended += fmt.Sprintf("; the best is epoch %d", s.BestEpoch)
		} else if s.Initial != nil {
			ended += "; the initial model is better"
		}
		if s.Interrupted {
			ended += "; interrupted"
		}
		if s.Skipped > 0 {
			ended += fmt.Sprintf("; skipped batches: %d", s.Skipped)
		}
		add("Training", "%s, by %s on the validation split", ended, short(c.Metric))
	}
	add("Version", "%s", v.Model.Digest())
	r.table(facts)
	return nil
}

// targets returns what the best epoch has of the targets of exposure.
func (v *view) targets() (list []viz.Row) {
	if best := v.best(); best != nil {
		for _, t := range best.Targets {
			list = append(list, viz.Row{"Target", fmt.Sprintf("%s, on the training split; multiplier %.3g", cut(t.String(), mostText),
				t.Multiplier)})
		}
	}
	return list
}

// warnings returns what is suspicious of the features that a run has trained on.
func (v *view) warnings() (list []string) {
	if v.Summary != nil {
		list = v.Summary.SuspiciousFeature(v.Config.Metric)
	}
	if v.trained() && len(v.Splits) > 0 {
		list = append(list, cli.Suspicions(v.Splits[0].Data)...)
	}
	return list
}

// labels returns the shares of the labels of a split, if it has few different ones.
func labels(d *datasets.Dataset) string {
	counts := map[float32]int{}
	for _, l := range d.Labels {
		if counts[l]++; len(counts) > 6 || d.Gains != nil {
			return ""
		}
	}
	var words []string
	for _, l := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%g: %.1f %%", l, 100*float64(counts[l])/float64(d.Rows())))
	}
	return "; labels " + strings.Join(words, ", ")
}

// describe describes a model, or each of a mixture, in words.
func describe(m *ranker.Model) (string, error) {
	weights, parts, err := m.Parts()
	prefix := "mixture: "
	if weights == nil {
		prefix, parts = "", []*ranker.Model{m}
	}
	var words []string
	for i, part := range parts {
		size := cli.SizeOf(part)
		text := fmt.Sprintf("%s of %s", short(size.Kind), size)
		if foreign := part.Foreign(); size.Weights > 0 {
			text += ", inputs " + short(part.File().Transform.Spec)
		} else if foreign != nil {
			text += ", by " + short(foreign.Library)
		}
		if weights != nil {
			text = fmt.Sprintf("%.4g × (%s)", weights[i], text)
		}
		words = append(words, text)
	}
	return prefix + strings.Join(words, " + "), err
}

// sampleOf returns random queries of d with about that many rows, or d if it has no more.
func sampleOf(d *datasets.Dataset, rows int) *datasets.Dataset {
	if d.Rows() <= rows {
		return d
	}
	return d.Select(num.Sample(max(1, int(float64(d.Queries())*float64(rows)/float64(d.Rows()))), d.Queries()))
}

// sampleNote says that a figure comes from a sample; "" if it does not.
func sampleNote(sample, d *datasets.Dataset) string {
	if sample == d {
		return ""
	}
	return fmt.Sprintf(" Computed from a sample of %d of the %d queries.", sample.Queries(), d.Queries())
}
