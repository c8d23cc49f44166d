package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/plrank/plrank/cmd/internal/command"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

// fitFolds trains a model on each fold, and prints means and spreads. If it is
// interrupted, they are those of the folds that were trained on to the end.
func fitFolds(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	folds, err := datasets.Folds(o.Data)
	if err != nil {
		return err
	}
	if len(folds) == 0 {
		return fmt.Errorf("train: -folds all: %s holds no folders Fold1, Fold2, …", o.Data)
	}
	var dir *train.Dir // of all folds
	if o.resume {
		if dir, err = train.OpenDir(o.out, &settings{}); err != nil {
			return err
		}
	}
	var done []int
	var reports []*train.Report
	interrupted := false
	for _, fold := range folds {
		fmt.Fprintf(stderr, "fold %d\n", fold)
		j, err := prepare(ofFold(o, fold), stderr)
		if err != nil {
			return err
		}
		if o.out != "" && dir == nil { // not before the data have turned out to be good
			if dir, err = train.CreateDir(o.out, o.settings); err != nil {
				return err
			}
		}
		report, err := j.run(ctx, io.Discard, stderr)
		if interrupted = errors.Is(err, command.ErrInterrupted); interrupted {
			if len(done) == 0 {
				printReport(stdout, report)
			}
			break
		}
		if err != nil {
			return err
		}
		done, reports = append(done, fold), append(reports, report)
	}
	if len(done) > 0 {
		r := train.SumUp(done, reports)
		printFolds(stdout, r)
		if dir != nil {
			if err := dir.FinishFolds(r, interrupted); err != nil {
				return err
			}
			fmt.Fprintf(stderr, "written to %s\n", o.out)
		}
	}
	if interrupted {
		fmt.Fprintf(stderr, "interrupted: %d of %d folds are done\n", len(done), len(folds))
		return command.ErrInterrupted
	}
	return nil
}

// ofFold is the options of the run on one fold.
func ofFold(o *options, fold int) *options {
	one := *o
	one.Folds, one.Fold = "", fold
	if o.out != "" {
		one.out = filepath.Join(o.out, fmt.Sprintf("fold%d", fold))
		_, err := os.Stat(one.out)
		one.resume = o.resume && err == nil // else it had not begun
	}
	return &one
}
