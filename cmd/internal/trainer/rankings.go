package trainer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/worth"
)

// checkRankings reports flags that make no sense for observed rankings of items, and takes the settings of their likelihood.
func (o *options) checkRankings() error {
	if o.Items == "" {
		return nil
	}
	if o.Clicks != "" {
		return errors.New("-items and -clicks exclude each other")
	}
	if o.Data == "" || o.Synthetic() {
		return errors.New("-items needs -data, the file of rankings")
	}
	for _, name := range append(o.FileFlags().Names(), "fold", "folds") {
		if slices.Contains(o.given, name) {
			return fmt.Errorf("-%s has no meaning with -items", name)
		}
	}
	if !slices.Contains(o.given, "loss") && o.config == "" && !o.resume {
		o.Loss = "partial-listmle"
		if !slices.Contains(o.given, "metric") {
			o.Metric = train.LossMetric
		}
		o.WeightedMetrics = true
		o.given = append(o.given, "loss", "metric", "weighted-metrics") // no recipe changes them
	}
	return nil
}

// openRankings returns observed rankings as queries, a fifth of them held out if there is no -vali.
func openRankings(ctx context.Context, o *options, stderr io.Writer) (*datasets.Splits, error) {
	items, err := worth.ReadFeatures(o.Items)
	if err != nil {
		return nil, err
	}
	open := func(path string) (*datasets.Dataset, error) {
		if path == "" {
			return nil, nil
		}
		r, err := cli.Await(ctx, func() (*worth.Observations, error) {
			return worth.ReadFile(path, worth.ReadOptions{Items: items.Items})
		})
		if err != nil {
			return nil, err
		}
		d, err := items.Dataset(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		d.Name = path
		return d, nil
	}
	s := &datasets.Splits{}
	for _, each := range []struct {
		split **datasets.Dataset
		path  string
	}{{&s.Train, o.Data}, {&s.Vali, o.Vali}, {&s.Test, o.Test}} {
		if *each.split, err = open(each.path); err != nil {
			return nil, err
		}
	}
	command.Warn(stderr, s.Warnings()...)
	if s.Vali == nil {
		n := s.Train.Queries()
		if n < 2 {
			return nil, fmt.Errorf("%s: one ranking cannot be split into training and validation: please name a file by -vali", o.Data)
		}
		held := max(1, n/5)
		order := rand.New(rand.NewPCG(o.Seed, 0x686f6c64)).Perm(n)
		slices.Sort(order[:held])
		slices.Sort(order[held:])
		s.Train, s.Vali = s.Train.Select(order[held:]), s.Train.Select(order[:held])
		s.Vali.Name += fmt.Sprintf(" (%d rankings held out)", held)
	}
	return s, nil
}
