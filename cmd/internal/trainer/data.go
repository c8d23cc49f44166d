package trainer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/input"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

// open gives the data that the options name, without unlabelled documents.
func open(ctx context.Context, o *options, stderr io.Writer) (*datasets.Splits, error) {
	if o.Data == "" {
		// As large as training on it ends within a minute.
		return datasets.Synthetic(datasets.SyntheticOptions{Train: 100, Vali: 40, Test: 80, Seed: o.Seed}), nil
	}
	splits, err := input.Open(ctx, &o.Source, o.cache, datasets.Options{Seed: o.Seed, Folds: o.ofOneFile(), Unlabelled: "drop"}, stderr)
	if errors.Is(err, datasets.ErrFolds) {
		err = fmt.Errorf("%w; -folds all is a run for each", err)
	}
	return splits, err
}

// withFlags adds to an error the flags that help.
func withFlags(err error, o *options, s *datasets.Splits) error {
	if errors.Is(err, train.ErrNoGroups) {
		return fmt.Errorf("%w (-group-column, or -groups FILE, or a file named FILE.groups beside each FILE of data)", err)
	}
	return withGain(err, o, s)
}

// withGain adds to an error the flag that helps, where labels are too high for
// the gain.
func withGain(err error, o *options, s *datasets.Splits) error {
	if o.Gain != metrics.Exp2Gain.String() {
		return err
	}
	high := false
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		if d == nil {
			continue
		}
		if _, other := metrics.LinearGain.Gains(d.Labels); other != nil {
			return err // the other gain is no help
		}
		_, this := metrics.Exp2Gain.Gains(d.Labels)
		high = high || this != nil
	}
	if high {
		return fmt.Errorf("%w (-gain linear)", err)
	}
	return err
}
