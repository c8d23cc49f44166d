package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/cmd/internal/command"
	"github.com/plrank/plrank/cmd/internal/source"
	"github.com/plrank/plrank/train"
)

// settings are what a run does, as its config.json keeps it.
type settings struct {
	Preset string `json:"preset"`
	source.Source
	Folds    string `json:"folds,omitempty"` // "all": a run for each fold of the folder Data; a number: of folds of the file Data
	Baseline string `json:"baseline,omitempty"`
	train.Config
}

// options are the command line.
type options struct {
	settings
	cache            string // a folder, userCache or noCache
	describe, asJSON bool
	out              string
	resume           bool

	model, predict, scores, runFile, qrels string
}

// Values of -cache that are no folders, of -folds, and of -baseline.
const (
	userCache       = "user"
	noCache         = "off"
	allFolds        = "all"
	golearnBaseline = "golearn"
)

// flags defines the flags; their defaults are what o holds.
func (o *options) flags() *flag.FlagSet {
	f := newFlagSet()
	trainingFlags(f, &o.Config)

	o.Define(f, "; without it, a small one in MSLR's shape is made")
	f.StringVar(&o.Folds, "folds", o.Folds, "train on each fold in turn, and print mean and spread of each metric: `all` folds of the folder -data, or as many, such as 5, as the queries of the file -data are dealt to; -fold takes one of them")
	f.StringVar(&o.cache, "cache", o.cache, "`folder` for binary copies of what was read, which open at once the next time: user is plrank in your cache folder, off is none; that of the data itself will do, too")

	f.BoolVar(&o.describe, "describe", o.describe, "say what is in -data, and end")
	f.BoolVar(&o.asJSON, "json", o.asJSON, "describe in JSON")

	f.StringVar(&o.Baseline, "baseline", o.Baseline, "`name` of one more ranker to compare with: golearn, a regression tree (CART) of golearn's, fitted to the labels of 10000 documents at most")
	f.StringVar(&o.Preset, "preset", o.Preset, "start from this `recipe`; flags given besides override it: "+strings.Join(train.Presets(), " or "))
	f.StringVar(&o.out, "out", o.out, "a new `folder` for the files of the run")
	f.BoolVar(&o.resume, "resume", o.resume, "go on with the run in -out; of its settings, only -epochs and -patience may change")

	f.StringVar(&o.model, "model", o.model, "a model `file`")
	f.StringVar(&o.predict, "predict", o.predict, "a `file` to score with the model")
	f.StringVar(&o.scores, "scores", o.scores, "a new `file` for the scores, one a line, in the order of the rows")
	f.StringVar(&o.runFile, "run", o.runFile, "a new `file` for the rankings, as a TREC run: lines of \"qid Q0 docid rank score tag\"")
	f.StringVar(&o.qrels, "qrels", o.qrels, "a new `file` for the labels, as TREC judgements: lines of \"qid 0 docid label\"")
	return f
}

func newFlagSet() *flag.FlagSet { return flag.NewFlagSet("train", flag.ContinueOnError) }

