package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/recipe"
	"github.com/plrank/plrank/internal/rundir"
	"github.com/plrank/plrank/internal/source"
	"github.com/plrank/plrank/train"
)

// settings are what a run does, as its config.json keeps it.
type settings struct {
	Preset string `json:"preset"`
	source.Source
	Folds     string `json:"folds,omitempty"` // "all": a run for each fold of the folder Data; a number: of folds of the file Data
	Baseline  string `json:"baseline,omitempty"`
	InitModel string `json:"initModel,omitempty"`
	train.Config
}

// options are the command line.
type options struct {
	settings
	cache            string // a folder, userCache or noCache
	describe, asJSON bool
	out              string
	resume           bool
	config           string // a file with settings
	threads          int    // 0: all
	version          bool
	processes        train.Processes // that mpirun has started; nil: this process alone
	given            []string        // flags, by name
	bySize           bool            // the recipe is still to be chosen, by the size of the data
	recipe           string          // what was chosen, in words, by this run; lines

	model, predict, scores, runFile, qrels, exposure, importance, onnx string
	draw                                                               int // rankings of each query
	temperature                                                        float64
	gainGiven                                                          bool
}

// Values of -cache that are no folders, of -folds and -baseline.
const (
	userCache       = "user"
	noCache         = "off"
	allFolds        = "all"
	golearnBaseline = "golearn"
)

// flags defines the flags; their defaults are what o holds.
func (o *options) flags() *flag.FlagSet {
	f := newFlagSet()
	recipe.Define(f, &o.Config)

	o.Define(f, "; without it, a small one in MSLR's shape is made")
	f.StringVar(&o.Folds, "folds", o.Folds, "train on each fold in turn, and print mean and spread of each metric: `all` folds of the folder -data, or as many, such as 5, as the queries of the file -data are dealt to; -fold takes one of them")
	f.StringVar(&o.cache, "cache", o.cache, "`folder` for binary copies of what was read, from which data open several times sooner the next time: user is plrank in your cache folder, off is none; that of the data itself will do, too")

	f.BoolVar(&o.describe, "describe", o.describe, "say what is in -data, and end")
	f.BoolVar(&o.asJSON, "json", o.asJSON, "print JSON: an object for every epoch of a training, then one with the final metrics; or one with what is described or measured")

	f.StringVar(&o.Baseline, "baseline", o.Baseline, "`name` of one more ranker to compare with: golearn, a regression tree (CART) of golearn's, fitted to the labels of 10000 documents at most, without weights")
	f.StringVar(&o.InitModel, "init-model", o.InitModel, "a model `file` of the same architecture, whose weights and transform training begins with; it is validated first, and stays the best until an epoch is better")
	f.StringVar(&o.Preset, "preset", o.Preset, "start from this `recipe`; flags given besides override it: "+strings.Join(recipe.Presets(), " or "))
	f.StringVar(&o.config, "config", o.config, "start from the settings in this `file`, the config.json of another run; flags given besides override them")
	f.IntVar(&o.threads, "threads", o.threads, "processor `cores` to use; 0 is all. Results do not depend on it")
	f.BoolVar(&o.version, "version", o.version, "print the version, and end")
	f.StringVar(&o.out, "out", o.out, "a new `folder` for the files of the run, which no other run can have meanwhile")
	f.BoolVar(&o.resume, "resume", o.resume, "go on with the run in -out; of its settings, only -epochs, -patience and -on-nan may change, and the paths of data that have moved. With -schedule cosine and another number of epochs, the learning rates from there on are those of a run of so many")

	f.StringVar(&o.model, "model", o.model, "a model `file`")
	f.StringVar(&o.predict, "predict", o.predict, "a `file` to score with the model; - is standard input")
	f.StringVar(&o.scores, "scores", o.scores, "a new `file` for the scores, one a line, in the order of the rows; - is standard output")
	f.StringVar(&o.runFile, "run", o.runFile, "a new `file` for the rankings, as a TREC run: lines of \"qid Q0 docid rank score tag\"")
	f.IntVar(&o.draw, "draw", o.draw, "write `N` rankings of every query, drawn from the Plackett–Luce policy of the scores by -seed, instead of the one by descending score: more than one go to the files FILE.1, FILE.2, … of -run FILE")
	f.Float64Var(&o.temperature, "temperature", o.temperature, "a `number` that the scores are divided by for -draw and -exposure: above 1 the drawn rankings vary more, below 1 less")
	f.StringVar(&o.onnx, "onnx", o.onnx, "a new `file` for the model in ONNX format, with its transform inside")
	f.StringVar(&o.exposure, "exposure", o.exposure, "a new `file` for the expected exposure of every document under that policy, one a line: the sum over the ranks up to -cutoff of their -discounts times the probability to stand there, exactly")
	f.StringVar(&o.importance, "importance", o.importance, "a plot, `file`.svg, .png or .pdf, of how much worse the -metric of the validation split gets without each feature, which is also printed")
	f.StringVar(&o.qrels, "qrels", o.qrels, "a new `file` for the labels, as TREC judgements: lines of \"qid 0 docid label\"")
	return f
}

