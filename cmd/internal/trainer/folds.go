package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/train"
)

// fit trains a model, or one for each fold, and says how good it is.
func fit(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	folds, err := foldsOf(o)
	if err := mpi.Agree(o.processes, err); err != nil {
		return err
	}
	if err := mpi.Alike(o.processes, "folds", fmt.Sprint(folds)); err != nil {
		return err
	}
	if folds != nil {
		return fitFolds(ctx, o, folds, stdout, stderr)
	}
	j, err := prepare(ctx, o, stderr)
	if err != nil {
		return err
	}
	measured, err := j.run(ctx, stdout, stderr)
	if measured == nil {
		return err
	}
	return cmp.Or(o.print(stdout, measured, func() { cli.PrintReport(stdout, measured) }), err)
}

// foldsOf are the numbers of the folds that are trained on; none: it is a single run.
func foldsOf(o *options) ([]int, error) {
	if o.Folds == "" || o.Fold != 0 {
		return nil, nil
	}
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

// fitFolds trains a model on each fold, and prints means and spreads. If it is interrupted, they are of the folds that were trained on to
// the end; in the first fold, there is its report.
func fitFolds(ctx context.Context, o *options, folds []int, stdout, stderr io.Writer) error {
	dir, err := runDir(o) // of all folds
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := shareGrade(ctx, o, folds); err != nil {
		return err
	}
	var reports []*train.Report
	for _, fold := range folds {
		fmt.Fprintf(o.notes(stderr), "fold %d\n", fold)
		measured, err := fitFold(ctx, o, fold, len(reports) == 0, dir, stderr)
		if errors.Is(err, context.Canceled) || errors.Is(err, command.ErrInterrupted) {
			if reports == nil && measured != nil {
				cli.PrintReport(stdout, measured)
			}
			break
		}
		if err != nil {
			return err
		}
		reports = append(reports, measured)
	}
	interrupted := len(reports) < len(folds)
	if len(reports) > 0 {
		sum := cli.SumUpFolds(folds[:len(reports)], reports)
		if err := o.print(stdout, sum, func() { cli.PrintFolds(stdout, sum) }); err != nil {
			return err
		}
		if dir != nil {
			if err := dir.FinishFolds(sum, interrupted); err != nil {
				return err
			}
			fmt.Fprintf(o.notes(stderr), "written to %s\n", o.out)
		}
	}
	if interrupted {
		fmt.Fprintf(stderr, "interrupted: %d of %d folds are done\n", len(reports), len(folds))
		return command.ErrInterrupted
	}
	return nil
}

// fitFold trains a model on one fold. All folds have the recipe of the first.
func fitFold(ctx context.Context, o *options, fold int, first bool, dir *cli.RunDir, stderr io.Writer) (*train.Report, error) {
	j, err := prepare(ctx, ofFold(o, fold), stderr)
	if err != nil {
		return nil, err
	}
	if first {
		o.Recipe, o.Config, o.Models, o.bySize = j.Recipe, j.Config, j.Models, j.bySize
		if dir != nil {
			j.beginAbove = func() error { return dir.BeginSeveral(o.settings, cli.FoldsFile) }
		}
	}
	return j.run(ctx, io.Discard, stderr)
}

// foldFolder is the folder of the run on a fold.
func foldFolder(fold int) string { return fmt.Sprintf("fold%d", fold) }

// FoldsIn returns the folders of the folds that were trained on, where path is the folder above them.
func FoldsIn(path string) (folders []string, err error) {
	summaries, err := cli.ReadJSON[cli.FoldsSummary](filepath.Join(path, cli.FoldsFile))
	for _, summary := range summaries {
		for _, fold := range summary.Folds {
			folders = append(folders, filepath.Join(path, foldFolder(fold)))
		}
	}
	return folders, err
}

// ofFold is the options of the run on one fold.
func ofFold(o *options, fold int) *options {
	one := o.within(foldFolder(fold))
	one.Fold = fold
	if o.Folds == allFolds {
		one.Folds = ""
	}
	return one
}

// shareGrade gives all folds the highest grade of all their data, where one would have another
// by itself. A run that goes on has one already, or is of an older version, in which each fold
// had its own.
func shareGrade(ctx context.Context, o *options, folds []int) error {
	if o.resume || o.HighestGrade != 0 {
		return nil
	}
	var all grades
	for _, fold := range folds {
		splits, err := inTurn(o.processes, func() (*datasets.Splits, error) {
			return open(ctx, ofFold(o, fold), nil, io.Discard)
		})
		if err != nil {
			return err
		}
		all.add(splits)
	}
	o.HighestGrade = all.shared()
	return nil
}

// grades are the highest labels of the training split of every fold, and of all its splits.
type grades []float64

func (g *grades) add(s *datasets.Splits) {
	training := s.Train.HighestLabel()
	*g = append(*g, training, max(training, s.Vali.HighestLabel(), s.Test.HighestLabel()))
}

// shared is the highest, where a fold would have another by itself; else 0.
func (g grades) shared() float64 {
	if highest := slices.Max(g); highest != slices.Min(g) {
		return highest
	}
	return 0
}
