package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/rundir"
	"github.com/plrank/plrank/train"
)

// fitFolds trains a model on each fold, and prints means and spreads. If it is
// interrupted, they are those of the folds that were trained on to the end.
func fitFolds(ctx context.Context, o *options, folds []int, stdout, stderr io.Writer) error {
	dir, err := o.dir() // of all folds
	if err != nil {
		return err
	}
	if dir != nil {
		defer dir.Close()
	}
	if err := o.shareGrade(ctx, folds); err != nil {
		if dir != nil {
			dir.Abandon()
		}
		if errors.Is(err, context.Canceled) {
			fmt.Fprintf(stderr, "interrupted: none of %d folds is done\n", len(folds))
			return command.ErrInterrupted
		}
		return err
	}
	var done []int
	var reports []*train.Report
	interrupted := false
	for _, fold := range folds {
		fmt.Fprintf(stderr, "fold %d\n", fold)
		j, err := prepare(ctx, ofFold(o, fold), stderr)
		if err == nil && len(done) == 0 { // not before the data have turned out to be good
			o.Config, o.bySize = j.Config, j.bySize // all folds have the recipe of the first
			if dir != nil {
				err = dir.BeginFolds(o.settings)
			}
		}
		if err != nil && dir != nil {
			dir.Abandon()
		}
		if interrupted = errors.Is(err, context.Canceled); interrupted {
			break
		}
		if err != nil {
			return err
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
		r := rundir.SumUp(done, reports)
		if o.asJSON {
			err = json.NewEncoder(stdout).Encode(r)
		} else {
			printFolds(stdout, r)
		}
		if err != nil {
			return err
		}
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

// foldsOf are the numbers of the folds of the data.
func foldsOf(o *options) ([]int, error) {
	if n := o.ofOneFile(); n > 0 {
		var folds []int
		for i := range n {
			folds = append(folds, i+1)
		}
		return folds, nil
	}
	folds, err := datasets.Folds(o.Data)
	if err == nil && len(folds) == 0 {
		err = fmt.Errorf("train: -folds all: %s holds no folders Fold1, Fold2, …; -folds 5 makes folds of one file", o.Data)
	}
	return folds, err
}

// ofOneFile is the number of folds that one file is dealt to; 0: the data are of one
// fold, or have folders for theirs.
func (o *options) ofOneFile() int {
	n, _ := strconv.Atoi(o.Folds) // "" and allFolds are none
	return n
}

// ofFold is the options of the run on one fold.
func ofFold(o *options, fold int) *options {
	one := *o
	one.Fold = fold
	if o.Folds == allFolds {
		one.Folds = ""
	}
	if o.out != "" {
		one.out = filepath.Join(o.out, fmt.Sprintf("fold%d", fold))
		_, err := os.Stat(filepath.Join(one.out, rundir.SettingsFile))
		one.resume = o.resume && err == nil // else it had not begun
	}
	return &one
}
