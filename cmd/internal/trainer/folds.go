package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/report"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/rundir"
	"github.com/plrank/plrank/train"
)

// fitFolds trains a model on each fold, and prints means and spreads. If it is
// interrupted, they are those of the folds that were trained on to the end.
func fitFolds(ctx context.Context, o *options, folds []int, stdout, stderr io.Writer) error {
	dir, err := runDir(o) // of all folds
	if err != nil {
		return err
	}
	if dir != nil {
		defer dir.Close()
	}
	if err := shareGrade(ctx, o, folds); err != nil {
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
		measured, err := j.run(ctx, io.Discard, stderr)
		if interrupted = errors.Is(err, command.ErrInterrupted); interrupted {
			if len(done) == 0 {
				report.Print(stdout, measured)
			}
			break
		}
		if err != nil {
			return err
		}
		done, reports = append(done, fold), append(reports, measured)
	}
	if len(done) > 0 {
		r := rundir.SumUp(done, reports)
		if o.asJSON {
			err = json.NewEncoder(stdout).Encode(r)
		} else {
			report.PrintFolds(stdout, r)
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
