package trainer

import (
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
)

// idle says, by flag, which ones of the command line have no effect with the others, or on the data. A run that goes on
// has none: its files say what it does.
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
	forest := o.Scorer == "forest"
	optimizer, scorer, loss := "with -optimizer "+o.Optimizer, "with -scorer "+o.Scorer, "with -loss "+o.Loss
	weighted := func(d *datasets.Dataset) bool { return d != nil && d.QueryWeights != nil }
	return cli.Idle(o.line, slices.Concat(cli.Uses(o.Config, measures), o.Source.Uses(), []cli.Use{
		{Works: slices.ContainsFunc(terms, func(t losses.Term) bool { return t.Sampled }), Flags: []string{"samples"},
			Why: loss + ": it is for losses that sample, such as plrank-rb"},
		{Works: slices.ContainsFunc(terms, func(t losses.Term) bool { return !t.LabelFree && !t.RatioOnly }), Flags: []string{"normalize"},
			Why: loss + ": it is for losses that go by the size of gains, such as plrank-exact"},
		{Works: o.Scorer == "attention", Flags: []string{"blocks", "heads"}, Why: scorer + ": it is for -scorer attention"},
		{Works: forest, Flags: []string{"trees", "depth", "leaves", "sampling", "feature-sampling", "rising", "falling"},
			Why: scorer + ": it is for -scorer forest"},
		{Works: !forest, Flags: []string{"hidden", "activation", "dropout", "members", "optimizer", "group-lasso",
			"average", "batch", "epochs-per-pass"},
			Why: scorer + ": it is for networks"},
		{Works: forest || len(o.Hidden) > 0, Flags: []string{"activation", "dropout"}, Why: `with -hidden "": it is for hidden layers`},
		{Works: o.Optimizer == "momentum", Flags: []string{"momentum"}, Why: optimizer + ": it is for -optimizer momentum"},
		{Works: o.Optimizer == "adamw", Flags: []string{"weight-decay"}, Why: optimizer + ": it is for -optimizer adamw"},
		{Works: weighted(s.Train) || weighted(s.Vali) || weighted(s.Test), Flags: []string{"weighted-metrics"},
			Why: "without weights of queries: it is for data with them, such as in a file FILE.weight"},
		{Works: s.Test != nil, Flags: []string{"drop-label-free-test"}, Why: "without a test split: -test names one"},
		{Works: s.Vali.Gains == nil, Flags: []string{"report", "convention", "ties"},
			Why: "with -clicks and no labels: it is for labelled data, which -vali names"},
		{Works: o.Items == "", Flags: []string{"cache"}, Why: "with -items: rankings are read anew"},
	})...), nil
}
