// Package evaluate is the sub-command that measures a model on labelled data.
package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/plrank/plrank/cmd/internal/help"
	"github.com/plrank/plrank/cmd/internal/input"
	"github.com/plrank/plrank/cmd/internal/report"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/recipe"
	"github.com/plrank/plrank/internal/source"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

var page = help.Page{
	Command: "evaluate",
	Usage:   []string{"-model FILE -data FILE|DIR [-report METRICS] [-importance] [-json]"},
	Text:    "Prints the metrics of a model on every split of a collection, or on all of a file, beside those of random order. The gain and the highest grade are those of the model unless they are given.",
	Flags:   []string{"model", "data", "importance", "plot", "json", "threads"},
	Examples: []string{
		"-model runs/fold1/model.npz -data MQ2008/Fold1/test.txt",
		"-model model.npz -data MQ2008 -fold 1 -report map,expected-err@10",
		"-model model.npz -data test.txt -importance -plot importance.svg",
	},
}

// options are the command line.
type options struct {
	source.Source
	config             train.Config // its settings of metrics
	cache              input.Cache
	model              string
	importance, asJSON bool
	plot               string // file
	threads            command.Threads
}

func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("evaluate", flag.ContinueOnError)
	f.StringVar(&o.model, "model", "", "a model `file`")
	o.Define(f, "")
	o.cache = input.UserCache
	o.cache.Define(f)
	f.BoolVar(&o.importance, "importance", false, "also print by how much the -metric gets worse where a feature is permuted")
	f.StringVar(&o.plot, "plot", "", "a new `file`.svg, .png or .pdf with a plot of the -importance")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	o.threads.Define(f)
	o.config, _ = recipe.Preset(recipe.ByData)
	all := flag.NewFlagSet("", flag.ContinueOnError)
	recipe.Define(all, &o.config)
	command.Pick(f, all, recipe.Measuring()...)
	return f
}

func (o *options) check() error {
	switch {
	case o.model == "" || o.Data == "":
		return errors.New("-model and -data are both needed")
	case o.plot != "" && !o.importance:
		return errors.New("-plot needs -importance")
	case o.plot != "" && !slices.Contains([]string{".svg", ".png", ".pdf"}, filepath.Ext(o.plot)):
		return fmt.Errorf("-plot %s: want a name that ends in .svg, .png or .pdf", o.plot)
	case slices.Contains(append(o.config.Report, o.config.Metric), train.LossMetric):
		return errors.New("-metric loss and -report loss are for training: a model file does not say its loss")
	}
	return cmp.Or(o.threads.Check(), o.Source.Check(), o.config.Check())
}

// Run is the sub-command, and its exit status.
func Run(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	input.LimitGarbage()
	ctx := command.Interruptible()
	return command.Run("evaluate", stdout, stderr, func(stdout io.Writer) error {
		var o options
		flags := o.flags()
		if printed, err := page.Parse(stdout, flags, args); printed || err != nil {
			return err
		}
		if err := o.check(); err != nil {
			return command.Usage(err)
		}
		if _, err := os.Stat(o.plot); err == nil {
			return fmt.Errorf("evaluate: %s exists: name a new file", o.plot)
		}
		o.threads.Use()
		model, err := ranker.Open(o.model)
		if err != nil {
			return err
		}
		if !command.IsGiven(flags, "gain") {
			o.config.Gain = model.File().Gain
		}
		return evaluate(ctx, &o, model, stdout, stderr)
	})
}

// evaluate measures the model on every split of the data.
func evaluate(ctx context.Context, o *options, model *ranker.Model, stdout, stderr io.Writer) error {
	splits, err := open(ctx, o, model, stderr)
	if err != nil {
		return err
	}
	measured, err := train.Evaluate(o.config, train.Parts{}, model, splits...)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "model %s, version %s\n", command.Printable(o.model), measured.Model)
	for i, s := range measured.Splits {
		if s.TrainedOn > 0 {
			input.Warn(stderr, fmt.Sprintf("%s: %d of %d queries were trained on: what is measured on them is no measure for new queries", splits[i].Data.Name, s.TrainedOn, s.Queries))
		}
	}
	if measured.HighestGrade != 0 && o.config.HighestGrade == 0 && model.File().Grade == 0 {
		input.Warn(stderr, fmt.Sprintf("%s does not say the highest grade, as files of older versions do not: err and graded-rbp go by the highest of these data, %v; -highest-grade sets it", o.model, measured.HighestGrade))
	}
	important, err := importance(ctx, o, model, splits, stderr)
	if err != nil {
		return err
	}
	if o.asJSON {
		return json.NewEncoder(stdout).Encode(struct {
			*train.Report
			Importance []train.Importance `json:"importance,omitempty"`
		}{measured, important})
	}
	report.Print(stdout, measured)
	if important != nil {
		printImportance(stdout, o.config.Metric, important)
	}
	return nil
}

// open gives the splits of the data; a single file is not split.
func open(ctx context.Context, o *options, model *ranker.Model, stderr io.Writer) ([]train.Split, error) {
	wanted := datasets.ReadOptions{FeatureIDs: model.FeatureIDs(), FeatureNames: model.FeatureNames()}
	single, from := input.SingleFile(&o.Source), o.Source
	if single {
		from.Vali = from.Data // so that nothing is held out
	}
	s, err := input.Open(ctx, &from, o.cache, datasets.Options{Read: wanted, Seed: o.config.Seed, Unlabelled: "drop"}, stderr)
	if err != nil {
		return nil, err
	}
	splits := []train.Split{{Name: "train", Data: s.Train}, {Name: "vali", Data: s.Vali}}
	if single {
		splits = []train.Split{{Name: "data", Data: s.Train}}
	}
	if s.Test != nil {
		splits = append(splits, train.Split{Name: "test", Data: s.Test})
	}
	for _, split := range splits {
		features := input.NewUsed(model)
		features.Add(split.Data)
		input.Warn(stderr, features.Lacking(split.Data.Name)...)
	}
	return splits, nil
}