// trainingFlags defines the flags of how a model is trained.
func trainingFlags(f *flag.FlagSet, c *train.Config) {
	f.StringVar(&c.Transform, "transform", c.Transform, "`parts` of the features' transform, joined by +: none, minmax, standard, log-standard, quantile")
	f.StringVar(&c.Loss, "loss", c.Loss, "the objective: the `name` of a loss, or a weighted sum of several, such as plrank-rb+0.5*disparity")
	f.IntVar(&c.Cutoff, "cutoff", c.Cutoff, "ranks that count, `K`")
	f.TextVar(&c.Samples, "samples", c.Samples, "rankings sampled for each query and step, `N`; dynamic grows from 10 to 100 over 40 epochs")
	f.StringVar(&c.Gain, "gain", c.Gain, "`name` of the gain of a label: exp2 (2^label − 1); linear, the label itself, for labels that are no grades; or binary, 1 for labels of 1 or more")
	f.StringVar(&c.Discounts, "discounts", c.Discounts, "what each rank counts in the objective (`name`): dcg, precision, arp, rbp, rbp(0.9) for another persistence, or as many numbers as the cutoff, such as 1,0.5,0.25")
	f.BoolVar(&c.NormalizeGains, "normalize", c.NormalizeGains, "divide the gains of a query by the highest value that the objective can have for it: optimise NDCG rather than DCG; with -discounts arp, by their sum")
	f.Var((*widths)(&c.Hidden), "hidden", "`widths` of the hidden layers, such as 64,32; \"\" is a linear model")
	f.TextVar(&c.Activation, "activation", c.Activation, "`name` of the hidden layers' activation: none (or linear), sigmoid, tanh, relu or gelu")
	f.Float64Var(&c.Dropout, "dropout", c.Dropout, "`rate` of dropout after each hidden layer")
	f.IntVar(&c.Members, "members", c.Members, "`number` of networks trained side by side, whose scores are averaged")
	f.StringVar(&c.Optimizer, "optimizer", c.Optimizer, "`name` of the optimizer: sgd, momentum or adam")
	f.Float64Var(&c.LearningRate, "lr", c.LearningRate, "learning `rate`")
	f.Float64Var(&c.Momentum, "momentum", c.Momentum, "`rate` of the optimizer momentum")
	f.Float64Var(&c.Decay, "decay", c.Decay, "`factor` on the learning rate after each epoch")
	f.Float64Var(&c.L2, "l2", c.L2, "`weight` of the L2 penalty on weights; 0 is none")
	f.Float64Var(&c.Clip, "clip", c.Clip, "highest `norm` of a gradient; 0 is no limit")
	f.IntVar(&c.Batch, "batch", c.Batch, "`queries` a step")
	f.IntVar(&c.Epochs, "epochs", c.Epochs, "`passes` over the training queries, at most")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "`seed` of all that is random")
	f.StringVar(&c.Metric, "metric", c.Metric, "`metric` of the validation, which picks the best epoch: ndcg@10, say, expected-ndcg@10 for its expectation under the policy, or a measure of fairness, such as disparity")
	f.Var((*names)(&c.Report), "report", "more `metrics` to report, with commas between: map,expected-err@10,disparity, say")
	f.IntVar(&c.Patience, "patience", c.Patience, "stop after so many `epochs` without a better validation value; 0 is never")
	f.StringVar(&c.Convention, "convention", c.Convention, "what label-free queries count in NDCG: zero, one, skip or letor4 (`name`)")
	f.StringVar(&c.Ties, "ties", c.Ties, "how documents of equal scores are ranked: random, for the expected value under random order, or order, as they stand (`name`)")
	f.IntVar(&c.EvaluationSamples, "evaluation-samples", c.EvaluationSamples, "rankings sampled for expected metrics, `N`")
	f.BoolVar(&c.EvaluateTrain, "evaluate-train", c.EvaluateTrain, "report metrics of the training split after each epoch, too")
	f.BoolVar(&c.EvaluateTest, "evaluate-test", c.EvaluateTest, "report metrics of the test split after each epoch, too: for learning curves, never for choosing")
	f.BoolVar(&c.DropLabelFreeTest, "drop-label-free-test", c.DropLabelFreeTest, "leave label-free queries of the test split out of all metrics, DCG too")
}

// defaults is the options without a command line.
func defaults() *options { return newOptions("default", train.Default()) }

func newOptions(preset string, c train.Config) *options {
	return &options{
		settings: settings{Preset: preset, Config: c.WithDefaults()},
		cache:    userCache,
	}
}

// parse reads the command line.
func parse(args []string) (*options, error) {
	first := defaults()
	flags, err := parseInto(first, args)
	if err != nil {
		return nil, err
	}
	if first.predict != "" || first.model != "" || first.scores != "" || first.runFile != "" || first.qrels != "" {
		return first, checkPrediction(first, flags)
	}
	if first.describe || first.asJSON {
		return first, checkDescription(first, flags)
	}
	if first.resume {
		return resumed(first.out, args, flags)
	}
	preset, err := train.Preset(first.Preset)
	if err != nil {
		return nil, command.Usage(err)
	}
	o := newOptions(first.Preset, preset)
	if _, err := parseInto(o, args); err != nil {
		return nil, err
	}
	return o, checkTraining(o)
}

func parseInto(o *options, args []string) (*flag.FlagSet, error) {
	flags := o.flags()
	if err := command.Parse(flags, args); err != nil {
		return nil, err
	}
	if err := o.Source.Check(); err != nil {
		return nil, command.Usage(err)
	}
	return flags, nil
}

