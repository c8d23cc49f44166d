package trainer

import (
	"flag"
	"fmt"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/recipe"
	"github.com/plrank/plrank/train"
)

// chooseRecipe takes the default recipe for the size of the training data, with the flags
// that are given in place of its settings, and puts into words what it is. There is nothing to choose
// for another preset, a -config, a run that goes on, or a fold after the first.
func chooseRecipe(o *options, d *datasets.Dataset) error {
	if !o.bySize {
		return nil
	}
	config, reason := train.DefaultFor(d.Rows(), d.Queries())
	chosen := newOptions(defaultPreset, config)
	flags, err := parseInto(chosen, o.args)
	if err != nil {
		return err
	}
	chosen.validateByLoss(flags)
	chosen.Shards, chosen.HighestGrade = o.Shards, o.HighestGrade // which mpirun may have changed, and folds share
	if err := chosen.check(); err != nil {
		return err
	}
	o.Config, o.bySize = chosen.Config, false
	o.recipe = fmt.Sprintf("recipe for %d training documents: %s\n", d.Rows(), reason)
	if flags := differences(newOptions(defaultPreset, config).Config, defaults().Config); flags != "" {
		o.recipe += "it sets " + flags + "\n"
	}
	return nil
}

// differences is the flags of the settings by which c differs from another.
func differences(c, other train.Config) string {
	is, was := newFlagSet(), newFlagSet()
	recipe.Define(is, &c)
	recipe.Define(was, &other)
	var list []string
	is.VisitAll(func(f *flag.Flag) {
		if value := f.Value.String(); value != was.Lookup(f.Name).Value.String() {
			list = append(list, "-"+f.Name+" "+value)
		}
	})
	return strings.Join(list, " ")
}
