package train

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/transforms"
)

// A Split holds documents, and their name in a report.
type Split struct {
	Name string
	Data *datasets.Dataset
}

// runData holds the splits of a run, prepared for training and measuring.
type runData struct {
	batches.Data
	splits   datasets.Splits
	features map[*datasets.Dataset]*datasets.Transformed

	learned []int   // products of vectors that a network learns, by position
	prints  *inputs // see fingerprints
}

// newRunData checks the splits and prepares gains and the queries to train on.
func newRunData(p *parsed, s *datasets.Splits) (*runData, error) {
	if s == nil {
		return nil, errors.New("train: no splits")
	}
	d := &runData{Data: batches.Data{Train: s.Train}, splits: datasets.Splits{Train: s.Train, Vali: s.Vali, Test: s.Test}}
	for _, split := range d.named() {
		if split.Data == nil && split.Name == "test" {
			if p.config.EvaluateTest {
				return nil, errors.New("train: evaluateTest: no test split")
			}
			continue
		}
		relevant, err := d.check(p, split)
		if err != nil {
			return nil, err
		}
		switch {
		case split.Name == "test" && !p.config.DropLabelFreeTest:
		case len(relevant) == 0 && !(p.loss.needsNoLabels() && split.Name != "test"):
			threshold := ""
			if slices.ContainsFunc(split.Data.Labels, fractional) { // the gain is binary
				threshold = ", of label 1 or more"
			}
			return nil, fmt.Errorf("train: no query of the %s split %s has a relevant document%s: there is nothing to learn or to measure",
				split.Name, split.Data.Name, threshold)
		case split.Name == "training" && p.loss.learnsLabelFree():
			d.Queries = queriesWhere(s.Train, func(from, to int) bool { return from < to })
		case split.Name == "training":
			d.Queries = relevant
		case split.Name == "test":
			d.splits.Test = split.Data.Select(relevant)
		}
	}
	if s.Vali.Gains != nil && p.evaluator.metric.name != LossMetric {
		return nil, fmt.Errorf("train: the validation split %s has gains from clicks, and no labels for %s: want -metric %s, or labelled "+
			"data for validation by -vali", s.Vali.Name, p.evaluator.metric.name, LossMetric)
	}
	p.loss.takeGrade(s.Train)
	var err error
	d.Gains, err = p.loss.gains(s.Train)
	if p.evaluator.metric.name == LossMetric {
		err = cmp.Or(err, p.loss.checkSizes(s.Vali))
	}
	return d, cmp.Or(p.loss.checkLogged(s.Train), p.loss.checkSizes(s.Train), err)
}

// named returns the splits with their names; the test split may be nil.
func (d *runData) named() []Split {
	return []Split{{"training", d.splits.Train}, {"validation", d.splits.Vali}, {"test", d.splits.Test}}
}

// check returns the queries of a split that have a relevant document, and an error if the split cannot be used.
func (d *runData) check(p *parsed, split Split) (relevant []int, err error) {
	first, data := d.splits.Train, split.Data
	if data == nil || data.Rows() == 0 {
		return nil, fmt.Errorf("train: the %s split is empty", split.Name)
	}
	if err := names.CheckFeatures(data.Name, featuresOf(data), first.Name, featuresOf(first)); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if has, lacks := first, data; (has.BaseScores == nil) != (lacks.BaseScores == nil) {
		if has.BaseScores == nil {
			has, lacks = lacks, has
		}
		return nil, fmt.Errorf("train: %s has base scores, but %s has none: want them for all splits, in a column or in a file FILE.init "+
			"next to each FILE, or for none", has.Name, lacks.Name)
	}
	if err := p.checkData(data); err != nil {
		return nil, err
	}
	return p.loss.relevantQueries(data)
}

func featuresOf(d *datasets.Dataset) names.Features {
	return names.Features{IDs: d.FeatureIDs, Names: d.FeatureNames, Levels: d.Levels}
}

// transformBy makes the features of all splits what a transform gives.
func (d *runData) transformBy(t *transforms.Transform) {
	d.features = map[*datasets.Dataset]*datasets.Transformed{}
	for _, s := range d.named() {
		if s.Data != nil {
			d.features[s.Data] = datasets.NewTransformed(s.Data, t)
		}
	}
	d.Features = d.features[d.Train]
}

// close gives back the files of the features.
func (d *runData) close() {
	for _, x := range d.features {
		x.Close()
	}
}

// fingerprints returns the inputs of a run that are data. As all of the data are read, it is done once.
func (d *runData) fingerprints() inputs {
	if d.prints == nil {
		d.prints = &inputs{Train: d.splits.Train.Fingerprint(), Vali: d.splits.Vali.Fingerprint()}
		if d.splits.Test != nil {
			test := d.splits.Test.Fingerprint()
			d.prints.Test = &test
		}
	}
	return *d.prints
}