func checkTraining(o *options) error {
	switch {
	case o.Folds != "" && o.Folds != allFolds && o.ofOneFile() < 3:
		return command.Usage(fmt.Errorf("-folds %q: want %s, or a number of 3 or more; -fold takes one of them", o.Folds, allFolds))
	case o.Folds != "" && o.Data == "":
		return command.Usage(errors.New("-folds needs -data"))
	case o.Folds == allFolds && o.Fold != 0:
		return command.Usage(errors.New("-folds all takes every fold: -fold has no meaning beside it"))
	case o.Folds != "" && (o.Vali != "" || o.Test != "" || o.Synthetic()):
		return command.Usage(errors.New("-folds takes the splits of each fold: -vali, -test and synthetic data have no meaning beside it"))
	case o.Baseline != "" && o.Baseline != golearnBaseline:
		return command.Usage(fmt.Errorf("unknown baseline %q: want %s", o.Baseline, golearnBaseline))
	}
	// In a Config, zero stands for a default; on the command line it is zero.
	filled := o.WithDefaults()
	is, want := newFlagSet(), newFlagSet()
	trainingFlags(is, &o.Config)
	trainingFlags(want, &filled)
	var err error
	is.VisitAll(func(f *flag.Flag) {
		if value := want.Lookup(f.Name).Value.String(); f.Value.String() != value {
			err = command.Usage(fmt.Errorf("-%s %q is no value for it; %s, say, is", f.Name, f.Value, value))
		}
	})
	if err != nil {
		return err
	}
	if err := o.Config.Check(); err != nil {
		return command.Usage(err)
	}
	return nil
}

// The flags that have a meaning where no model is trained.
var (
	predictionFlags  = append([]string{"model", "predict", "scores", "run", "qrels"}, source.ReadingFlags...)
	descriptionFlags = append([]string{"describe", "json", "cache", "seed"}, source.Flags...)
)

func checkDescription(o *options, flags *flag.FlagSet) error {
	if !o.describe {
		return command.Usage(errors.New("-json needs -describe"))
	}
	if err := only(descriptionFlags, flags, "describe"); err != nil {
		return err
	}
	return nil
}

func checkPrediction(o *options, flags *flag.FlagSet) error {
	switch {
	case o.model == "" || o.predict == "":
		return command.Usage(errors.New("to score documents, -model and -predict are both needed"))
	case o.scores == "" && o.runFile == "":
		return command.Usage(errors.New("to score documents, -scores or -run must name a new file for the result"))
	}
	return only(predictionFlags, flags, "predict")
}

// only is the error for a flag that was given and is not among the allowed.
func only(allowed []string, given *flag.FlagSet, beside string) (err error) {
	given.Visit(func(f *flag.Flag) {
		if !slices.Contains(allowed, f.Name) {
			err = command.Usage(fmt.Errorf("-%s has no meaning beside -%s", f.Name, beside))
		}
	})
	return err
}

// resumed is the options of the run in folder out. Flags given besides must say
// what the run was started with.
func resumed(out string, args []string, given *flag.FlagSet) (*options, error) {
	if out == "" {
		return nil, command.Usage(errors.New("-resume needs the folder of the run: -out"))
	}
	o := &options{cache: userCache, out: out}
	if _, err := train.OpenDir(out, &o.settings); err != nil {
		return nil, err
	}
	o.Config = o.Config.WithDefaults() // a run of an older version lacks newer settings
	was := (&options{settings: o.settings}).flags()
	if _, err := parseInto(o, args); err != nil {
		return nil, err
	}
	is := o.flags()
	var err error
	given.Visit(func(f *flag.Flag) {
		before, now := was.Lookup(f.Name).Value.String(), is.Lookup(f.Name).Value.String()
		switch f.Name {
		case "out", "resume", "epochs", "patience", "cache":
		default:
			if before != now {
				err = command.Usage(fmt.Errorf("the run in %s was started with -%s %q, not %q: when it goes on, only -epochs and -patience may change", out, f.Name, before, now))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return o, checkTraining(o)
}

// widths is a flag of comma-separated numbers.
type widths []int

func (w *widths) String() string {
	var s []string
	for _, n := range *w {
		s = append(s, strconv.Itoa(n))
	}
	return strings.Join(s, ",")
}

func (w *widths) Set(text string) error {
	*w = nil
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return errors.New("want widths of 1 or more, such as 64,32")
		}
		*w = append(*w, n)
	}
	return nil
}

// names is a flag of comma-separated words.
type names []string

func (n *names) String() string { return strings.Join(*n, ",") }

func (n *names) Set(text string) error {
	*n = nil
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*n = append(*n, part)
		}
	}
	return nil
}
