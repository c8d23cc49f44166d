package cli

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

// DefineConfig defines a flag for each setting of c; their defaults are what c holds.
func DefineConfig(f *flag.FlagSet, c *train.Config) { train.DefineSettings(f, c.Settings()) }

// DefineMeasuring is DefineConfig for the settings that matter for the metrics of a trained model.
func DefineMeasuring(f *flag.FlagSet, c *train.Config) {
	train.DefineSettings(f, slices.DeleteFunc(c.Settings(), func(s train.Setting) bool { return !s.Measuring }))
}

// DefineFeatures defines the flag of a setting of features, for commands that train nothing.
func DefineFeatures(f *flag.FlagSet, name string, at *train.Features) {
	for _, s := range new(train.Config).Settings() {
		if s.Flag == name {
			s.Value = at
			train.DefineSettings(f, []train.Setting{s})
		}
	}
}

var lossWord = regexp.MustCompile(`\b` + train.LossMetric + `\b`)

// HasLoss tells whether a metric is the loss, or a sum of metrics with the loss in it.
func HasLoss(metric string) bool { return lossWord.MatchString(metric) }

// ByData is the name of the recipe that is chosen by the training data.
const ByData = "default"

var presets = map[string]func() train.Config{
	ByData:  func() train.Config { c, _ := train.DefaultFor(nil); return c },
	"paper": train.Paper,
}

// Presets are the names that Preset knows.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// Preset is a recipe by name: [ByData], as it is for small data of short queries, or paper.
func Preset(name string) (train.Config, error) {
	if p, ok := presets[name]; ok {
		return p(), nil
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

// MatchMetric makes the loss the metric of validation where flags name a loss for which that is
// usual, and no metric: the metric of a recipe is for the loss of the recipe.
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

// Check is c.Check, with the flag of a setting whose value makes no sense.
func Check(c train.Config) error {
	err := c.Check()
	var of interface{ Flag() string }
	if errors.As(err, &of) {
		return fmt.Errorf("%w (-%s)", err, of.Flag())
	}
	return err
}

// Uses says where the flags of measuring have an effect: what measures, and on data with which labels.
func Uses(c train.Config, measures []metrics.Measure) []command.Use {
	beside := "beside -metric " + c.Metric
	if len(c.Report) > 0 {
		beside += " -report " + strings.Join(c.Report, ",")
	}
	return []command.Use{
		{Works: slices.ContainsFunc(measures, metrics.Measure.NeedsGroups), Flags: []string{"groups"},
			Why: beside + ": it is for losses and metrics that compare groups, such as -report exposure-ratio"},
		{Works: slices.ContainsFunc(measures, metrics.Measure.Sampled), Flags: []string{"evaluation-samples"},
			Why: beside + ": it is for metrics that are estimated, such as -report expected-map@10"},
	}
}

// CheckSet is an error for a setting that is zero where zero is not a value: in a Config it
// would leave the setting to the recipe.
func CheckSet(c train.Config) error {
	plain := c.Plain()
	is, values := flagsOf(&c), flagsOf(&plain)
	for _, s := range c.Settings() {
		if s.Unset() {
			return fmt.Errorf("-%s %q is not a value for it; an example is %s", s.Flag, is.Lookup(s.Flag).Value, values.Lookup(s.Flag).Value)
		}
	}
	return nil
}

// Differences is the flags of the settings by which c differs from another.
func Differences(c, other train.Config) string {
	was := flagsOf(&other)
	var list []string
	flagsOf(&c).VisitAll(func(f *flag.Flag) {
		if value := f.Value.String(); value != was.Lookup(f.Name).Value.String() {
			list = append(list, "-"+f.Name+" "+value)
		}
	})
	return strings.Join(list, " ")
}

func flagsOf(c *train.Config) *flag.FlagSet {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	DefineConfig(f, c)
	return f
}

// Resumable tells whether a flag is of a setting that may differ when a run is resumed.
func Resumable(flag string) bool {
	return slices.ContainsFunc(new(train.Config).Settings(), func(s train.Setting) bool { return s.Flag == flag && s.Resumable })
}
