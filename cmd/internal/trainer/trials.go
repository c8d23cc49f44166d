package trainer

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// Trials are trainings on the same data with other flags each, which plrank tune compares. They
// have no test split, and write no files.
type Trials struct {
	args    []string
	Folds   []*datasets.Splits // one, or one for each of -folds
	initial *ranker.Model      // nil: there is none
}

// Flags are those of the sub-command train.
func Flags() *flag.FlagSet { return defaults().flags() }

// OpenTrials reads the data that flags of train name.
func OpenTrials(ctx context.Context, args []string, stderr io.Writer) (*Trials, error) {
	o, err := parse(args)
	if err != nil {
		return nil, err
	}
	folds := []int{o.Fold}
	if o.Folds != "" {
		if folds, err = foldsOf(o); err != nil {
			return nil, err
		}
	}
	t := &Trials{args: args}
	if o.InitModel != "" {
		if t.initial, err = ranker.Open(o.InitModel); err != nil {
			return nil, err
		}
	}
	for _, fold := range folds {
		s, err := open(ctx, ofFold(o, fold), t.initial, stderr)
		if err == nil {
			err = checkWeights(s.Train)
		}
		if err != nil {
			return nil, err
		}
		s.Test = nil
		t.Folds = append(t.Folds, s)
	}
	if err := chooseRecipe(o, t.Folds[0]); err != nil {
		return nil, err
	}
	fmt.Fprint(stderr, o.recipe)
	return t, nil
}

// Config is the settings of a trial with more flags; an error says what is wrong with these.
func (t *Trials) Config(more ...string) (train.Config, error) {
	o, err := parse(slices.Concat(t.args, more))
	if err == nil {
		err = chooseRecipe(o, t.Folds[0])
	}
	if err != nil {
		return train.Config{}, err
	}
	return o.Config, nil
}

// Trainer is the training of a trial on a fold.
func (t *Trials) Trainer(c train.Config, fold int) (*train.Trainer, error) {
	return train.New(c, train.Parts{Initial: t.initial}, t.Folds[fold])
}
