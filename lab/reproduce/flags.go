package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
)

// flags defines the flags; their defaults are what o holds.
func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("reproduce", flag.ContinueOnError)
	o.Define(f)
	f.StringVar(
		&o.out,
		"out",
		o.out,
		"the `folder` of results; without it, reproduce/ and the name of the data. Finished trials that it holds are not repeated",
	)

	f.Var(
		&o.Losses,
		"losses",
		"comma-separated `names` of the losses to compare; name:rate for a learning rate of its own, such as lambdaloss:0.001",
	)
	f.Var(&o.Samples, "samples", "comma-separated `numbers` N of rankings sampled for each query and step")
	f.Var(&o.Without, "without", "comma-separated trials to leave out, `LOSS@N`, such as lambdaloss@1000")
	f.IntVar(&o.Runs, "runs", o.Runs, fmt.Sprintf("`number` of independent runs; the paper has %d, and so has all", paperRuns))
	f.IntVar(&o.Epochs, "epochs", o.Epochs, "`passes` over the training queries")
	f.IntVar(&o.Batch, "batch", o.Batch, "`queries` a step; the paper has 1")
	f.Float64Var(&o.LearningRate, "lr", o.LearningRate, "learning `rate`")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "`seed` of the data that are made or held out, and of all runs")
	f.Float64Var(&o.Seconds, "seconds", o.Seconds, "`seconds` of training that each run gets")
	f.Float64Var(
		&o.TrialSeconds,
		"trial-seconds",
		o.TrialSeconds,
		"`seconds` to measure a loss with a number of samples, all runs together: the training queries that fit are measured",
	)
	f.Var(&o.Weights, "weights", "comma-separated weights `w`: train plrank-rb+w*disparity, and draw the frontier of relevance and fairness")
	f.StringVar(&o.Model, "model", o.Model, "the `file` of a model, as train writes it, whose scores to take instead of training a network")
	f.IntVar(&o.Repeats, "repeats", o.Repeats, "independent `estimates` of each gradient from which to tell its variance")
	f.StringVar(
		&o.Changes,
		"changes",
		o.Changes,
		"the `file` of changes of the default recipe, a line of flags of cmd/train each, such as -members 5",
	)
	f.Float64Var(&o.minutes, "minutes", o.minutes, "`minutes` that all subcommands together may take")
	f.StringVar(
		&o.document,
		"document",
		o.document,
		"the Markdown `file` whose generated parts are made anew, from folders of results below its own",
	)
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

// without reports flags that have no meaning with others.
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
