package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/plrank/plrank/train"
)

// settings are what a run does, as its config.json keeps it.
type settings struct {
	Preset string `json:"preset"`
	Data   string `json:"data"` // "": the synthetic collection
	Vali   string `json:"vali"`
	Test   string `json:"test"`
	train.Config
}

// options are the command line.
type options struct {
	settings
	out                    string
	resume                 bool
	model, predict, scores string
}

// flags defines the flags; their defaults are what o holds.
func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("train", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are one line of our own

	f.StringVar(&o.Data, "data", o.Data, "a LETOR `file`, or a folder with train, vali and test files; without it, a synthetic collection in MSLR's shape is made")
	f.StringVar(&o.Vali, "vali", o.Vali, "the `file` of the validation split; without any, 20 % of the training queries are held out")
	f.StringVar(&o.Test, "test", o.Test, "the `file` of the test split")
	f.StringVar(&o.Transform, "transform", o.Transform, "`parts` of the features' transform, joined by +: none, minmax, standard, log-standard")

	f.StringVar(&o.Loss, "loss", o.Loss, "the objective: `name` of a loss")
	f.IntVar(&o.Cutoff, "cutoff", o.Cutoff, "ranks that count, `K`")
	f.TextVar(&o.Samples, "samples", o.Samples, "rankings sampled for each query and step, `N`; dynamic grows from 10 to 100 over 40 epochs")
	f.StringVar(&o.Gain, "gain", o.Gain, "`name` of the gain of a label: exp2 (2^label − 1) or linear")
	f.BoolVar(&o.NormalizeGains, "normalize", o.NormalizeGains, "divide the gains of a query by its ideal DCG at the cutoff: optimise NDCG rather than DCG")

	f.Var((*widths)(&o.Hidden), "hidden", "`widths` of the hidden layers, such as 64,32; \"\" is a linear model")
	f.TextVar(&o.Activation, "activation", o.Activation, "`name` of the hidden layers' activation: none (or linear), sigmoid, tanh, relu or gelu")
	f.Float64Var(&o.Dropout, "dropout", o.Dropout, "`rate` of dropout after each hidden layer")
	f.IntVar(&o.Members, "members", o.Members, "`number` of networks trained side by side, whose scores are averaged")

	f.StringVar(&o.Optimizer, "optimizer", o.Optimizer, "`name` of the optimizer: sgd, momentum or adam")
	f.Float64Var(&o.LearningRate, "lr", o.LearningRate, "learning `rate`")
	f.Float64Var(&o.Momentum, "momentum", o.Momentum, "`rate` of the optimizer momentum")
	f.Float64Var(&o.Decay, "decay", o.Decay, "`factor` on the learning rate after each epoch")
	f.Float64Var(&o.L2, "l2", o.L2, "`weight` of the L2 penalty on weights; 0 is none")
	f.Float64Var(&o.Clip, "clip", o.Clip, "highest `norm` of a gradient; 0 is no limit")
	f.IntVar(&o.Batch, "batch", o.Batch, "`queries` a step")
	f.IntVar(&o.Epochs, "epochs", o.Epochs, "`passes` over the training queries, at most")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "`seed` of all that is random")

	f.StringVar(&o.Metric, "metric", o.Metric, "`metric` of the validation, which picks the best epoch: ndcg@10, say, or expected-ndcg@10 for its expectation under the policy")
	f.IntVar(&o.Patience, "patience", o.Patience, "stop after so many `epochs` without a better validation value; 0 is never")
	f.StringVar(&o.Convention, "convention", o.Convention, "what label-free queries count in NDCG: zero, one, skip or letor4 (`name`)")
	f.IntVar(&o.EvaluationSamples, "evaluation-samples", o.EvaluationSamples, "rankings sampled for expected metrics, `N`")
	f.BoolVar(&o.EvaluateTrain, "evaluate-train", o.EvaluateTrain, "report metrics of the training split after each epoch, too")
	f.BoolVar(&o.DropLabelFreeTest, "drop-label-free-test", o.DropLabelFreeTest, "leave label-free queries of the test split out of all metrics, DCG too")

	f.StringVar(&o.Preset, "preset", o.Preset, "start from this `recipe`; flags given besides override it: "+strings.Join(train.Presets(), " or "))
	f.StringVar(&o.out, "out", o.out, "a new `folder` for the files of the run")
	f.BoolVar(&o.resume, "resume", o.resume, "go on with the run in -out; of its settings, only -epochs and -patience may change")

	f.StringVar(&o.model, "model", o.model, "a model `file`")
	f.StringVar(&o.predict, "predict", o.predict, "a LETOR `file` to score with the model")
	f.StringVar(&o.scores, "scores", o.scores, "a new `file` for the scores, one a line, in the order of the rows")
	return f
}

