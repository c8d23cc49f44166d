package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/plrank/plrank/cmd/internal/command"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/datasets/golearn"
	"github.com/plrank/plrank/train"
)

// fit trains a model, or one for each fold, and says how good it is.
func fit(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	if o.out != "" && !o.resume {
		if _, err := os.Stat(o.out); err == nil { // before the data are read, which may take time
			return fmt.Errorf("train: %s exists: name a new folder, or go on with the run in it by -resume", o.out)
		}
	}
	if o.Folds != "" && o.Fold == 0 {
		return fitFolds(ctx, o, stdout, stderr)
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
	splits  *datasets.Splits
	trainer *train.Trainer
}

func prepare(ctx context.Context, o *options, stderr io.Writer) (*job, error) {
	splits, err := open(ctx, o, "drop", stderr)
	if err != nil {
		return nil, err
	}
	t, err := train.New(o.Config, train.Parts{}, splits)
	if err != nil {
		return nil, withFlags(err, o, splits)
	}
	return &job{o, splits, t}, nil
}

// run trains the model, writes the files of the run, and prints a report, which
// it returns also if it was interrupted.
func (j *job) run(ctx context.Context, stdout, stderr io.Writer) (*train.Report, error) {
	t := j.trainer
	dir, err := j.dir()
	if err != nil {
		return nil, err
	}
	describe(stderr, j.splits, t)
	baselines, err := j.baselines(stderr)
	if err != nil {
		return nil, err
	}

	start := time.Now()
	p := newProgress(stderr, t.Config, len(t.History()))
	hooks := train.Hooks{Step: p.step, Epoch: func(t *train.Trainer, e train.Epoch) error {
		p.epoch(e)
		if dir == nil {
			return nil
		}
		return dir.Epoch(t, e)
	}}
	result, err := t.Run(ctx, hooks)
	p.finish()
	if err != nil {
		return nil, err
	}
	if result.Interrupted {
		fmt.Fprintln(stderr, "interrupted: what follows is of the best epoch so far")
	}
	fmt.Fprintf(stderr, "best epoch %d of %d, %.1f s\n", result.BestEpoch, len(result.History), time.Since(start).Seconds())
	report, err := t.Report(result.Ranker, baselines...)
	if err != nil {
		return nil, err
	}
	printReport(stdout, report)
	if dir != nil {
		if err := dir.Finish(result, report); err != nil {
			return nil, err
		}
		if len(result.History) == 0 {
			return report, command.ErrInterrupted // before there was anything to draw
		}
		if err := drawCurve(dir.File(curveFile), t.Metric, result.History); err != nil {
			return nil, err
		}
		fmt.Fprintf(stderr, "written to %s\n", j.out)
	}
	if result.Interrupted {
		return report, command.ErrInterrupted
	}
	return report, nil
}

// dir is the folder of the run, nil if none is asked for.
func (j *job) dir() (*train.Dir, error) {
	switch {
	case j.out == "":
		return nil, nil
	case j.resume:
		dir, err := train.OpenDir(j.out, &settings{})
		if err != nil {
			return nil, err
		}
		return dir, dir.Restore(j.trainer)
	}
	s := j.settings
	s.Config = j.trainer.Config // with the names as they are written
	return train.CreateDir(j.out, s)
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
