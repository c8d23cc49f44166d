package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
)

// An evaluator measures scores.
type evaluator struct {
	settings   Evaluation
	seed       uint64
	highest    float64   // Config.HighestGrade
	metric     criterion // of validation
	measures   []metrics.Measure
	convention metrics.LabelFree
	ties       metrics.Ties
	gain       metrics.Gain
	discounts  []float64
	grade      float64 // the highest that measures go by
	losses     *lossValues
}

// newEvaluator looks up the names of what is measured, beside a loss. The settings get the names
// as they are written.
func newEvaluator(c *Config, loss *trainingLoss, custom customMeasures) (*evaluator, error) {
	e := &evaluator{
		seed: c.Seed, highest: c.HighestGrade, gain: loss.gain, discounts: loss.discounts.Discounts,
		losses: &lossValues{loss: loss, by: map[*datasets.Dataset]*lossValue{}},
	}
	err := custom.check()
	if err != nil {
		return nil, err
	}
	if e.metric, err = parseCriterion(c.Metric, custom); err != nil {
		return nil, err
	}
	c.Metric = e.metric.String()
	if e.measures, err = reported(c, e.metric, loss, custom); err != nil {
		return nil, err
	}
	if e.convention, err = metrics.ParseLabelFree(c.Convention); err != nil {
		return nil, err
	}
	e.ties, err = metrics.ParseTies(c.Ties)
	e.settings = c.Evaluation
	return e, err
}

// checkGroups is an error where a measure compares groups of documents, and d has none.
func (e *evaluator) checkGroups(d *datasets.Dataset) error {
	if i := slices.IndexFunc(e.measures, metrics.Measure.NeedsGroups); i >= 0 && d.Groups == nil {
		return fmt.Errorf("train: %s: %s compares groups: %w", d.Name, e.measures[i], ErrNoGroups)
	}
	return nil
}

// takeGrade makes the highest grade that measures go by that of d, if it is higher, or that
// of Config.HighestGrade, which no label may be above.
func (e *evaluator) takeGrade(d *datasets.Dataset) error {
	highest := slices.Max(d.Labels)
	if e.highest == 0 {
		e.grade = max(e.grade, float64(highest))
		return nil
	}
	e.grade = e.highest
	if float64(highest) > e.highest {
		return fmt.Errorf("train: %s: label %v is above %v, the highest grade that is set", d.Where(slices.Index(d.Labels, highest)), highest, e.highest)
	}
	return nil
}

// reportedGrade is the highest grade that the reported measures go by, 0 where none does.
func (e *evaluator) reportedGrade() float64 {
	for _, m := range e.measures {
		if m.NeedsGrade() {
			return e.grade
		}
	}
	return 0
}

// names are those of all reported values: of the measures, and of the sum of some by which
// epochs are told apart.
func (e *evaluator) names() []string {
	var names []string
	for _, m := range e.measures {
		names = append(names, m.String())
	}
	if e.metric.sum {
		names = append(names, e.metric.name)
	}
	return names
}

// input is what measures of scores are made of.
func (e *evaluator) input(d *datasets.Dataset, scores []float64) metrics.Input {
	var weights []float32
	if e.settings.WeightedMetrics {
		weights = d.QueryWeights
	}
	return metrics.Input{
		Scores: scores, Labels: d.Labels, Offsets: d.Offsets, Groups: d.Groups, QueryWeights: weights,
		Gain: e.gain, HighestGrade: e.grade, Ties: e.ties, LabelFree: e.convention,
		Discounts: e.discounts,
		Policy:    metrics.Policy{Samples: e.settings.EvaluationSamples, Seed: e.seed},
	}
}

// bound is list with the loss made one of d.
func (e *evaluator) bound(d *datasets.Dataset, list []metrics.Measure) []metrics.Measure {
	i := slices.IndexFunc(list, isLoss)
	if i < 0 {
		return list
	}
	list = slices.Clone(list)
	list[i] = metrics.NewMeasure(LossMetric, true, func(in metrics.Input) ([]float64, error) { return e.losses.of(d, in) }).TieAware()
	return list
}

