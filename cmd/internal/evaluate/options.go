package evaluate

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/plrank/plrank/cmd/internal/input"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/recipe"
	"github.com/plrank/plrank/internal/source"
	"github.com/plrank/plrank/train"
)

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
		return command.Usage(errors.New("-model and -data are both needed"))
	case o.plot != "" && !o.importance:
		return command.Usage(errors.New("-plot needs -importance"))
	case o.plot != "" && !slices.Contains([]string{".svg", ".png", ".pdf"}, filepath.Ext(o.plot)):
		return command.Usage(fmt.Errorf("-plot %s: want a name that ends in .svg, .png or .pdf", o.plot))
	case slices.Contains(append(o.config.Report, o.config.Metric), train.LossMetric):
		return command.Usage(errors.New("-metric loss and -report loss are for training: a model file does not say its loss"))
	}
	if o.plot != "" {
		if _, err := os.Stat(o.plot); err == nil {
			return fmt.Errorf("evaluate: %s exists: name a new file", o.plot)
		}
	}
	if err := cmp.Or(o.threads.Check(), o.Source.Check(), o.config.Check()); err != nil {
		return command.Usage(err)
	}
	return nil
}
