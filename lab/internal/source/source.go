// Package source is where the laboratory takes its data from: the flags that say so, and the opening.
package source

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
)

// A Source is a collection on disk, or a synthetic one.
type Source struct {
	Data  string  `json:"data"` // a file, a folder, or synthetic:SHAPE or synthetic:SHAPE/TRUTH
	Vali  string  `json:"vali,omitempty"`
	Test  string  `json:"test,omitempty"`
	Fold  int     `json:"fold,omitempty"`  // of the folder of folds Data; 0: Data is none
	Scale float64 `json:"scale,omitempty"` // of a synthetic collection; 0: 0.005
}

const (
	syntheticPrefix = "synthetic:"
	defaultScale    = 0.005
)

// Flags are the names of the flags.
var Flags = []string{"data", "scale", "vali", "test", "fold"}

// Define defines the flags; their defaults are what s holds.
func (s *Source) Define(f *flag.FlagSet) {
	f.StringVar(
		&s.Data,
		"data",
		s.Data,
		"a `file`; a folder of train, vali and test files or of folds; or synthetic:SHAPE[/TRUTH], in the shape of "+
			strings.Join(datasets.SyntheticShapes(), ", ")+", labels by "+strings.Join(datasets.SyntheticTruths(), ", "),
	)
	f.Float64Var(
		&s.Scale,
		"scale",
		s.Scale,
		fmt.Sprintf("the `fraction` of the queries of the published collection that synthetic:SHAPE has; 0 stands for %v", defaultScale),
	)
	f.StringVar(
		&s.Vali,
		"vali",
		s.Vali,
		"the `file` of the validation split; without one, 20 % of the training queries are held out",
	)
	f.StringVar(&s.Test, "test", s.Test, "the `file` of the test split")
	f.IntVar(&s.Fold, "fold", s.Fold, "`number` of the fold to take, where -data is a folder of folds Fold1, Fold2, …")
}

// Check reports flags that make no sense together.
func (s *Source) Check() error {
	shape, truth, hasTruth := strings.Cut(strings.TrimPrefix(s.Data, syntheticPrefix), "/")
	switch {
	case s.Synthetic() && !slices.Contains(datasets.SyntheticShapes(), shape):
		return fmt.Errorf("-data %s: %s after %s", s.Data, names.Want(shape, datasets.SyntheticShapes()), syntheticPrefix)
	case s.Synthetic() && hasTruth && !slices.Contains(datasets.SyntheticTruths(), truth):
		return fmt.Errorf("-data %s: %s after %s%s/", s.Data, names.Want(truth, datasets.SyntheticTruths()), syntheticPrefix, shape)
	case s.Synthetic() && (s.Vali != "" || s.Test != "" || s.Fold != 0):
		return fmt.Errorf("%s is made with all its splits: -vali, -test and -fold have no meaning beside it", s.Data)
	case s.Scale != 0 && !s.Synthetic():
		return errors.New("-scale is for -data synthetic:SHAPE")
	case !(s.Scale >= 0 && s.Scale <= 1):
		return fmt.Errorf("-scale %v: want a fraction in (0, 1]", s.Scale)
	case s.Fold < 0:
		return fmt.Errorf("-fold %d: folds count from 1", s.Fold)
	}
	return nil
}

// Synthetic reports whether the collection is made, not read.
func (s *Source) Synthetic() bool { return strings.HasPrefix(s.Data, syntheticPrefix) }

// Fraction is how much the collection is of the whole: the scale of a synthetic one, 1 of others.
func (s *Source) Fraction() float64 {
	if s.Synthetic() {
		return cmp.Or(s.Scale, defaultScale)
	}
	return 1
}

// Open reads or makes the collection, until the context is done, and prints the warnings.
func (s *Source) Open(ctx context.Context, seed uint64, stderr io.Writer) (*datasets.Splits, error) {
	if shape, ok := strings.CutPrefix(s.Data, syntheticPrefix); ok {
		return datasets.SyntheticShape(shape, s.Fraction(), seed)
	}
	splits, err := datasets.Open(s.Data, datasets.Options{
		Read: datasets.ReadOptions{Context: ctx}, Vali: s.Vali, Test: s.Test, Fold: s.Fold, Seed: seed,
	})
	if errors.Is(err, datasets.ErrFolds) {
		return nil, fmt.Errorf("%w (such as -fold 1)", err)
	} else if err != nil {
		return nil, err
	}
	command.Warn(stderr, splits.Warnings()...)
	return splits, nil
}
