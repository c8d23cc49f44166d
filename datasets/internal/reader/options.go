package reader

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/intents"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/transforms"
)

// Options has the fields of datasets.ReadOptions, which documents them.
type Options struct {
	FeatureIDs                               []int
	FeatureNames                             []string
	Levels                                   [][]string
	NumberLevels                             []int
	OfModel                                  bool
	Features, Ignore, Categorical            []string
	Unasked                                  []string
	Duplicates                               string
	MinusOne                                 string
	LabelColumn, QueryColumn, DocumentColumn string
	WeightColumn                             string
	BaseColumn                               string
	Headerless                               bool
	Missing                                  []string
	GroupColumn                              string
	Intents                                  []string
	Subtopics                                string
	Labels                                   string
	Roles                                    map[string]string
	Schema                                   func(schema.Header) (schema.Columns, error) `json:"-"`
	Vectors                                  []transforms.Vector
	Products                                 []transforms.Product
	Context                                  context.Context `json:"-"`
}

// Check finds invalid values, and options that contradict each other.
func (o Options) Check() error {
	ids := text.CheckFeatureIDs(o.FeatureIDs)
	switch {
	case ids != nil:
		return fmt.Errorf("datasets: ReadOptions.FeatureIDs: %w", ids)
	case o.Duplicates != "" && o.Duplicates != "error" && o.Duplicates != "last":
		return fmt.Errorf("datasets: invalid ReadOptions.Duplicates %q: want error or last", o.Duplicates)
	case o.MinusOne != "" && o.MinusOne != "unlabelled" && o.MinusOne != "irrelevant":
		return fmt.Errorf("datasets: invalid ReadOptions.MinusOne %q: want unlabelled or irrelevant", o.MinusOne)
	case o.FeatureNames != nil && len(o.FeatureNames) != len(o.FeatureIDs):
		return fmt.Errorf("datasets: %d names for %d feature ids", len(o.FeatureNames), len(o.FeatureIDs))
	case o.Levels != nil && len(o.Levels) != len(o.FeatureIDs):
		return fmt.Errorf("datasets: levels of %d features for %d feature ids", len(o.Levels), len(o.FeatureIDs))
	case o.Labels != "" && o.Labels != NeededLabels && o.Labels != UnusedLabels:
		return fmt.Errorf("datasets: invalid ReadOptions.Labels %q: want needed or unused", o.Labels)
	case len(o.Intents) > intents.PerInt:
		return fmt.Errorf("datasets: %d columns of intents: want %d at most, or a file of ReadOptions.Subtopics, which may have more",
			len(o.Intents), intents.PerInt)
	case o.Intents != nil && o.Subtopics != "":
		return fmt.Errorf("datasets: ReadOptions.Intents and Subtopics %s: want intents in columns or in a file, not in both", o.Subtopics)
	}
	return nil
}

// Values of Options.Labels.
const (
	NeededLabels = "needed"
	UnusedLabels = "unused"
)

// NeedsLabels reports whether a table must have a column of labels.
func (o Options) NeedsLabels() bool {
	return o.Labels == NeededLabels || o.Labels == "" && o.FeatureIDs == nil
}

// Chosen returns the names, ids and patterns of all features that the options name.
func (o Options) Chosen() []string { return slices.Concat(o.Features, o.Ignore, o.Categorical) }

// says reports whether one of these words is the name, or a pattern that matches it.
func says(words []string, name string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		matches, err := path.Match(word, name)
		return word == name || matches && err == nil
	})
}

// checkChoice returns an error if Features or Ignore leave out a feature of the model.
func (o Options) checkChoice() error {
	if !o.OfModel {
		return nil
	}
	name := func(i int) string {
		if o.FeatureNames == nil {
			return strconv.Itoa(o.FeatureIDs[i])
		}
		return o.FeatureNames[i]
	}
	for _, word := range o.Ignore {
		if columns, err := Choose(word, o.FeatureIDs, o.FeatureNames); err == nil {
			return fmt.Errorf("-ignore %s: the model has the feature %s", word, name(columns[0]))
		}
	}
	chosen, err := Chosen(o.Features, o.FeatureIDs, o.FeatureNames)
	if err != nil {
		return fmt.Errorf("-features: the model has %w", err)
	}
	if i := slices.Index(chosen, false); i >= 0 && o.Features != nil {
		return fmt.Errorf("-features: the model has the feature %s, too: want all of its features, or no -features", name(i))
	}
	return nil
}

// Ctx returns o.Context, or a context that is never done.
func (o Options) Ctx() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// Stopped returns an error about the file if the context is done.
func (o Options) Stopped(path string) error {
	if err := o.Ctx().Err(); err != nil {
		return fmt.Errorf("datasets: %s: reading was stopped: %w", path, err)
	}
	return nil
}

// Wants reports whether a feature is to be read.
func (o Options) Wants(id int) bool { return o.FeatureIDs == nil || o.Lists(id) }

// Lists reports whether a feature is asked for by its id.
func (o Options) Lists(id int) bool {
	_, found := slices.BinarySearch(o.FeatureIDs, id)
	return found
}

// HasLevels reports whether the texts of a feature are given.
func (o Options) HasLevels(id int) bool {
	i, found := slices.BinarySearch(o.FeatureIDs, id)
	return found && o.Levels != nil && o.Levels[i] != nil
}
