package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

// errInterrupted is the end of a run that was interrupted, and has said so.
var errInterrupted = errors.New("interrupted")

// fit trains a model, and says how good it is.
func fit(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	if o.out != "" && !o.resume {
		if _, err := os.Stat(o.out); err == nil { // before the data are read, which may take time
			return fmt.Errorf("train: %s exists: name a new folder, or go on with the run in it by -resume", o.out)
		}
	}
	splits, err := open(o, stderr)
	if err != nil {
		return err
	}
	t, err := train.New(o.Config, splits)
	if err != nil {
		return err
	}
	dir, err := runDir(o, t)
	if err != nil {
		return err
	}
	describe(stderr, splits, t)

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
		return err
	}
	if result.Interrupted {
		fmt.Fprintln(stderr, "interrupted: what follows is of the best epoch so far")
	}
	fmt.Fprintf(stderr, "best epoch %d of %d, %.1f s\n", result.BestEpoch, len(result.History), time.Since(start).Seconds())
	report, err := t.Report(result.Ranker)
	if err != nil {
		return err
	}
	printReport(stdout, report)
	if dir != nil {
		if err := dir.Finish(result, report); err != nil {
			return err
		}
		if len(result.History) == 0 {
			return errInterrupted // before there was anything to draw
		}
		if err := drawCurve(dir.File(curveFile), t.Metric, result.History); err != nil {
			return err
		}
		fmt.Fprintf(stderr, "written to %s\n", o.out)
	}
	if result.Interrupted {
		return errInterrupted
	}
	return nil
}

// open gives the data that the options name.
func open(o *options, stderr io.Writer) (*datasets.Splits, error) {
	if o.Data == "" {
		// As large as training on it ends within a minute.
		return datasets.Synthetic(datasets.SyntheticOptions{Train: 400, Vali: 100, Test: 200, Seed: o.Seed}), nil
	}
	splits, err := datasets.Open(o.Data, datasets.Options{Vali: o.Vali, Test: o.Test, Seed: o.Seed})
	if err != nil {
		return nil, err
	}
	for _, d := range []*datasets.Dataset{splits.Train, splits.Vali, splits.Test} {
		warn(d, stderr)
	}
	return splits, nil
}

func warn(d *datasets.Dataset, stderr io.Writer) {
	if d == nil {
		return
	}
	for _, w := range d.Warnings {
		fmt.Fprintln(stderr, "warning:", w)
	}
}

// runDir is the folder of the run, nil if none is asked for.
func runDir(o *options, t *train.Trainer) (*train.Dir, error) {
	switch {
	case o.out == "":
		return nil, nil
	case o.resume:
		dir, err := train.OpenDir(o.out, &settings{})
		if err != nil {
			return nil, err
		}
		return dir, dir.Restore(t)
	}
	o.Config = t.Config // with the names as they are written
	return train.CreateDir(o.out, o.settings)
}
