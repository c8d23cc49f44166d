package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

// open gives the data that the options name: of their features those that are wanted.
// What becomes of unlabelled documents: see datasets.Options.
func open(ctx context.Context, o *options, wanted datasets.ReadOptions, unlabelled string, stderr io.Writer) (*datasets.Splits, error) {
	if o.Data == "" {
		// As large as training on it ends within a minute.
		return datasets.Synthetic(datasets.SyntheticOptions{Train: 100, Vali: 40, Test: 80, Seed: o.Seed}), nil
	}
	splits, err := o.Open(ctx, datasets.Options{Read: wanted, Seed: o.Seed, Folds: o.ofOneFile(), Unlabelled: unlabelled, Cache: cacheFolder(o.cache)})
	if errors.Is(err, datasets.ErrFolds) {
		hint := "such as -fold 1"
		if !o.describe {
			hint += "; -folds all is a run for each"
		}
		return nil, fmt.Errorf("%w (%s)", err, hint)
	}
	if err != nil {
		return nil, err
	}
	limitGarbage()
	warn(splits.Warnings(), stderr)
	return splits, nil
}

// cacheFolder is the folder that a value of -cache stands for, "" if none. The
// default is not beside the data: what a user downloaded, or may only read, stays
// as it is.
func cacheFolder(value string) string {
	switch value {
	case noCache:
		return ""
	case userCache:
		folder, err := os.UserCacheDir()
		if err != nil {
			return "" // a user without a home
		}
		return filepath.Join(folder, "plrank")
	}
	return value
}

func warn(warnings []string, stderr io.Writer) {
	for _, w := range warnings {
		fmt.Fprintln(stderr, "warning:", command.Printable(w))
	}
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
