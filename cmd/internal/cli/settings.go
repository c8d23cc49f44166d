package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// topicOf has the topic of each group of settings.
var topicOf = map[string]string{"Objective": "objectives", "Inputs": "features", "Model": "models", "Optimization": "training",
	"Evaluation": "metrics", "": "training"}

// SettingFlags returns a flag for each setting of c, or only for some by name; their defaults are what c holds.
func SettingFlags(c *train.Config, only ...string) (list Flags) {
	for _, s := range c.Settings() {
		if only == nil || slices.Contains(only, s.Flag) {
			list = append(list, Flag{Name: s.Flag, Value: s.Value, Help: s.Help, Topic: topicOf[s.Group], Idle: s.Idle, Resumable: s.Resumable})
		}
	}
	return list
}

// MeasuringFlags is SettingFlags for the settings that matter for the metrics of a trained model.
func MeasuringFlags(c *train.Config) Flags {
	var only []string
	for _, s := range c.Settings() {
		if s.Measuring {
			only = append(only, s.Flag)
		}
	}
	return SettingFlags(c, only...)
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

// Differences returns the flags of the settings by which c differs from another.
func Differences(c, other train.Config) string {
	others := SettingFlags(&other).Set()
	var list []string
	SettingFlags(&c).Set().VisitAll(func(f *flag.Flag) {
		if value := f.Value.String(); value != others.Lookup(f.Name).Value.String() {
			list = append(list, "-"+f.Name+" "+cmp.Or(value, "''"))
		}
	})
	return strings.Join(list, " ")
}