// defaults is the options without a command line.
func defaults() *options {
	return &options{settings: settings{Preset: "default", Config: train.Default().WithDefaults()}}
}

// parse reads the command line.
func parse(args []string) (*options, error) {
	first := defaults()
	flags, err := parseInto(first, args)
	if err != nil {
		return nil, err
	}
	if first.model != "" || first.predict != "" || first.scores != "" {
		return first, checkPrediction(first, flags)
	}
	if first.resume {
		return resumed(first.out, args, flags)
	}
	preset, err := train.Preset(first.Preset)
	if err != nil {
		return nil, usageError{err}
	}
	o := &options{settings: settings{Preset: first.Preset, Config: preset.WithDefaults()}}
	if _, err := parseInto(o, args); err != nil {
		return nil, err
	}
	return o, checkTraining(o)
}

func parseInto(o *options, args []string) (*flag.FlagSet, error) {
	flags := o.flags()
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil, err
	} else if err != nil {
		return nil, usageError{err}
	}
	if flags.NArg() > 0 {
		return nil, usageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	return flags, nil
}

func checkTraining(o *options) error {
	if o.Data == "" && (o.Vali != "" || o.Test != "") {
		return usageError{errors.New("-vali and -test need -data")}
	}
	// In a Config, zero stands for a default; on the command line it is zero.
	filled := (&options{settings: settings{Config: o.WithDefaults()}}).flags()
	var err error
	o.flags().VisitAll(func(f *flag.Flag) {
		if value := filled.Lookup(f.Name).Value.String(); isTraining(f.Name) && f.Value.String() != value {
			err = usageError{fmt.Errorf("-%s %q is no value for it; %s, say, is", f.Name, f.Value, value)}
		}
	})
	if err != nil {
		return err
	}
	if err := o.Config.Check(); err != nil {
		return usageError{err}
	}
	return nil
}

// isTraining tells whether a flag is of train.Config.
func isTraining(name string) bool {
	switch name {
	case "preset", "data", "vali", "test", "out", "resume", "model", "predict", "scores":
		return false
	}
	return true
}

func checkPrediction(o *options, flags *flag.FlagSet) error {
	for name, value := range map[string]string{"-model": o.model, "-predict": o.predict, "-scores": o.scores} {
		if value == "" {
			return usageError{fmt.Errorf("to score documents, -model, -predict and -scores are all needed: there is no %s", name)}
		}
	}
	var err error
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "model" && f.Name != "predict" && f.Name != "scores" {
			err = usageError{fmt.Errorf("-%s has no meaning beside -predict", f.Name)}
		}
	})
	return err
}

// resumed is the options of the run in folder out. Flags given besides must say
// what the run was started with.
func resumed(out string, args []string, given *flag.FlagSet) (*options, error) {
	if out == "" {
		return nil, usageError{errors.New("-resume needs the folder of the run: -out")}
	}
	o := &options{out: out}
	if _, err := train.OpenDir(out, &o.settings); err != nil {
		return nil, err
	}
	was := (&options{settings: o.settings}).flags()
	if _, err := parseInto(o, args); err != nil {
		return nil, err
	}
	is := o.flags()
	var err error
	given.Visit(func(f *flag.Flag) {
		before, now := was.Lookup(f.Name).Value.String(), is.Lookup(f.Name).Value.String()
		switch f.Name {
		case "out", "resume", "epochs", "patience":
		default:
			if before != now {
				err = usageError{fmt.Errorf("the run in %s was started with -%s %q, not %q: when it goes on, only -epochs and -patience may change", out, f.Name, before, now)}
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
