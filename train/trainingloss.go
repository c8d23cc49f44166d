package train

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/train/internal/graph"
)

// ErrNoGroups is returned by [New] if a loss or a measure compares groups of documents and the data have none.
var ErrNoGroups = errors.New("the documents have no groups, see datasets.ReadOptions")

// ErrNoIntents is returned by [New] if a loss or a measure goes by the intents of queries and the data have none.
var ErrNoIntents = errors.New("the documents have no intents, see datasets.ReadOptions (-intents COLUMNS, or -subtopics FILE)")

// A trainingLoss is what is learned: a loss, with the gains and the discounts that it goes by.
type trainingLoss struct {
	settings  Objective // with the names as they are written
	seed      uint64
	compute   losses.Func
	terms     []losses.Term // nil: it is Custom.Loss
	labelFree bool          // which learns from queries without a relevant document
	gain      metrics.Gain
	discounts metrics.DiscountedGain
	grade     float64 // the highest that it goes by
}

// newTrainingLoss looks up the names of the objective.
func newTrainingLoss(c Config, parts Custom) (*trainingLoss, error) {
	l := &trainingLoss{settings: c.Objective, seed: c.Seed, compute: parts.Loss, labelFree: parts.LabelFree}
	var err error
	if l.compute == nil {
		if l.compute, err = losses.Parse(c.Loss); err != nil {
			return nil, err
		}
		if l.terms, err = losses.Terms(c.Loss); err != nil {
			return nil, err
		}
	}
	if l.gain, err = metrics.ParseGain(c.Gain); err != nil {
		return nil, err
	}
	if l.discounts, err = metrics.ParseDiscounts(c.Discounts, c.Cutoff.Cutoff()); err != nil {
		return nil, err
	}
	if c.NormalizeGains { // by the ideal value: the documents of the highest gains must come first in it
		if err := l.discounts.CheckNorm(); err != nil {
			return nil, fmt.Errorf("train: discounts %s, %w", c.Discounts, err)
		}
	}
	return l, nil
}

// learnsLabelFree reports whether the loss learns from queries without a relevant document.
func (l *trainingLoss) learnsLabelFree() bool {
	targets := l.terms != nil && len(l.settings.AtLeast) > 0
	return targets || l.labelFree || slices.ContainsFunc(l.terms, func(t losses.Term) bool { return t.LabelFree })
}

// needsNoLabels reports whether the loss can learn where no query at all has a relevant
// document: one of fairness can, but not one by labels, which are then all the same.
func (l *trainingLoss) needsNoLabels() bool {
	return l.labelFree || slices.ContainsFunc(l.terms, func(t losses.Term) bool { return t.LabelFree && t.Measure != "" })
}

// samples reports whether the loss draws rankings or noise; Custom.Loss may.
func (l *trainingLoss) samples() bool {
	return l.terms == nil || slices.ContainsFunc(l.terms, func(t losses.Term) bool { return t.Sampled })
}

// rankings is how many the loss draws of a query at most.
func (l *trainingLoss) rankings() int {
	n := 0
	if l.samples() {
		n = l.settings.Samples.most()
	}
	if slices.ContainsFunc(l.terms, func(t losses.Term) bool { return t.Sampled && t.Measure != "" }) {
		n += graph.ExposureSamples
	}
	return n
}

// takeGrade sets the highest grade that the loss goes by: Config.HighestGrade, or else the highest label of the training
// split, and of no other data, which must not change what is learned. Without labels above 0 it is 1, because 0 means
// unset to losses.
func (l *trainingLoss) takeGrade(d *datasets.Dataset) {
	l.grade = cmp.Or(l.settings.HighestGrade, d.HighestLabel(), 1)
}

// checkLogged returns an error if the loss goes by what a log has and d lacks.
func (l *trainingLoss) checkLogged(d *datasets.Dataset) error {
	for _, t := range l.terms {
		switch {
		case t.Logged && d.Logged == nil:
			return fmt.Errorf("train: %s: the loss %s goes by the exposure of documents in a log, which these data do not have: clicks.Gains "+
				"gives it, by an estimator that needs it", d.Name, t.Loss)
		case t.LoggedScores && d.LoggedScores == nil:
			return fmt.Errorf("train: %s: the loss %s goes by the scores of the policy of a log, which these data do not have: clicks.Gains "+
				"gives them, if they were logged", d.Name, t.Loss)
		}
	}
	return nil
}

// checkSizes returns an error if d has a query of more documents than the loss takes.
func (l *trainingLoss) checkSizes(d *datasets.Dataset) error {
	for _, t := range l.terms {
		for q := range d.Queries() {
			if n := d.Offsets[q+1] - d.Offsets[q]; t.MostDocuments > 0 && n > t.MostDocuments {
				return fmt.Errorf("train: %s: query %s has %d documents, and the loss %s, which has a matrix of all pairs of a query, takes %d at "+
					"most: use another loss, such as pirank or approxndcg", d.Name, d.QueryIDs[q], n, t.Loss, t.MostDocuments)
			}
		}
	}
	return nil
}

// objective returns what graphs compute for queries of d, with that many ranks.
func (l *trainingLoss) objective(d *datasets.Dataset, cutoff int) *graph.Objective {
	return &graph.Objective{
		Loss: l.compute,
		Settings: losses.Batch{
			Sampler:      ops.NewSampler(l.settings.Samples.most(), cutoff, l.seed),
			Exposure:     ops.NewSampler(graph.ExposureSamples, cutoff, ^l.seed),
			Discounts:    l.discounts.Discounts[:cutoff],
			HighestGrade: l.grade,
		},
		Data: d,
	}
}

// words returns what [Trainer.Objective] does.
func (l *trainingLoss) words() string {
	samples := ""
	if l.samples() {
		samples = fmt.Sprintf("N = %v, ", l.settings.Samples)
	}
	return fmt.Sprintf("%s with %sK = %v", l.settings.Loss, samples, l.settings.Cutoff)
}
