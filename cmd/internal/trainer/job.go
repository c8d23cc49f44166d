package trainer

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/processes"
	"github.com/plrank/plrank/internal/rundir"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// A job is a run that is ready to begin.
type job struct {
	*options
	dir     *rundir.Dir // nil: none is asked for
	splits  *datasets.Splits
	trainer *train.Trainer
	initial *ranker.Model // nil: there is none
}

// prepare makes the folder of the run before the data are read, which may take time.
func prepare(ctx context.Context, o *options, stderr io.Writer) (j *job, err error) {
	dir, err := runDir(o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && dir != nil {
			dir.Abandon()
		}
	}()
	splits, err := inTurn(o.processes, func() (*datasets.Splits, error) {
		s, err := open(ctx, o, stderr)
		if err == nil {
			err = checkWeights(s.Train)
		}
		return s, err
	})
	if err != nil {
		return nil, err
	}
	if err := processes.Agree(o.processes, chooseRecipe(o, splits.Train)); err != nil {
		return nil, err
	}
	parts := train.Parts{Processes: o.processes}
	if o.InitModel != "" {
		parts.Initial, err = ranker.Open(initialFile(o))
	}
	if err := processes.Agree(o.processes, err); err != nil {
		return nil, err
	}
	t, err := train.New(o.Config, parts, splits)
	if err = processes.Agree(o.processes, err); err != nil {
		return nil, withFlags(err, o, splits)
	}
	return &job{o, dir, splits, t, parts.Initial}, nil
}

// initialFile is the file of the initial model: the copy of it that a run keeps, once there
// is one.
func initialFile(o *options) string {
	if copied := filepath.Join(o.out, rundir.InitialFile); o.resume {
		if _, err := os.Stat(copied); err == nil {
			return copied
		}
	}
	return o.InitModel
}

// checkWeights is an error where nothing has a weight: a training would end without one.
func checkWeights(d *datasets.Dataset) error {
	for _, weights := range [][]float32{d.Weights, d.QueryWeights} {
		if len(weights) > 0 && slices.Max(weights) == 0 {
			return fmt.Errorf("train: all weights of %s are 0: there is nothing to learn", d.Name)
		}
	}
	return nil
}

// runDir is the folder of the run, or of its folds; nil if none is asked for, or another rank
// writes it.
func runDir(o *options) (*rundir.Dir, error) {
	switch {
	case o.out == "" || !o.first():
		return nil, nil
	case o.resume:
		return rundir.Open(o.out, &settings{})
	}
	return rundir.Create(o.out)
}
