package cli

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// DefineConfig defines a flag for each setting of c, or only for some by name; their defaults are what c holds.
func DefineConfig(f *flag.FlagSet, c *train.Config, only ...string) {
	for _, s := range c.Settings() {
		if only == nil || slices.Contains(only, s.Flag) {
			s.Define(f)
		}
	}
}

// DefineMeasuring is DefineConfig for the settings that matter for the metrics of a trained model.
func DefineMeasuring(f *flag.FlagSet, c *train.Config) {
	for _, s := range c.Settings() {
		if s.Measuring {
			s.Define(f)
		}
	}
}

// configFlags returns the flags of [DefineConfig].
func configFlags(c *train.Config) *flag.FlagSet {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	DefineConfig(f, c)
	return f
}

var lossWord = regexp.MustCompile(`\b` + train.LossMetric + `\b`)

// HasLoss reports whether a metric is the loss, or a sum of metrics that contains it.
func HasLoss(metric string) bool { return lossWord.MatchString(metric) }

// ByData is the name of the recipe that the training data choose.
const ByData = "default"

// Presets returns the names that Preset knows.
func Presets() []string { return []string{ByData, "paper"} }

// Preset returns a recipe by name: [ByData], with its settings for small data and short queries, or paper.
func Preset(name string) (train.Config, error) {
	switch name {
	case ByData:
		return recipe.Single("mlp", nil).Models[0], nil
	case "paper":
		return recipe.Paper(), nil
	}
	return train.Config{}, fmt.Errorf("train: unknown preset %q: %s", name, names.Want(name, Presets()))
}

// Override gives c the settings of another whose flags were given.
func Override(c *train.Config, with train.Config, given ...string) {
	others := with.Settings()
	for i, s := range c.Settings() {
		if slices.Contains(given, s.Flag) {
			s.Take(others[i])
		}
	}
	MatchMetric(c, given...)
}

// MatchMetric makes the loss the metric of validation if the flags name a loss for which that is usual, and no metric:
// the metric of a recipe is for the loss of the recipe.
func MatchMetric(c *train.Config, given ...string) {
	if !slices.Contains(given, "loss") || slices.Contains(given, "metric") {
		return
	}
	usual := *c
	usual.Metric = ""
	if usual.Plain().Metric == train.LossMetric {
		c.Metric = train.LossMetric
	}
}

// Check is c.Check; its errors name the flag of the setting whose value is invalid.
func Check(c train.Config) error {
	err := c.Check()
	var setting interface{ Flag() string }
	if errors.As(err, &setting) {
		return fmt.Errorf("%w (-%s)", err, setting.Flag())
	}
	return err
}

// Uses says whether the flags of measuring have an effect on the given measures.
func Uses(c train.Config, measures []metrics.Measure) []Use {
	with := "with -metric " + c.Metric
	terms, _ := losses.Terms(c.Loss) // that has been checked
	if len(c.Report) > 0 {
		with += " -report " + strings.Join(c.Report, ",")
	}
	return []Use{
		{Works: slices.ContainsFunc(measures, metrics.Measure.NeedsGroups), Flags: []string{"groups"},
			Why: with + ": it is for losses and metrics that compare groups, such as -report exposure-ratio"},
		{Works: slices.ContainsFunc(measures, metrics.Measure.NeedsIntents) || slices.ContainsFunc(terms,
			func(t losses.Term) bool { return t.Intents }), Flags: []string{"subtopics"},
			Why: with + ": it is for losses and metrics by intents, such as -report alpha-ndcg"},
		{Works: slices.ContainsFunc(measures, metrics.Measure.Sampled), Flags: []string{"evaluation-samples"},
			Why: with + ": it is for metrics that are estimated, such as -report expected-pair-accuracy@10"},
	}
}

// Differences returns the flags of the settings by which c differs from another.
func Differences(c, other train.Config) string {
	others := configFlags(&other)
	var list []string
	configFlags(&c).VisitAll(func(f *flag.Flag) {
		if value := f.Value.String(); value != others.Lookup(f.Name).Value.String() {
			list = append(list, "-"+f.Name+" "+value)
		}
	})
	return strings.Join(list, " ")
}

// Resumable reports whether a flag is for a setting that may differ when a run is resumed.
func Resumable(flag string) bool {
	return slices.ContainsFunc(new(train.Config).Settings(), func(s train.Setting) bool { return s.Flag == flag && s.Resumable })
}
