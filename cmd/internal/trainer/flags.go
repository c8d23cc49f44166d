package trainer

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/recipe"
)

// flags defines the flags; their defaults are what o holds.
func (o *options) flags() *flag.FlagSet {
	f := newFlagSet()
	recipe.Define(f, &o.Config)
	o.Define(f, "; without it, a small synthetic collection")
	f.StringVar(&o.Folds, "folds", o.Folds, "train on each fold in turn: `all` folds of the folder -data, or as many, such as 5, as the queries of the file -data are dealt to")
	o.cache.Define(f)
	f.BoolVar(&o.asJSON, "json", o.asJSON, "print JSON: an object for every epoch, then the final metrics")
	f.StringVar(&o.InitModel, "init-model", o.InitModel, "a model `file` of the same architecture to begin with")
	f.StringVar(&o.Preset, "preset", o.Preset, "start from this `recipe`: "+strings.Join(recipe.Presets(), " or "))
	f.StringVar(&o.config, "config", o.config, "start from this config.json, a `file` of another run")
	o.threads.Define(f)
	f.BoolVar(&o.version, "version", o.version, "print the version, and end")
	f.StringVar(&o.out, "out", o.out, "a new `folder` for the files of the run")
	f.BoolVar(&o.resume, "resume", o.resume, "go on with the run in -out")
	return f
}

func newFlagSet() *flag.FlagSet { return flag.NewFlagSet("train", flag.ContinueOnError) }

// parseInto reads the command line into o.
func parseInto(o *options, args []string) (*flag.FlagSet, error) {
	flags := o.flags()
	if err := command.Parse(flags, args); err != nil {
		if moved := moved(args); moved != nil && !errors.Is(err, flag.ErrHelp) {
			err = command.Usage(moved)
		}
		return nil, err
	}
	if err := o.Source.Check(); err != nil {
		return nil, command.Usage(err)
	}
	return flags, o.threads.Check()
}

// check reports settings that make no sense for a training.
func (o *options) check() error {
	switch {
	case o.Folds != "" && o.Folds != allFolds && o.ofOneFile() < 3:
		return command.Usage(fmt.Errorf("-folds %q: want %s, or a number of 3 or more; -fold takes one of them", o.Folds, allFolds))
	case o.Folds != "" && o.Data == "":
		return command.Usage(errors.New("-folds needs -data"))
	case o.Folds == allFolds && o.Fold != 0:
		return command.Usage(errors.New("-folds all takes every fold: -fold has no meaning beside it"))
	case o.Folds != "" && (o.Vali != "" || o.Test != "" || o.Synthetic()):
		return command.Usage(errors.New("-folds takes the splits of each fold: -vali, -test and synthetic data have no meaning beside it"))
	}
	if err := recipe.CheckSet(o.Config); err != nil {
		return command.Usage(err)
	}
	if err := o.Config.Check(); err != nil {
		return command.Usage(err)
	}
	return nil
}
