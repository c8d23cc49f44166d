package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/internal/source"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/train"
)

// options are the command line.
type options struct {
	settings
	out      string
	minutes  float64
	document string
}

// settings are what decides about results; they are kept beside them.
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

// flags defines the flags; their defaults are what o holds.
func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("reproduce", flag.ContinueOnError)
	o.Define(f, "")
	f.StringVar(&o.out, "out", o.out, "the `folder` of results; without it, reproduce/ and the name of the data. Finished trials that it holds are not repeated")

	f.Var(&o.Losses, "losses", "comma-separated `names` of the losses to compare; name:rate for a learning rate of its own, such as lambdaloss:0.001")
	f.Var(&o.Samples, "samples", "comma-separated `numbers` N of rankings sampled for each query and step")
	f.Var(&o.Without, "without", "comma-separated trials to leave out, `LOSS@N`, such as lambdaloss@1000")
	f.IntVar(&o.Runs, "runs", o.Runs, fmt.Sprintf("`number` of independent runs; the paper has %d, and so has all", paperRuns))
	f.IntVar(&o.Epochs, "epochs", o.Epochs, "`passes` over the training queries")
	f.IntVar(&o.Batch, "batch", o.Batch, "`queries` a step; the paper has 1")
	f.Float64Var(&o.LearningRate, "lr", o.LearningRate, "learning `rate`")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "`seed` of the data that are made or held out, and of all runs")
	f.Float64Var(&o.Seconds, "seconds", o.Seconds, "`seconds` of training that each run gets")
	f.Float64Var(&o.TrialSeconds, "trial-seconds", o.TrialSeconds, "`seconds` to measure a loss with a number of samples: the training queries that fit are measured")
	f.Var(&o.Weights, "weights", "comma-separated weights `w`: train plrank-rb+w*disparity, and draw the frontier of relevance and fairness")
	f.StringVar(&o.Model, "model", o.Model, "the `file` of a model, as train writes it, whose scores to take instead of training a network")
	f.IntVar(&o.Repeats, "repeats", o.Repeats, "independent `estimates` of each gradient from which to tell its variance")
	f.StringVar(&o.Changes, "changes", o.Changes, "the `file` of changes of the default recipe, a line of flags of cmd/train each, such as -members 5")
	f.Float64Var(&o.minutes, "minutes", o.minutes, "`minutes` that all subcommands together may take")
	f.StringVar(&o.document, "document", o.document, "the Markdown `file` whose generated parts are made anew, from folders of results below its own")
	return f
}

// parse reads the command line.
func parse(args []string) (subcommand, *options, error) {
	o := defaults()
	if len(args) == 0 {
		return subcommand{}, nil, command.Usage(fmt.Errorf("want a subcommand: %s", strings.Join(subcommandNames(), ", ")))
	}
	if slices.Contains([]string{"-help", "--help", "-h", "help"}, args[0]) {
		return subcommand{}, nil, flag.ErrHelp
	}
	all := subcommands()
	i := slices.IndexFunc(all, func(c subcommand) bool { return c.name == args[0] })
	if i < 0 {
		return subcommand{}, nil, command.Usage(fmt.Errorf("unknown subcommand %q: %s", args[0], names.Want(args[0], subcommandNames())))
	}
	if all[i].name == allName {
		o.Runs = paperRuns
	}
	flags := o.flags()
	if err := command.Parse(flags, args[1:]); err != nil {
		return subcommand{}, nil, err
	}
	var err error
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) {
		given[f.Name] = true
		if !slices.Contains(all[i].flags, f.Name) {
			err = command.Usage(fmt.Errorf("-%s does not apply to %s", f.Name, all[i].name))
		}
	})
	o.FixedSamples = given["samples"] && all[i].name == fairnessChapter.name
	if err == nil {
		err = o.check()
	}
	if err == nil {
		err = without(given, o)
	}
	if all[i].name == changesChapter.name {
		o.Batch, o.LearningRate = 0, 0 // the recipe has its own
	} else {
		o.Changes = ""
	}
	if err == nil && (all[i].name == fairnessChapter.name && len(o.Weights) == 0 || all[i].name == allName) {
		err = checkFair(o.Losses)
	}
	return all[i], o, err
}

// without reports flags that have no meaning beside others.
func without(given map[string]bool, o *options) error {
	for _, rule := range []struct {
		flag string
		no   []string
	}{
		{"weights", []string{"samples", "losses"}},
		{"model", []string{"epochs", "batch", "lr"}},
	} {
		for _, name := range rule.no {
			if given[rule.flag] && given[name] {
				return command.Usage(fmt.Errorf("-%s cannot be used with -%s", name, rule.flag))
			}
		}
	}
	if given["model"] && !given["out"] {
		return command.Usage(errors.New("-model needs -out, a folder for its results"))
	}
	for _, pair := range o.Without {
		if _, n, _ := strings.Cut(pair, "@"); !slices.Contains(strings.Split(o.Samples.String(), ","), n) {
			return command.Usage(fmt.Errorf("-without %s: -samples %v has no %s", pair, &o.Samples, n))
		}
	}
	return nil
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

// checkLoss reports a loss that is not known, or whose own learning rate is no rate.
func checkLoss(loss string) error {
	name, rate := rated(loss)
	if _, err := losses.ByName(name); err != nil {
		return err
	}
	if v, err := strconv.ParseFloat(rate, 64); strings.Contains(loss, rateSeparator) && (err != nil || !(v > 0) || math.IsInf(v, 0)) {
		return fmt.Errorf("%s: want a learning rate above 0 after the colon, such as lambdaloss:0.001", loss)
	}
	return nil
}

// has tells whether a loss with that number of samples is not left out.
func (o *options) has(loss string, samples int) bool {
	return !slices.Contains(o.Without, trialName(loss, samples))
}

// trialName is a loss and a number of samples, as -without has them.
func trialName(loss string, samples int) string { return fmt.Sprintf("%s@%d", loss, samples) }

// config is the paper's set-up with the settings of the command line.
func (o *options) config(loss string, samples train.SampleCount, run int) train.Config {
	c := train.Paper()
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

// A list flag holds comma-separated values, each only once.

type nameList []string

func (v *nameList) String() string { return strings.Join(*v, ",") }

func (v *nameList) Set(text string) error {
	return setList((*[]string)(v), text, func(s string) (string, error) {
		if s == "" {
			return "", errors.New("want names, separated by commas")
		}
		return s, nil
	})
}

type numbers []int

func (v *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*v), " ", ","), "[]")
}

func (v *numbers) Set(text string) error {
	return setList((*[]int)(v), text, func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("%q: want numbers of 1 or more, such as 10,100", s)
		}
		return n, nil
	})
}

type weights []float64

func (v *weights) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*v), " ", ","), "[]")
}

func (v *weights) Set(text string) error {
	return setList((*[]float64)(v), text, func(s string) (float64, error) {
		w, err := strconv.ParseFloat(s, 64)
		if err != nil || !(w >= 0) || math.IsInf(w, 0) {
			return 0, fmt.Errorf("%q: want weights of 0 or more, such as 0,0.1,1", s)
		}
		return w, nil
	})
}

func setList[T comparable](list *[]T, text string, parse func(string) (T, error)) error {
	*list = nil
	for part := range strings.SplitSeq(text, ",") {
		v, err := parse(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		if slices.Contains(*list, v) {
			return fmt.Errorf("%v is repeated", v)
		}
		*list = append(*list, v)
	}
	return nil
}