func newFlagSet() *flag.FlagSet { return flag.NewFlagSet("train", flag.ContinueOnError) }

// defaults is the options without a command line.
func defaults() *options {
	c, _ := recipe.Preset(recipe.ByData)
	return newOptions(recipe.ByData, c)
}

func newOptions(preset string, c train.Config) *options {
	return &options{
		settings: settings{Preset: preset, Config: c},
		cache:    userCache, temperature: 1,
	}
}

// parse reads the command line.
func parse(args []string) (*options, error) {
	first := defaults()
	flags, err := parseInto(first, args)
	if err != nil {
		return nil, err
	}
	switch {
	case first.version:
		return first, nil
	case first.onnx != "":
		return first, checkExport(first, flags)
	case first.model != "" && first.Data != "" && first.predict == "":
		return first, checkEvaluation(first, flags)
	case first.predict != "" || first.model != "" || first.scores != "" || first.runFile != "" || first.qrels != "" || first.exposure != "" || first.draw != 0 || first.temperature != 1 || first.importance != "":
		return first, checkPrediction(first, flags)
	case first.describe:
		return first, only(descriptionFlags, flags, "describe")
	case first.resume:
		return resumed(first.out, args, flags)
	}
	o, err := startingPoint(first, flags)
	if err != nil {
		return nil, err
	}
	if flags, err = parseInto(o, args); err != nil {
		return nil, err
	}
	flags.Visit(func(f *flag.Flag) { o.given = append(o.given, f.Name) })
	recipe.MatchMetric(&o.Config, o.given...)
	o.bySize = o.Preset == recipe.ByData && o.config == ""
	return o, checkTraining(o)
}

// startingPoint is the options that flags override: a recipe, or the settings of a file.
func startingPoint(first *options, given *flag.FlagSet) (*options, error) {
	if first.config == "" {
		preset, err := recipe.Preset(first.Preset)
		if err != nil {
			return nil, command.Usage(err)
		}
		return newOptions(first.Preset, preset), nil
	}
	if isGiven(given, "preset") {
		return nil, command.Usage(errors.New("-preset has no meaning beside -config"))
	}
	text, err := os.ReadFile(first.config)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	o := &options{cache: userCache}
	known := json.NewDecoder(bytes.NewReader(text))
	known.DisallowUnknownFields()
	if err := known.Decode(&o.settings); err != nil {
		return nil, fmt.Errorf("train: %s: %w", first.config, err)
	}
	o.Config = o.Config.Plain() // a run of an older version lacks newer settings
	return o, nil
}

