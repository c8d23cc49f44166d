package trainer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// A job is a run whose data are read, and whose models are chosen.
type job struct {
	*options
	dir     *cli.RunDir // nil: none is asked for
	splits  *datasets.Splits
	custom  train.Custom   // of every model
	trainer *train.Trainer // of the last model that was trained

	beginAbove func() error // begins the folder above this run's, after this one
}

// prepare makes the folder of the run before it reads the data, which may take time.
func prepare(ctx context.Context, o *options, stderr io.Writer) (j *job, err error) {
	j = &job{options: o, custom: train.Custom{Processes: o.processes}, beginAbove: func() error { return nil }}
	if j.dir, err = runDir(o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			j.dir.Close()
		}
	}()
	var idle map[string]string
	j.splits, err = inTurn(o.processes, func() (s *datasets.Splits, err error) {
		if j.custom.Initial, err = o.initial(); err == nil {
			s, err = o.load(ctx, j.custom.Initial, stderr)
		}
		if err == nil {
			err = chooseRecipe(o, s)
		}
		if err == nil && (o.Models != nil || !o.LearnsProducts()) { // several have features in common
			s, err = train.FitProducts(ctx, s)
		}
		if err == nil {
			idle, err = o.idle(s)
		}
		return s, err
	})
	if err == nil {
		err = mpi.Alike(o.processes, "the number of models by flags and data", fmt.Sprint(len(o.plan())))
	}
	if err == nil {
		command.Warn(stderr, cli.Sorted(idle)...)
	}
	return j, err
}

// runDir is the folder of the run, or of its folds; nil if none is asked for, or another rank
// writes it.
func runDir(o *options) (*cli.RunDir, error) {
	switch {
	case o.out == "" || mpi.GroupOf(o.processes).Rank() > 0:
		return nil, nil
	case o.resume:
		return cli.OpenRun(o.out, &settings{})
	}
	return cli.CreateRun(o.out)
}

// begun reports whether a folder is of a run that has begun.
func begun(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, cli.SettingsFile))
	return err == nil
}

// within returns the options of a run in a folder within the one of this run.
func (o *options) within(folder string) *options {
	one := *o
	if o.out != "" {
		one.out = filepath.Join(o.out, folder)
		one.resume = o.resume && begun(one.out)
	}
	return &one
}

// open returns the data that the options name, without unlabelled documents. It returns an error if all weights are
// zero, which training would not notice.
func open(ctx context.Context, o *options, initial *ranker.Model, stderr io.Writer) (*datasets.Splits, error) {
	s, err := openSplits(ctx, o, initial, stderr)
	if err != nil {
		return nil, err
	}
	if err := labelByJudges(o, s, stderr); err != nil {
		return nil, err
	}
	for _, weights := range [][]float32{s.Train.Weights, s.Train.QueryWeights} {
		if len(weights) > 0 && slices.Max(weights) == 0 {
			return nil, fmt.Errorf("train: all weights of %s are 0: there is nothing to learn", s.Train.Name)
		}
	}
	if o.Data != "" && !o.Synthetic() {
		command.Warn(stderr, slices.Concat(cli.Suspicions(s.Train), cli.EqualLabels(s.Vali), cli.EqualLabels(s.Test))...)
	}
	return s, nil
}

// load is open with the products of vectors that validation chooses, unless transforms name some.
func (o *options) load(ctx context.Context, initial *ranker.Model, stderr io.Writer) (*datasets.Splits, error) {
	s, err := open(ctx, o, initial, stderr)
	if err == nil && initial == nil && s.Train.Products != nil && o.products() == nil {
		s, o.chosen, err = train.ChooseProducts(ctx, s)
	}
	return s, err
}

// openSplits is open without the check. An initial model says which columns are read, in which order, and how texts are
// numbered.
func openSplits(ctx context.Context, o *options, initial *ranker.Model, stderr io.Writer) (*datasets.Splits, error) {
	switch {
	case o.Clicks != "":
		return openClicks(ctx, o, readOptions(o, initial), stderr)
	case o.Data == "":
		// As large as training on it ends within a minute.
		return datasets.Synthetic(datasets.SyntheticOptions{Train: 100, Vali: 40, Test: 80, Seed: o.Seed}), nil
	}
	read := datasets.Options{Read: readOptions(o, initial), Seed: o.Seed, Folds: o.ofOneFile(), Unlabelled: "drop"}
	if o.Judge != "" {
		read.Unlabelled = "keep"
		if o.Qrels != "" {
			read.Read.Labels = "unused"
		}
	}
	splits, err := o.Source.Open(ctx, read, stderr)
	if errors.Is(err, datasets.ErrFolds) {
		err = fmt.Errorf("%w; -folds all is a run for each", err)
	}
	cli.LimitGarbage()
	return splits, err
}

func readOptions(o *options, initial *ranker.Model) datasets.ReadOptions {
	if initial != nil {
		return datasets.OptionsFor(initial)
	}
	return datasets.ReadOptions{Categorical: o.Categorical, Products: o.products()}
}

// initial opens the initial model, nil without one, or the copy of it that a run keeps, once there is one. Its kind is the one to train.
func (o *options) initial() (*ranker.Model, error) {
	if o.InitModel == "" {
		return nil, nil
	}
	path := o.InitModel
	if copied := filepath.Join(o.out, cli.InitialFile); o.resume {
		if _, err := os.Stat(copied); err == nil {
			path = copied
		}
	}
	m, err := ranker.Open(path)
	if err != nil {
		return nil, err
	}
	return m, o.beginWith(m)
}

// inTurn calls f for rank 0 first, then for one process of each other host, then for the
// others. They find what those before have left in a cache, where they can see it. All
// ranks get the error of any.
func inTurn[T any](group mpi.Group, f func() (T, error)) (value T, err error) {
	if group == nil {
		return f()
	}
	mine := 2
	switch {
	case group.Rank() == 0:
		mine = 0
	case mpi.FirstOfHost():
		mine = 1
	}
	for turn := range 3 {
		if turn == mine {
			value, err = f()
		}
		if err := mpi.Agree(group, err); err != nil {
			return value, err
		}
	}
	return value, nil
}
