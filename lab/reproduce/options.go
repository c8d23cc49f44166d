package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/lab/internal/source"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// options are the command line.
type options struct {
	settings
	out      string
	minutes  float64
	document string
}

// settings are what decides about results; they are kept with them.
type settings struct {
	source.Source

	Losses  nameList `json:"losses"`
	Samples numbers  `json:"samples"`
	Without nameList `json:"without,omitempty"` // LOSS@N: trials that are left out

	Runs         int     `json:"runs"`
	Epochs       int     `json:"epochs"`
	Batch        int     `json:"batch"`
	LearningRate float64 `json:"learningRate"`
	Seed         uint64  `json:"seed"`

	Seconds      float64 `json:"seconds"`      // of training, for time
	TrialSeconds float64 `json:"trialSeconds"` // of measuring, for epochs
	Weights      weights `json:"weights"`      // of disparity, for fairness

	FixedSamples bool `json:"fixedSamples,omitempty"` // Samples were given, for fairness

	Model   string `json:"model,omitempty"` // a file, for variance
	Repeats int    `json:"repeats"`         // of each estimate, for variance

	Changes string `json:"changes,omitempty"` // a file, for changes
}

// paperRuns is the number of independent runs in the paper.
const paperRuns = 20

func defaults() *options {
	o := &options{
		settings: settings{
			Source:  source.Source{Data: "synthetic:mslr"},
			Samples: numbers{1, 10, 100, 1000},
			Runs:    3, Epochs: 40, Batch: 1, LearningRate: 0.01,
			Seconds: 10, TrialSeconds: 10, Repeats: 100, Changes: "recipe/changes.txt",
		},
		minutes:  60,
		document: "reproduction.md",
	}
	for _, m := range methods {
		o.Losses = append(o.Losses, m.loss)
	}
	return o
}

// checkFair reports losses whose estimate of the disparity's gradient is not known.
func checkFair(list []string) error {
	for _, loss := range list {
		if err := checkLoss(fair(loss)); err != nil {
			return command.Usage(fmt.Errorf("-losses %s: %w", loss, err))
		}
	}
	return nil
}

// check reports the first setting that makes no sense.
func (o *options) check() error {
	if err := o.Source.Check(); err != nil {
		return command.Usage(err)
	}
	for _, setting := range []struct {
		flag  string
		value float64
		fine  bool
		want  string
	}{
		{"runs", float64(o.Runs), o.Runs >= 1, "1 or more"},
		{"epochs", float64(o.Epochs), o.Epochs >= 1, "1 or more"},
		{"batch", float64(o.Batch), o.Batch >= 1, "1 or more"},
		{"lr", o.LearningRate, o.LearningRate > 0 && !math.IsInf(o.LearningRate, 0), "a number above 0"},
		{"seconds", o.Seconds, o.Seconds > 0, "a number above 0"},
		{"trial-seconds", o.TrialSeconds, o.TrialSeconds > 0, "a number above 0"},
		{"repeats", float64(o.Repeats), o.Repeats >= 2, "2 or more"},
		{"minutes", o.minutes, o.minutes > 0, "a number above 0"},
	} {
		if !setting.fine {
			return command.Usage(fmt.Errorf("-%s %v: want %s", setting.flag, setting.value, setting.want))
		}
	}
	for _, loss := range o.Losses {
		if err := checkLoss(loss); err != nil {
			return command.Usage(fmt.Errorf("-losses: %w", err))
		}
	}
	for _, pair := range o.Without {
		loss, n, _ := strings.Cut(pair, "@")
		if err := checkLoss(loss); err != nil {
			return command.Usage(fmt.Errorf("-without: %w", err))
		}
		if v, err := strconv.Atoi(n); err != nil || v < 1 {
			return command.Usage(fmt.Errorf("-without %q: want a loss, @ and a number of samples, such as lambdaloss@1000", pair))
		}
	}
	return nil
}

// checkLoss reports a loss that is not known, or whose own learning rate is invalid.
func checkLoss(loss string) error {
	name, rate := rated(loss)
	if _, err := losses.Parse(name); err != nil {
		return err
	}
	if v, err := strconv.ParseFloat(rate, 64); strings.Contains(loss, rateSeparator) && (err != nil || !(v > 0) || math.IsInf(v, 0)) {
		return fmt.Errorf("%s: want a learning rate above 0 after the colon, such as lambdaloss:0.001", loss)
	}
	return nil
}

// has reports whether a loss with that number of samples is not left out.
func (o *options) has(loss string, samples int) bool {
	return !slices.Contains(o.Without, trialName(loss, samples))
}

// trialName is a loss and a number of samples, as -without has them.
func trialName(loss string, samples int) string { return fmt.Sprintf("%s@%d", loss, samples) }

// config is the paper's set-up with the settings of the command line.
func (o *options) config(loss string, samples train.SampleCount, run int) train.Config {
	c := recipe.Paper()
	c.Loss, c.Samples, c.Epochs = loss, samples, o.Epochs
	c.Batch, c.LearningRate = o.Batch, o.LearningRate
	if name, rate := rated(loss); rate != "" {
		c.Loss = name
		c.LearningRate, _ = strconv.ParseFloat(rate, 64) // checked by checkLoss
	}
	c.Seed = runSeed(o.Seed, run)
	c.EvaluateTest = true
	return c
}

// runSeed is the seed of a run, counted from 0: the same for all losses, which so
// begin with the same weights, meet the queries in the same order, and, where they
// ask for as many, see the same rankings for the same scores.
func runSeed(seed uint64, run int) uint64 { return seed*1_000_003 + uint64(run) + 1 }