// seenQueries returns the queries of the training split and of the initial model, for model files, and warns of queries that
// other splits share.
func seenQueries(s datasets.Splits, initial *ranker.Model) (seen ranker.QueryDigests, warnings []string) {
	warn := func(d *datasets.Dataset, whose string, seen ranker.QueryDigests) {
		if d == nil {
			return
		}
		if n := d.CountSeen(seen.Count); n > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %d of %d queries have the same documents as %s: metrics on them say little about new "+
				"queries",
				d.Name, n, d.Queries(), whose))
		}
	}
	queries := s.Train.TrainingDigests()
	train := ranker.NewQueryDigests(queries...)
	warn(s.Vali, "queries of the training split", train)
	warn(s.Test, "queries of the training split", train)
	warn(s.Test, "queries of the validation split", ranker.NewQueryDigests(s.Vali.TrainingDigests()...))
	if initial != nil {
		warn(s.Vali, "training queries of the initial model", initial.File().TrainingQueries)
		warn(s.Test, "training queries of the initial model", initial.File().TrainingQueries)
		train = ranker.NewQueryDigests(append(queries, initial.File().TrainingQueries...)...)
	}
	return train, warnings
}

// rareValues are warnings of categorical features that have more values than a model tells apart.
func rareValues(d *datasets.Dataset, t *transforms.Transform) (warnings []string) {
	for _, c := range t.Categories {
		if c.Rare > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: the categorical feature %s: the most frequent %d values are told apart, and %d rarer "+
				"ones count as unseen", d.Name, d.FeatureName(c.Column), len(c.Values), c.Rare))
		}
	}
	return warnings
}

// unusedFeatures is a warning of the features that a transform leaves out; none if it uses all.
func unusedFeatures(d *datasets.Dataset, t *transforms.Transform, initial *ranker.Model) []string {
	used := t.Used()
	var names []string
	for c := range d.Width() {
		if _, found := slices.BinarySearch(used, c); !found {
			names = append(names, d.FeatureName(c))
		}
	}
	if names == nil {
		return nil
	}
	why := "are constant in the training data, and left out"
	if initial != nil {
		why = "are left out, as by the initial model"
	}
	return []string{fmt.Sprintf("%s: %d of the %d features %s: %s", d.Name, len(names), d.Width(), why, text.List(names))}
}

// inputs are what a run that is resumed, and every rank, must have besides the configuration.
type inputs struct {
	Train     datasets.Fingerprint  `json:"train"`
	Vali      datasets.Fingerprint  `json:"vali"`
	Test      *datasets.Fingerprint `json:"test"`              // null: none
	Transform string                `json:"transform"`         // hash
	Model     string                `json:"model"`             // kind, settings and a hash of the arrays
	Initial   string                `json:"initial,omitempty"` // digest of the initial model, of ranks alone: a copy may be of a newer version
	Metrics   []string              `json:"metrics,omitempty"` // Custom.Metrics
	Hooks     []string              `json:"hooks,omitempty"`   // types of Custom.Hooks
}

// differences describes what differs from other inputs, after a word for where or when these are; "": nothing.
func (in inputs) differences(other inputs, word string) string {
	var list []string
	split := func(name string, a, b datasets.Fingerprint) {
		if d := a.Differences(b); d != "" {
			list = append(list, d+" of the "+name+" split")
		}
	}
	split("training", in.Train, other.Train)
	split("validation", in.Vali, other.Vali)
	switch {
	case in.Test != nil && other.Test != nil:
		split("test", *in.Test, *other.Test)
	case in.Test != nil:
		list = append(list, "the test split, which there was none of")
	case other.Test != nil:
		list = append(list, "the test split, which is missing now")
	}
	if list == nil && in.Transform != other.Transform { // it follows from the data
		list = append(list, "the transform of the features")
	}
	for _, part := range []struct{ name, is, was string }{
		{"the model", in.Model, other.Model},
		{"the initial model", in.Initial, other.Initial},
		{"the metrics", fmt.Sprintf("%q", in.Metrics), fmt.Sprintf("%q", other.Metrics)},
		{"the hooks", fmt.Sprintf("%q", in.Hooks), fmt.Sprintf("%q", other.Hooks)},
	} {
		if part.is != part.was {
			list = append(list, fmt.Sprintf("%s (%s, %s %s)", part.name, part.is, word, part.was))
		}
	}
	return strings.Join(list, "; ")
}

// checkRanks is collective. It returns an error if a rank has another configuration or other inputs than rank 0.
func (t *Trainer) checkRanks() error {
	g, initial, word := t.parsed.group, t.parsed.parts.Initial, "on rank 0"
	if g.Size() == 1 {
		return nil
	}
	type task struct {
		Config Config
		Inputs *inputs
	}
	in, err := t.inputs()
	if err == nil && initial != nil {
		in.Initial = initial.Digest()
	}
	if err := mpi.Agree(g, err); err != nil {
		return err
	}
	written, err := json.Marshal(task{t.Config, in})
	if err := mpi.Agree(g, err); err != nil {
		return err
	}
	var first task
	if err = json.Unmarshal(mpi.FromFirst(g, written), &first); err == nil {
		list := in.differences(*first.Inputs, word) + "; " + configDifferences(first.Config, t.Config, word)
		if list = strings.Trim(list, "; "); list != "" {
			err = fmt.Errorf("train: differs from rank 0 by %s: all processes must use the same configuration and data", list)
		}
	}
	return mpi.Agree(g, err)
}
