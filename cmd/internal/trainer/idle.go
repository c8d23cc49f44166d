package trainer

import (
	"flag"
	"fmt"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// idle says, by flag, which ones of the command line have no effect beside the others, or on the data. They are no errors: a
// script may give the same flags to runs of several losses. A run that goes on has none: its files say what it does.
func (o *options) idle(s *datasets.Splits) (lines map[string]string, err error) {
	if o.line == nil {
		return nil, nil
	}
	terms, err := losses.Terms(o.Loss)
	if err != nil {
		return nil, err
	}
	measures, err := o.Config.Measures()
	if err != nil {
		return nil, err
	}
	lines = map[string]string{}
	optimizer, scorer, loss := "beside -optimizer "+o.Optimizer, "beside -scorer "+o.Scorer, "beside -loss "+o.Loss
	weighted := func(d *datasets.Dataset) bool { return d != nil && d.QueryWeights != nil }
	reading := slices.Concat(cli.ReadingFlags, cli.TrainingFlags, []string{"cache"})
	for _, of := range []struct {
		works bool
		flags []string
		why   string // where they do not
	}{
		{slices.ContainsFunc(terms, func(t losses.Term) bool { return t.Sampled }), []string{"samples"},
			loss + ": it is for losses that sample, such as plrank-rb"},
		{slices.ContainsFunc(terms, func(t losses.Term) bool { return !t.LabelFree }), []string{"normalize"}, // all of whose losses go by gains
			loss + ": it is for losses that go by gains"},
		{slices.ContainsFunc(measures, metrics.Measure.NeedsGroups), []string{"groups"},
			loss + ": it is for losses and metrics that compare groups, such as -report exposure-ratio"},
		{o.Scorer == "attention", []string{"blocks", "heads", "latent-cross"}, scorer + ": it is for -scorer attention"},
		{len(o.Hidden) > 0, []string{"activation", "dropout"}, `beside -hidden "": it is for hidden layers`},
		{o.Optimizer == "momentum", []string{"momentum"}, optimizer + ": it is for -optimizer momentum"},
		{o.Optimizer == "adamw", []string{"weight-decay"}, optimizer + ": it is for -optimizer adamw"},
		{slices.ContainsFunc(measures, metrics.Measure.Sampled), []string{"evaluation-samples"},
			"beside -metric " + o.Metric + ": it is for metrics that are estimated, such as -report expected-map@10"},
		{weighted(s.Train) || weighted(s.Vali) || weighted(s.Test), []string{"weighted-metrics"},
			"without weights of queries: it is for data with them, such as in a file FILE.weight"},
		{s.Test != nil, []string{"drop-label-free-test"}, "without a test split: -test names one"},
		{s.Vali.Gains == nil, []string{"report", "convention", "ties"}, "beside -clicks and no labels: it is for labelled data, which -vali names"},
		{o.Data != "" && !o.Synthetic(), reading, "without -data FILE or FOLDER: it is for what is read"},
		{o.Items == "", []string{"cache"}, "beside -items: rankings are read anew"},
	} {
		o.line.Visit(func(f *flag.Flag) {
			asked := !slices.Contains([]string{"", "0", "false", "off"}, f.Value.String())
			if !of.works && asked && slices.Contains(of.flags, f.Name) {
				lines[f.Name] = fmt.Sprintf("-%s has no effect %s", f.Name, of.why)
			}
		})
	}
	return lines, nil
}
