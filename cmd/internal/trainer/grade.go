package trainer

import (
	"context"
	"io"
	"slices"

	"github.com/plrank/plrank/datasets"
)

// shareGrade gives all folds the highest grade of all their data, where one would have another
// by itself. A run that goes on has one already, or is of an older version, in which each fold
// had its own.
func shareGrade(ctx context.Context, o *options, folds []int) error {
	if o.resume || o.HighestGrade != 0 {
		return nil
	}
	var grades []float64 // of the training split of every fold, and of all splits
	for _, fold := range folds {
		splits, err := inTurn(o.processes, func() (*datasets.Splits, error) {
			return open(ctx, ofFold(o, fold), io.Discard)
		})
		if err != nil {
			return err
		}
		training := highestLabel(splits.Train)
		grades = append(grades, training, max(training, highestLabel(splits.Vali), highestLabel(splits.Test)))
	}
	if highest := slices.Max(grades); highest != slices.Min(grades) {
		o.HighestGrade = highest
	}
	return nil
}

// highestLabel is that of d, 0 where d is nil or has none above it.
func highestLabel(d *datasets.Dataset) float64 {
	highest := float32(0)
	if d != nil {
		for _, label := range d.Labels {
			highest = max(highest, label)
		}
	}
	return float64(highest)
}
