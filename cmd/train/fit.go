package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/datasets/golearn"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/processes"
	"github.com/plrank/plrank/internal/rundir"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// fit trains a model, or one for each fold, and says how good it is.
func fit(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	var folds []int // none: a single run
	var err error
	if o.Folds != "" && o.Fold == 0 {
		folds, err = foldsOf(o)
	}
	if err := processes.Agree(o.processes, err); err != nil {
		return err
	}
	if err := processes.Alike(o.processes, "folds", fmt.Sprint(folds)); err != nil {
		return err
	}
	if folds != nil {
		return fitFolds(ctx, o, folds, stdout, stderr)
	}
	j, err := prepare(ctx, o, stderr)
	if err != nil {
		return err
	}
	_, err = j.run(ctx, stdout, stderr)
	return err
}

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
	dir, err := o.dir()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && dir != nil {
			dir.Abandon()
		}
	}()
	splits, err := inTurn(o.processes, func() (*datasets.Splits, error) {
		s, err := open(ctx, o, datasets.ReadOptions{}, "drop", stderr)
		if err == nil {
			err = checkWeights(s.Train)
		}
		return s, err
	})
	if err != nil {
		return nil, err
	}
	if err := processes.Agree(o.processes, o.chooseRecipe(splits.Train)); err != nil {
		return nil, err
	}
	parts := train.Parts{Processes: o.processes}
	if o.InitModel != "" {
		parts.Initial, err = ranker.Open(o.initialFile())
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
func (o *options) initialFile() string {
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

// dir is the folder of the run, or of its folds; nil if none is asked for, or another rank
// writes it.
func (o *options) dir() (*rundir.Dir, error) {
	switch {
	case o.out == "" || !o.first():
		return nil, nil
	case o.resume:
		return rundir.Open(o.out, &settings{})
	}
	return rundir.Create(o.out)
}

// run trains the model, writes the files of the run, and prints a report, which
// it returns also if it was interrupted.
func (j *job) run(ctx context.Context, stdout, stderr io.Writer) (*train.Report, error) {
	t, dir := j.trainer, j.dir
	if dir != nil {
		defer dir.Close()
		s := j.settings
		s.Config = t.Config // with the names as they are written
		warning, err := dir.Begin(t, j.initial, s)
		if err != nil {
			return nil, err
		}
		if warning != "" {
			warn([]string{warning}, stderr)
		}
	}
	warn(t.Warnings(), stderr)
	fmt.Fprint(stderr, j.recipe)
	describe(stderr, j.splits, t)
	baselines, err := j.baselines(stderr)
	if err != nil {
		return nil, err
	}

	start := time.Now()
	p := newProgress(stderr, t.Config, len(t.History()))
	if j.asJSON {
		p.json = json.NewEncoder(stdout)
	}
	hooks := train.Hooks{Initial: p.initial, Step: p.step, Epoch: func(t *train.Trainer, e train.Epoch) error {
		if err := p.epoch(e); err != nil || dir == nil {
			return err
		}
		return dir.Epoch(t, e)
	}}
	result, err := t.Run(ctx, hooks)
	p.finish()
	if train.Skippable(err) && t.Config.OnNaN != "skip" {
		err = fmt.Errorf("%w (-on-nan skip leaves such batches out)", err)
	}
	if dir != nil {
		err = errors.Join(err, dir.Wait()) // what was learnt before an error is kept
	}
	if err != nil {
		return nil, err
	}
	if result.Interrupted {
		fmt.Fprintln(stderr, "interrupted: what follows is of the best epoch so far")
	}
	best := fmt.Sprintf("the best one is epoch %d", result.BestEpoch)
	if result.BestEpoch == 0 && result.Initial != nil {
		best = "the initial model is better than every epoch, and is kept"
	}
	fmt.Fprintf(stderr, "%s; %s; %.1f s\n", ending(t.Config, result), best, time.Since(start).Seconds())
	report, err := t.Report(result.Model, baselines...)
	if err != nil {
		return nil, err
	}
	if j.asJSON {
		err = p.json.Encode(report)
	} else {
		printReport(stdout, report)
	}
	if err != nil {
		return nil, err
	}
	if dir != nil {
		if err := dir.Finish(result, report); err != nil {
			return nil, err
		}
		if len(result.History) == 0 {
			return report, command.ErrInterrupted // before there was anything to draw
		}
		if err := drawCurve(dir.File(rundir.CurveFile), fmt.Sprintf("%s, %s", j.splits.Train.Name, t.Config.Loss), t.Config.Metric, result); err != nil {
			warn([]string{err.Error()}, stderr) // the run is complete without a picture
		}
		fmt.Fprintf(stderr, "written to %s; the model is version %s\n", j.out, result.Model.Digest())
	}
	if result.Interrupted {
		return report, command.ErrInterrupted
	}
	return report, nil
}

// ending says why training ended.
func ending(c train.Config, r *train.Result) string {
	switch n := len(r.History); {
	case r.Interrupted:
		return fmt.Sprintf("interrupted after %d of %d epochs", n, c.Epochs)
	case n < c.Epochs:
		return fmt.Sprintf("stopped after epoch %d: none of the last %d was better (-patience)", n, c.Patience)
	default:
		return fmt.Sprintf("all %d epochs are done", n)
	}
}

// baselines are the rankers to compare with, besides those of any report.
func (j *job) baselines(stderr io.Writer) ([]train.Baseline, error) {
	if j.Baseline == "" {
		return nil, nil
	}
	fmt.Fprintln(stderr, "fitting golearn's regression tree")
	tree, err := golearn.FitTree(j.splits.Train, golearn.TreeOptions{})
	if err != nil {
		return nil, err
	}
	return []train.Baseline{{Name: "golearn tree", Ranker: tree}}, nil
}