func parseInto(o *options, args []string) (*flag.FlagSet, error) {
	flags := o.flags()
	if err := command.Parse(flags, args); err != nil {
		return nil, err
	}
	if err := o.Source.Check(); err != nil {
		return nil, command.Usage(err)
	}
	if o.threads < 0 {
		return nil, command.Usage(fmt.Errorf("-threads %d: want a number of cores, or 0 for all", o.threads))
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
	if err := recipe.CheckSet(o.Config); err != nil {
		return command.Usage(err)
	}
	if err := o.Config.Check(); err != nil {
		return command.Usage(err)
	}
	return nil
}

// The flags that have a meaning where no model is trained.
var (
	predictionFlags  = append([]string{"model", "predict", "scores", "run", "qrels", "draw", "exposure", "temperature", "seed", "cutoff", "discounts", "threads"}, source.ReadingFlags...)
	descriptionFlags = append([]string{"describe", "json", "cache", "seed", "threads"}, source.Flags...)
	evaluationFlags  = slices.Concat([]string{"model", "importance", "json", "cache", "threads"}, recipe.Measuring(), source.Flags)
)

func checkExport(o *options, flags *flag.FlagSet) error {
	if o.model == "" {
		return command.Usage(errors.New("-onnx needs -model"))
	}
	return only([]string{"model", "onnx"}, flags, "onnx")
}

// mostDraws is how many rankings of a query can be drawn at once: each has an open file.
const mostDraws = 1000

func checkPrediction(o *options, flags *flag.FlagSet) error {
	outputs := 0
	for _, path := range []string{o.scores, o.runFile, o.qrels, o.exposure} {
		if path == standard {
			outputs++
		}
	}
	switch {
	case o.importance != "":
		return command.Usage(errors.New("-importance needs -model and -data"))
	case o.model == "" || o.predict == "":
		return command.Usage(errors.New("to score documents, -model and -predict are both needed; to measure a model, -model and -data"))
	case o.scores == "" && o.runFile == "" && o.exposure == "":
		return command.Usage(errors.New("to score documents, -scores, -run or -exposure must name a new file for the result"))
	case outputs > 1:
		return command.Usage(errors.New("standard output, -, has room for one of -scores, -run, -qrels and -exposure"))
	case o.draw > 1 && o.runFile == standard:
		return command.Usage(fmt.Errorf("-draw %d: each ranking has a file of its own: -run must name one, not standard output", o.draw))
	case o.draw < 0 || o.draw > mostDraws || o.draw > 0 && o.runFile == "":
		return command.Usage(fmt.Errorf("-draw %d: want 1 to %d rankings, and -run for them; another -seed draws others", o.draw, mostDraws))
	}
	switch t := o.temperature; {
	case !(t > 0) || math.IsInf(t, 1):
		return command.Usage(fmt.Errorf("-temperature %v: want a positive, finite number", t))
	case isGiven(flags, "temperature") && !isGiven(flags, "draw") && !isGiven(flags, "exposure"):
		return command.Usage(errors.New("-temperature has no meaning beside -predict without -draw or -exposure"))
	}
	for flag, beside := range map[string]string{"seed": "draw", "cutoff": "exposure", "discounts": "exposure"} {
		if isGiven(flags, flag) && !isGiven(flags, beside) {
			return command.Usage(fmt.Errorf("-%s has no meaning beside -predict without -%s", flag, beside))
		}
	}
	return only(predictionFlags, flags, "predict")
}

func checkEvaluation(o *options, flags *flag.FlagSet) error {
	if err := only(evaluationFlags, flags, "model and -data"); err != nil {
		return err
	}
	if o.importance != "" {
		if !slices.Contains([]string{".svg", ".png", ".pdf"}, filepath.Ext(o.importance)) {
			return command.Usage(fmt.Errorf("-importance %s: want a name that ends in .svg, .png or .pdf", o.importance))
		}
		if _, err := os.Stat(o.importance); err == nil {
			return fmt.Errorf("train: %s exists: name a new file", o.importance)
		}
	}
	if slices.Contains(append(o.Report, o.Metric), train.LossMetric) {
		return command.Usage(errors.New("-metric loss and -report loss are for training: a model file does not say its loss"))
	}
	o.gainGiven = isGiven(flags, "gain")
	if err := o.Config.Check(); err != nil {
		return command.Usage(err)
	}
	return nil
}

func isGiven(flags *flag.FlagSet, name string) bool {
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
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
// what the run was started with, but for how long it goes on and where the files are
// now: their content is compared with what the checkpoint knows of it.
func resumed(out string, args []string, given *flag.FlagSet) (*options, error) {
	if out == "" {
		return nil, command.Usage(errors.New("-resume needs the folder of the run: -out"))
	}
	o := &options{cache: userCache, out: out}
	if err := rundir.ReadSettings(out, &o.settings); err != nil {
		return nil, err
	}
	o.Config = o.Config.Plain() // a run of an older version lacks newer settings
	was := (&options{settings: o.settings}).flags()
	if _, err := parseInto(o, args); err != nil {
		return nil, err
	}
	is := o.flags()
	var err error
	given.Visit(func(f *flag.Flag) {
		before, now := was.Lookup(f.Name).Value.String(), is.Lookup(f.Name).Value.String()
		switch f.Name {
		case "out", "resume", "cache", "threads", "json", "data", "vali", "test", "groups", "init-model":
		default:
			if before != now && !recipe.Resumable(f.Name) {
				err = command.Usage(fmt.Errorf("the run in %s was started with -%s %q, not %q: when it goes on, only -epochs, -patience, -on-nan and the paths of data may change", out, f.Name, before, now))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if epochs := was.Lookup("epochs").Value.String(); o.Schedule == "cosine" && epochs != is.Lookup("epochs").Value.String() {
		o.recipe = fmt.Sprintf("the learning rate goes on by the cosine schedule of %d epochs; until now it was that of %s\n", o.Epochs, epochs)
	}
	return o, checkTraining(o)
}
