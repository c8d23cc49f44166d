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

// ErrNoGroups is the error of [New] for a loss or a measure that compares groups of
// documents, and data that have none.
var ErrNoGroups = errors.New("the documents have no groups, see datasets.ReadOptions")

// A trainingLoss is what is learned: a loss, with the gains and the discounts that it goes by.
type trainingLoss struct {
	settings  Objective // with the names as they are written
	seed      uint64
	compute   losses.Func
	terms     []losses.Term // nil: it is Parts.Loss
	labelFree bool          // which learns from queries without a relevant document
	gain      metrics.Gain
	discounts metrics.DiscountedGain
	grade     float64 // the highest that it goes by
}

// newTrainingLoss looks up the names of the objective.
func newTrainingLoss(c Config, parts Parts) (*trainingLoss, error) {
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

// learnsLabelFree tells whether the loss learns from queries without a relevant document.
func (l *trainingLoss) learnsLabelFree() bool {
	return l.labelFree || slices.ContainsFunc(l.terms, func(t losses.Term) bool { return t.LabelFree })
}

// needsNoLabels tells whether the loss can learn where no query at all has a relevant
// document: one of fairness can, but not one by labels, which are then all the same.
func (l *trainingLoss) needsNoLabels() bool {
	return l.labelFree || slices.ContainsFunc(l.terms, func(t losses.Term) bool { return t.LabelFree && t.Measure != "" })
}

// samples tells whether the loss draws rankings or noise; Parts.Loss may.
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

// takeGrade makes the highest grade that the loss goes by that of the training split, where none
// is set: nothing else may change what is learned. Where no label is above 0 it is 1, for to
// losses 0 stands for the usual one.
func (l *trainingLoss) takeGrade(d *datasets.Dataset) {
	if l.grade = cmp.Or(l.settings.HighestGrade, float64(slices.Max(d.Labels))); l.grade <= 0 {
		l.grade = 1
	}
}

// checkLogged is an error where the loss goes by what a log has, and d lacks it.
func (l *trainingLoss) checkLogged(d *datasets.Dataset) error {
	for _, t := range l.terms {
		switch {
		case t.Logged && d.Logged == nil:
			return fmt.Errorf("train: %s: the loss %s goes by the exposure of documents in a log, which these data do not have: clicks.Gains gives it, by an estimator that needs it", d.Name, t.Loss)
		case t.LoggedScores && d.LoggedScores == nil:
			return fmt.Errorf("train: %s: the loss %s goes by the scores of the policy of a log, which these data do not have: clicks.Gains gives them, if they were logged", d.Name, t.Loss)
		}
	}
	return nil
}

// checkSizes returns an error if d has a query of more documents than the loss takes.
func (l *trainingLoss) checkSizes(d *datasets.Dataset) error {
	for _, t := range l.terms {
		for q := range d.Queries() {
			if n := d.Offsets[q+1] - d.Offsets[q]; t.MostDocuments > 0 && n > t.MostDocuments {
				return fmt.Errorf("train: %s: query %s has %d documents, and the loss %s, which has a matrix of all pairs of a query, takes %d at most: use another loss, such as pirank or approxndcg", d.Name, d.QueryIDs[q], n, t.Loss, t.MostDocuments)
			}
		}
	}
	return nil
}

// rawGains are those of all documents of d, by labels unless d has gains; an error says where the
// label is that has none.
func (l *trainingLoss) rawGains(d *datasets.Dataset) (gains []float64, err error) {
	if d.Gains != nil {
		return d.Gains, nil
	}
	gains = make([]float64, d.Rows())
	for row, label := range d.Labels {
		if gains[row], err = l.gain.Of(label); err != nil {
			return nil, fmt.Errorf("train: %s: %w", d.Where(row), err)
		}
	}
	return gains, nil
}

// gains are those of all documents of d as the loss has them.
func (l *trainingLoss) gains(d *datasets.Dataset) ([]float32, error) {
	raw, err := l.rawGains(d)
	if err != nil {
		return nil, err
	}
	gains := make([]float32, len(raw))
	for q := range d.Queries() {
		from, to, norm := d.Offsets[q], d.Offsets[q+1], 1.0
		if l.settings.NormalizeGains {
			if best := l.discounts.Norm(raw[from:to]); best > 0 {
				norm = best
			}
		}
		for i := from; i < to; i++ {
			gains[i] = float32(raw[i] / norm)
		}
	}
	return gains, nil
}

// relevantQueries are the queries of d with a document whose gain is not 0: one above 0, or if
// gains were estimated from clicks, one of any sign. Labels that have no gain are an error.
func (l *trainingLoss) relevantQueries(d *datasets.Dataset) ([]int, error) {
	gains, err := l.rawGains(d)
	if err != nil {
		return nil, err
	}
	relevant := func(gain float64) bool { return gain != 0 }
	return queriesWhere(d, func(from, to int) bool { return slices.ContainsFunc(gains[from:to], relevant) }), nil
}

// queriesWhere are the queries of d whose rows are as wanted.
func queriesWhere(d *datasets.Dataset, wanted func(from, to int) bool) (queries []int) {
	for q := range d.Queries() {
		if wanted(d.Offsets[q], d.Offsets[q+1]) {
			queries = append(queries, q)
		}
	}
	return queries
}

// objective is what graphs compute for queries of d, with so many ranks.
func (l *trainingLoss) objective(d *datasets.Dataset, cutoff int) *graph.Objective {
	return &graph.Objective{
		Loss: l.compute,
		Settings: losses.Batch{
			Sampler:      ops.NewSampler(l.settings.Samples.most(), cutoff, l.seed),
			Exposure:     ops.NewSampler(graph.ExposureSamples, cutoff, ^l.seed),
			Discounts:    l.discounts.Discounts[:cutoff],
			HighestGrade: l.grade,
		},
		Groups:          d.Groups != nil,
		Logged:          d.Logged != nil,
		LoggedScores:    d.LoggedScores != nil,
		DocumentWeights: d.Weights != nil,
		QueryWeights:    d.QueryWeights != nil,
		BaseScores:      d.BaseScores != nil,
	}
}

// words are those of [Trainer.Objective].
func (l *trainingLoss) words() string {
	samples := ""
	if l.samples() {
		samples = fmt.Sprintf("N = %v, ", l.settings.Samples)
	}
	return fmt.Sprintf("%s with %sK = %v", l.settings.Loss, samples, l.settings.Cutoff)
}
