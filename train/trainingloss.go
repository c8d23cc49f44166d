package train

import (
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
	terms     []losses.Term // none of Parts.Loss
	custom    bool          // it is Parts.Loss
	labelFree bool          // and learns from queries without a relevant document
	gain      metrics.Gain
	discounts metrics.Objective
	grade     float64 // the highest that it goes by
}

// newTrainingLoss looks up the names of the objective.
func newTrainingLoss(c Config, parts Parts) (*trainingLoss, error) {
	l := &trainingLoss{settings: c.Objective, seed: c.Seed, compute: parts.Loss, custom: parts.Loss != nil, labelFree: parts.LabelFree}
	var err error
	if !l.custom {
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
	return l, l.parseDiscounts()
}

// parseDiscounts reads the discounts. Where gains are to be normalized by the ideal value, they
// must be such that the documents of the highest gains come first in it.
func (l *trainingLoss) parseDiscounts() (err error) {
	if l.discounts, err = metrics.ParseObjective(l.settings.Discounts, l.settings.Cutoff); err != nil || !l.settings.NormalizeGains {
		return err
	}
	if err := l.discounts.CheckNorm(); err != nil {
		return fmt.Errorf("train: discounts %s, %w", l.settings.Discounts, err)
	}
	return nil
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

// takeGrade makes the highest grade that the loss goes by that of the training split, where none
// is set: nothing else may change what is learned. Where no label is above 0 it is 1, for to
// losses 0 stands for the usual one.
func (l *trainingLoss) takeGrade(d *datasets.Dataset) {
	l.grade = l.settings.HighestGrade
	if l.grade != 0 {
		return
	}
	if l.grade = float64(slices.Max(d.Labels)); l.grade <= 0 {
		l.grade = 1
	}
}

// checkGroups is an error where the loss compares groups of documents, and d has none.
func (l *trainingLoss) checkGroups(d *datasets.Dataset) error {
	for _, t := range l.terms {
		if m, _ := metrics.ParseMeasure(t.Measure); m.NeedsGroups() && d.Groups == nil {
			return fmt.Errorf("train: %s: the loss %s compares groups: %w", d.Name, t.Loss, ErrNoGroups)
		}
	}
	return nil
}

// checkLogged is an error where the loss goes by the exposure in a log, and d has none.
func (l *trainingLoss) checkLogged(d *datasets.Dataset) error {
	i := slices.IndexFunc(l.terms, func(t losses.Term) bool { return t.Logged })
	if i >= 0 && d.Logged == nil {
		return fmt.Errorf("train: %s: the loss %s goes by the exposure of documents in a log, which these data do not have: see clicks.Gains", d.Name, l.terms[i].Loss)
	}
	return nil
}

// rawGains are those of all documents of d, by labels unless d has gains; an error says where the label is that has none.
func (l *trainingLoss) rawGains(d *datasets.Dataset) ([]float64, error) {
	if d.Gains != nil {
		return slices.Clone(d.Gains), nil
	}
	gains := make([]float64, d.Rows())
	for row, label := range d.Labels {
		var err error
		if gains[row], err = l.gain.Of(label); err != nil {
			return nil, fmt.Errorf("train: %s: %w", d.Where(row), err)
		}
	}
	return gains, nil
}

// gains are those of all documents of d as the loss has them.
func (l *trainingLoss) gains(d *datasets.Dataset) ([]float32, error) {
	gains, err := l.rawGains(d)
	if err != nil {
		return nil, err
	}
	if l.settings.NormalizeGains {
		for q := range d.Queries() {
			of := gains[d.Offsets[q]:d.Offsets[q+1]]
			if norm := l.discounts.Norm(of); norm > 0 {
				for i := range of {
					of[i] /= norm
				}
			}
		}
	}
	narrow := make([]float32, len(gains))
	for i, g := range gains {
		narrow[i] = float32(g)
	}
	return narrow, nil
}

// relevantQueries are the queries of d with a document whose gain is above 0.
// Labels that have no gain are an error.
func (l *trainingLoss) relevantQueries(d *datasets.Dataset) ([]int, error) {
	gains, err := l.rawGains(d)
	if err != nil {
		return nil, err
	}
	var queries []int
	for q := range d.Queries() {
		if slices.ContainsFunc(gains[d.Offsets[q]:d.Offsets[q+1]], func(g float64) bool { return g > 0 }) {
			queries = append(queries, q)
		}
	}
	return queries, nil
}

// objective is what graphs compute for queries of d, with so many ranks.
func (l *trainingLoss) objective(d *datasets.Dataset, cutoff int) *graph.Objective {
	return &graph.Objective{
		Loss:            l.compute,
		Sampler:         ops.NewSampler(l.settings.Samples.most(), cutoff, l.seed),
		Exposure:        ops.NewSampler(graph.ExposureSamples, cutoff, ^l.seed),
		Discounts:       l.discounts.Discounts[:cutoff],
		HighestGrade:    l.grade,
		Grouped:         d.Groups != nil,
		Logged:          d.Logged != nil,
		DocumentWeights: d.Weights != nil,
		QueryWeights:    d.QueryWeights != nil,
	}
}

// words say what is learned: "plrank-rb with N = 100, K = 10"; N only of a loss that samples, and
// of Parts.Loss, of which that is not known.
func (l *trainingLoss) words() string {
	if l.custom || slices.ContainsFunc(l.terms, func(of losses.Term) bool { return of.Sampled }) {
		return fmt.Sprintf("%s with N = %v, K = %d", l.settings.Loss, l.settings.Samples, l.settings.Cutoff)
	}
	return fmt.Sprintf("%s with K = %d", l.settings.Loss, l.settings.Cutoff)
}