// mean is that of the estimates of a measure. Label-free queries that a loss learns nothing
// from are left out of its mean, as they are in training, whatever the convention.
func mean(m metrics.Measure, in metrics.Input, e metrics.Estimate) (metrics.Summary, error) {
	if isLoss(m) {
		in.LabelFree = metrics.LabelFreeSkip
	}
	return m.Mean(in, e)
}

// means are measures of scores.
func (e *evaluator) means(d *datasets.Dataset, scores []float64, list []metrics.Measure) ([]metrics.Summary, error) {
	in := e.input(d, scores)
	estimates, err := metrics.Estimates(in, e.bound(d, list))
	means := make([]metrics.Summary, len(estimates))
	for i := range estimates {
		if means[i], err = mean(list[i], in, estimates[i]); err != nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", d.Name, err)
	}
	return means, nil
}

// evaluate gives the values of measures of scores.
func (e *evaluator) evaluate(d *datasets.Dataset, scores []float64, list []metrics.Measure) (Values, error) {
	means, err := e.means(d, scores, list)
	if err != nil {
		return nil, err
	}
	return e.valuesOf(list, means), nil
}

func (e *evaluator) valuesOf(list []metrics.Measure, means []metrics.Summary) Values {
	values := Values{}
	for i, m := range list {
		values[m.String()] = Value(means[i].Mean)
	}
	return e.metric.add(values)
}

// stdErrs are the standard errors of the measures that are estimated from samples.
func (e *evaluator) stdErrs(d *datasets.Dataset, scores []float64) (Values, error) {
	sampled := slices.DeleteFunc(slices.Clone(e.measures), func(m metrics.Measure) bool { return !m.Sampled() })
	means, err := e.means(d, scores, sampled)
	if err != nil {
		return nil, err
	}
	return stdErrsOf(sampled, means), nil
}

// stdErrsOf are the standard errors of those measures that are estimated from samples.
func stdErrsOf(list []metrics.Measure, means []metrics.Summary) (values Values) {
	for i, m := range list {
		if !m.Sampled() {
			continue
		}
		if values == nil {
			values = Values{}
		}
		values[m.String()] = Value(means[i].StdErr)
	}
	return values
}

// randomOrder is the expectation over random rankings, which for this ranker is
// what both kinds of metrics measure: that of a ranking with all scores equal.
func (e *evaluator) randomOrder(d *datasets.Dataset) (Values, error) {
	random := *e
	random.ties = metrics.TiesRandom
	var list []metrics.Measure
	for _, m := range e.measures {
		list = append(list, m.Ranking())
	}
	values, err := random.evaluate(d, make([]float64, d.Rows()), list)
	if err != nil {
		return nil, err
	}
	for _, m := range e.measures {
		values[m.String()] = values[m.Ranking().String()]
	}
	return e.metric.add(values), nil
}

// ofRanking is the part of measures that needs no policy.
func (e *evaluator) ofRanking() []metrics.Measure {
	return slices.DeleteFunc(slices.Clone(e.measures), func(m metrics.Measure) bool { return m.OfPolicy() || isLoss(m) })
}

// checkValue is an error for a model whose validation value on d is not a finite number.
func (e *evaluator) checkValue(values Values, d *datasets.Dataset) error {
	if finite(float64(values[e.metric.String()])) {
		return nil
	}
	of := e.metric.terms[0].Measure // to blame
	for _, term := range e.metric.terms {
		if !finite(float64(values[term.Measure.String()])) {
			of = term.Measure
			break
		}
	}
	const want = "no epoch can be the best by it: want another metric"
	if value := float64(values[of.String()]); !math.IsNaN(value) {
		return fmt.Errorf("the validation value %s is %v on %s: %s", of, value, d.Name, want)
	}
	why := ""
	if relevant, err := e.losses.loss.relevantQueries(d); err == nil && len(relevant) == 0 {
		why = "none has a relevant document: "
	}
	if of.NeedsGroups() {
		why = "none has documents of two groups that count: "
	}
	return fmt.Errorf("the validation value %s is not defined on any of the %d queries of %s: %s%s", of, d.Queries(), d.Name, why, want)
}
