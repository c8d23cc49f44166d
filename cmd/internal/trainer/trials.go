package trainer

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// Trials are trainings on the same data with other flags each, which plrank tune compares. They
// measure no test split, and write no files.
type Trials struct {
	args    []string
	Folds   []*datasets.Splits // one, or one for each of -folds
	initial *ranker.Model      // nil: there is none
	grade   float64            // that folds share; 0: each has its own
	top     *datasets.Dataset  // the query of the test split with the highest grade, which metrics go by; nil: they do not
	whole   *datasets.Splits   // of the first fold, with no more of the test split than idle asks for
}

// Flags returns the flags of the sub-command train.
func Flags() cli.Flags { return defaults().flags() }

// OpenTrials reads the data that flags of train name.
func OpenTrials(ctx context.Context, args []string, stderr io.Writer) (*Trials, error) {
	o, err := parse(args)
	if err != nil {
		return nil, err
	}
	folds, err := foldsOf(o)
	if err != nil {
		return nil, err
	}
	single := folds == nil
	if single {
		folds = []int{o.Fold}
	}
	t := &Trials{args: args}
	if t.initial, err = o.initial(); err != nil {
		return nil, err
	}
	var all grades
	for _, fold := range folds {
		own := ofFold(o, fold)
		s, err := own.load(ctx, t.initial, stderr)
		if err == nil {
			o.chosen = own.chosen
			s, err = train.FitProducts(ctx, s)
		}
		if err != nil {
			return nil, err
		}
		all.add(s)
		if t.whole == nil {
			whole := *s
			if t.whole = &whole; s.Test != nil {
				whole.Test = &datasets.Dataset{QueryWeights: s.Test.QueryWeights}
			}
		}
		if highest := s.Test.HighestLabel(); single && highest > max(s.Train.HighestLabel(), s.Vali.HighestLabel()) {
			row := slices.Index(s.Test.Labels, float32(highest))
			query, _ := slices.BinarySearch(s.Test.Offsets, row+1)
			t.top = s.Test.Select([]int{query - 1})
		}
		s.Test = nil
		t.Folds = append(t.Folds, s)
	}
	if !single {
		t.grade = all.shared()
	}
	if err := chooseRecipe(o, t.Folds[0]); err != nil {
		return nil, err
	}
	command.Note(o.notes(stderr), o.recipe)
	return t, nil
}

// Models returns the models of a trial with more flags, which are mixed if there are several, and by flag warnings of the ones without
// effect in it. Without more flags they are what train would train. It returns an error if the flags are wrong.
func (t *Trials) Models(more ...string) (models []train.Config, idle map[string]string, err error) {
	o, err := parse(slices.Concat(t.args, more))
	if err == nil {
		o.HighestGrade = cmp.Or(o.HighestGrade, t.grade)
		if more != nil {
			o.singleIfTried()
		}
		err = cmp.Or(o.beginWith(t.initial), chooseRecipe(o, t.Folds[0]))
	}
	if err == nil {
		idle, err = o.idle(t.whole)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, c := range o.plan() {
		c.EvaluateTest = false // of a -config: trials have no test split
		c, wrong := c.Written()
		models, err = append(models, c), cmp.Or(err, wrong)
	}
	return models, idle, err
}

// Trainer returns the training of a model of a trial on a fold.
func (t *Trials) Trainer(c train.Config, fold int, hooks ...train.Hook) (*train.Trainer, error) {
	s := *t.Folds[fold]
	s.Test = t.top
	return train.New(c, train.Custom{Initial: t.initial, Hooks: hooks}, &s)
}

// singleIfTried makes a trial with a flag of models a single model, which plrank tune mixes with others.
func (o *options) singleIfTried() {
	if slices.ContainsFunc(o.given, recipe.OfModel) && !slices.Contains(o.given, "scorer") {
		o.Scorer, o.given = recipe.ScorerFor(o.given...), append(o.given, "scorer")
	}
}
