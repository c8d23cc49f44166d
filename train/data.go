package train

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets"
)

// runData is what a run learns from and is measured on.
type runData struct {
	splits   datasets.Splits
	queries  []int     // of the training split, those that the loss learns from
	gains    []float32 // of the training split, by row
	features map[*datasets.Dataset]*datasets.Transformed

	prints *inputs // see fingerprints
}

// newRunData checks the splits and prepares gains and the queries to train on.
func newRunData(p *parsed, s *datasets.Splits) (*runData, error) {
	if s == nil {
		return nil, errors.New("train: no splits")
	}
	d := &runData{splits: datasets.Splits{Train: s.Train, Vali: s.Vali, Test: s.Test}}
	for _, split := range d.named() {
		if split.Data == nil && split.Name == "test" {
			if p.config.EvaluateTest {
				return nil, errors.New("train: evaluateTest: there is no test split")
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
			return nil, fmt.Errorf("train: no query of the %s split %s has a relevant document: there is nothing to learn or to measure", split.Name, split.Data.Name)
		case split.Name == "training" && p.loss.learnsLabelFree():
			d.queries = queriesWithDocuments(split.Data)
		case split.Name == "training":
			d.queries = relevant
		case split.Name == "test":
			d.splits.Test = split.Data.Select(relevant)
		}
	}
	p.loss.takeGrade(s.Train)
	var err error
	d.gains, err = p.loss.gains(s.Train)
	return d, err
}

// named are the splits with their names; that of the test split may be nil.
func (d *runData) named() []Split {
	return []Split{{"training", d.splits.Train}, {"validation", d.splits.Vali}, {"test", d.splits.Test}}
}

// check is an error for a split that cannot be used; else it gives the queries that have a
// relevant document.
func (d *runData) check(p *parsed, split Split) (relevant []int, err error) {
	first, of := d.splits.Train, split.Data
	if of == nil || of.Rows() == 0 {
		return nil, fmt.Errorf("train: the %s split is empty", split.Name)
	}
	if !slices.Equal(of.FeatureIDs, first.FeatureIDs) {
		return nil, fmt.Errorf("train: %s and %s have different feature ids", first.Name, of.Name)
	}
	if err := of.Validate(); err != nil {
		return nil, err
	}
	if err := cmp.Or(p.loss.checkGroups(of), p.evaluator.checkGroups(of), p.evaluator.takeGrade(of)); err != nil {
		return nil, err
	}
	if of == first {
		if err := p.loss.checkLogged(of); err != nil {
			return nil, err
		}
	}
	return p.loss.relevantQueries(of)
}

// transformBy makes the features of all splits what a transform gives.
func (d *runData) transformBy(t *datasets.Transform) {
	d.features = map[*datasets.Dataset]*datasets.Transformed{}
	for _, s := range d.named() {
		if s.Data != nil {
			d.features[s.Data] = datasets.NewTransformed(s.Data, t)
		}
	}
}

// close gives back the files of the features.
func (d *runData) close() {
	for _, x := range d.features {
		x.Close()
	}
}

// documents is how many documents a training query has.
func (d *runData) documents(query int) int {
	offsets := d.splits.Train.Offsets
	return offsets[query+1] - offsets[query]
}

// fingerprints are the inputs of a run that are data. To read all of the data takes time: it is
// done once.
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

// longest is the number of documents of the longest query.
func longest(d *datasets.Dataset) (documents int) {
	for q := range d.Queries() {
		documents = max(documents, d.Offsets[q+1]-d.Offsets[q])
	}
	return documents
}

// queriesWithDocuments are the queries of d that are not empty.
func queriesWithDocuments(d *datasets.Dataset) (queries []int) {
	for q := range d.Queries() {
		if d.Offsets[q+1] > d.Offsets[q] {
			queries = append(queries, q)
		}
	}
	return queries
}
