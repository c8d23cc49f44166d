package trainer

import (
	"fmt"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/recipe"
	"github.com/plrank/plrank/train"
)

// chooseRecipe takes the recipe for the size of the training data, with the flags that are given
// in place of its settings, and puts into words what it is. There is nothing to choose
// for another preset, a -config, a run that goes on, or a fold after the first.
func chooseRecipe(o *options, d *datasets.Dataset) error {
	if !o.bySize {
		return nil
	}
	config, reason := train.DefaultFor(d.Rows(), d.Queries())
	o.recipe = fmt.Sprintf("recipe for %d training documents: %s\n", d.Rows(), reason)
	if flags := recipe.Differences(config, defaults().Config); flags != "" {
		o.recipe += "it sets " + flags + "\n"
	}
	own := []string{"shards", "highest-grade"} // which mpirun may have changed, and folds share
	recipe.Override(&config, o.Config, append(own, o.given...)...)
	o.Config, o.bySize = config, false
	return o.check()
}
