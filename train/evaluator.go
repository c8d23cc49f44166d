package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// An evaluator measures scores and models.
type evaluator struct {
	settings Evaluation
	highest  float64   // Config.HighestGrade
	metric   criterion // of validation
	measures []metrics.Measure
	in       metrics.Queries // without data; its highest grade is the highest of all splits
	targets  []Target        // whose shares are among the measures
	losses   *lossValues
	group    mpi.Group
}

// newEvaluator looks up the names of what is measured of a loss. The settings get the names
// as they are written.
func newEvaluator(c *Config, loss *trainingLoss, custom customMeasures, group mpi.Group) (*evaluator, error) {
	if err := custom.check(); err != nil {
		return nil, err
	}
	metric, err := parseCriterion(c.Metric, custom)
	if err != nil {
		return nil, err
	}
	c.Metric = metric.name
	measures, err := reported(c, metric, loss, custom)
	if err != nil {
		return nil, err
	}
	targets, err := parseTargets(c.AtLeast)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		measures = append(measures, t.measure(nil))
	}
	labelFree, err := metrics.ParseLabelFree(c.LabelFree)
	if err != nil {
		return nil, err
	}
	ties, err := metrics.ParseTies(c.Ties)
	return &evaluator{
		settings: c.Evaluation, highest: c.HighestGrade, metric: metric, measures: measures, targets: targets, group: group,
		in:     metrics.Queries{Gain: loss.gain, Discounts: loss.discounts.Discounts, LabelFree: labelFree, Ties: ties},
		losses: &lossValues{loss: loss, by: map[*datasets.Dataset]*lossValue{}},
	}, err
}

// checkColumns returns an error if the loss or a measure goes by groups of documents, or by intents, and d has none.
func (e *evaluator) checkColumns(d *datasets.Dataset) error {
	if e.targets != nil && d.Groups == nil {
		return fmt.Errorf("train: %s: at least %g of exposure for %q: %w", d.Name, e.targets[0].Least, e.targets[0].Group, ErrNoGroups)
	}
	for _, c := range []struct {
		there  bool
		needed func(metrics.Measure) bool
		does   string
		err    error
		byTerm func(losses.Term) bool
	}{
		{d.Groups != nil, metrics.Measure.NeedsGroups, "compares groups", ErrNoGroups, func(t losses.Term) bool {
			m, _ := metrics.ParseMeasure(t.Measure)
			return m.NeedsGroups()
		}},
		{d.Intents != nil, metrics.Measure.NeedsIntents, "goes by intents", ErrNoIntents, func(t losses.Term) bool { return t.Intents }},
		{d.Groups != nil || d.Intents != nil, metrics.Measure.NeedsVectors, "compares documents by groups or intents", ErrNoGroups,
			func(t losses.Term) bool { return t.Vectors }},
	} {
		if c.there {
			continue
		}
		for _, t := range e.losses.loss.terms {
			if c.byTerm(t) {
				return fmt.Errorf("train: %s: the loss %s %s: %w", d.Name, t.Loss, c.does, c.err)
			}
		}
		if i := slices.IndexFunc(e.measures, c.needed); i >= 0 {
			return fmt.Errorf("train: %s: %s %s: %w", d.Name, e.measures[i], c.does, c.err)
		}
	}
	return nil
}

// takeGrade checks the highest label, and sets the highest grade that measures go by: Config.HighestGrade, which no label may
// exceed, or else the highest label of all splits until now.
func (e *evaluator) takeGrade(d *datasets.Dataset) error {
	highest := slices.Max(d.Labels)
	for _, m := range e.measures {
		if err := m.CheckLabel(max(0, highest)); err != nil { // data with gains may have no label
			return fmt.Errorf("train: %s: %w", d.Where(slices.Index(d.Labels, highest)), err)
		}
	}
	if e.highest == 0 {
		e.in.HighestGrade = max(e.in.HighestGrade, float64(highest))
		return nil
	}
	e.in.HighestGrade = e.highest
	if float64(highest) > e.highest {
		return fmt.Errorf("train: %s: label %v is above %v, the highest grade that is set", d.Where(slices.Index(d.Labels, highest)), highest,
			e.highest)
	}
	return nil
}

// takeRanks makes discounts for all documents of queries of d, where every rank counts.
func (e *evaluator) takeRanks(d *datasets.Dataset) {
	loss := e.losses.loss
	if ranks := longest(d); ranks > len(loss.discounts.Discounts) {
		loss.discounts = loss.discounts.Over(ranks)
		e.in.Discounts = loss.discounts.Discounts
	}
}

// names returns the names of all reported values: of the measures, and Config.Metric if it is a sum.
func (e *evaluator) names() []string {
	var names []string
	for _, m := range e.measures {
		names = append(names, m.String())
	}
	if e.metric.weights != nil {
		names = append(names, e.metric.name)
	}
	return names
}

// A measurement is the mean of a measure over queries, and the values that it is the mean of.
type measurement struct {
	mean     float64
	perQuery []float64 // NaN for a query that is left out
}

// means are measures of scores, by name. Each rank of the group measures the queries from begin[rank] to
// begin[rank+1]−1 and tells the others: all get the same numbers, whatever the number of ranks.
//
// Data with gains from clicks have no labels: only the loss and shares of exposure are.
func (e *evaluator) means(g mpi.Group, d *datasets.Dataset, scores []float64, list []metrics.Measure,
	begin []int) (map[string]measurement, error) {
	list = slices.Clone(list)
	if d.Gains != nil {
		list = slices.DeleteFunc(list, func(m metrics.Measure) bool { return !isLoss(m) && !isShare(m) })
	}
	for i, m := range list {
		list[i] = e.bound(d, m)
	}
	in := e.in
	in.Scores, in.Labels, in.Offsets, in.Groups, in.Intents, in.DocumentIDs = scores, d.Labels, d.Offsets, d.Groups, d.Intents, d.DocumentIDs
	if e.settings.WeightedMetrics {
		in.QueryWeights = d.QueryWeights
	}
	own, from, to := in, d.Offsets[begin[g.Rank()]], d.Offsets[begin[g.Rank()+1]]
	own.Offsets = nil // the queries of other ranks are empty to this one
	for _, offset := range d.Offsets {
		own.Offsets = append(own.Offsets, min(max(offset, from), to))
	}
	values, err := metrics.PerQuery(own, list)
	var bad *metrics.RowError
	switch {
	case errors.As(err, &bad):
		err = fmt.Errorf("train: %s: %w", d.Where(bad.Row), bad.Err)
	case err != nil:
		err = fmt.Errorf("train: %s: %w", d.Name, err)
	}
	if err = mpi.Agree(g, err); err != nil {
		return nil, err
	}
	means := map[string]measurement{}
	for i, m := range list {
		mpi.Share(g, values[i], begin)
		in.LabelFree = e.in.LabelFree
		if isLoss(m) || isShare(m) { // queries that it learns nothing from are left out of its mean, as in training
			in.LabelFree = metrics.LabelFreeSkip
		}
		mean, err := m.Mean(in, values[i])
		if err != nil {
			return nil, fmt.Errorf("train: %s: %w", d.Name, err)
		}
		means[m.String()] = measurement{mean, m.Counted(in, values[i])}
	}
	return means, nil
}

// bound returns a measure for d, if it is the loss or a share of exposure.
func (e *evaluator) bound(d *datasets.Dataset, m metrics.Measure) metrics.Measure {
	if isLoss(m) {
		return metrics.NewMeasure(LossMetric, true, func(in metrics.Queries) ([]float64, error) { return e.losses.perQuery(d, in) }).TieAware()
	}
	if group, share := strings.CutPrefix(m.String(), shareMeasure); share {
		t := Target{Group: strings.TrimSuffix(group, ")")}
		number := t.number(d)
		return t.measure(func(in metrics.Queries) ([]float64, error) { return shares(in, number) })
	}
	return m
}

// alone is means by this process alone, and evaluate gives their values.
func (e *evaluator) alone(d *datasets.Dataset, scores []float64, list []metrics.Measure) (map[string]measurement, error) {
	return e.means(mpi.GroupOf(nil), d, scores, list, []int{0, d.Queries()})
}

func (e *evaluator) evaluate(d *datasets.Dataset, scores []float64, list []metrics.Measure) (Values, error) {
	return e.valuesOf(e.alone(d, scores, list))
}

// measure gives the means of all measures of a model on d. It is collective: each rank scores and
// measures some of the queries.
func (e *evaluator) measure(model scoring, d *datasets.Dataset) (map[string]measurement, error) {
	all, rank, ranks := d.Blocks(chunkRows), e.group.Rank(), e.group.Size()
	first := func(rank int) int { return rank * (len(all) - 1) / ranks } // chunk
	var queries, rows []int                                              // with which the part of each rank begins
	for rank := range ranks + 1 {
		queries, rows = append(queries, all[first(rank)]), append(rows, d.Offsets[all[first(rank)]])
	}
	scores, err := model.Score(d, all[first(rank):first(rank+1)+1])
	if err := mpi.Agree(e.group, err); err != nil {
		return nil, err
	}
	mpi.Share(e.group, scores, rows)
	return e.means(e.group, d, scores, e.measures, queries)
}

// values returns the means of measure by name.
func (e *evaluator) values(model scoring, d *datasets.Dataset) (Values, error) {
	return e.valuesOf(e.measure(model, d))
}

// valuesOf returns the means alone, or the error of measuring them.
func (e *evaluator) valuesOf(means map[string]measurement, err error) (Values, error) {
	if err != nil {
		return nil, err
	}
	values := Values{}
	for name, m := range means {
		values[name] = Value(m.mean)
	}
	return e.metric.add(values), nil
}

// randomOrder is the expectation over random rankings, for both kinds of metrics.
func (e *evaluator) randomOrder(d *datasets.Dataset) (map[string]measurement, error) {
	random := *e
	random.in.Ties = metrics.TiesRandom
	var list []metrics.Measure
	for _, m := range e.measures {
		list = append(list, m.Ranking())
	}
	means, err := random.alone(d, make([]float64, d.Rows()), list)
	for _, m := range e.measures {
		if random, ok := means[m.Ranking().String()]; ok {
			means[m.String()] = random
		}
	}
	return means, err
}

// ofRanking is the part of measures that needs no policy.
func (e *evaluator) ofRanking() []metrics.Measure {
	return slices.DeleteFunc(slices.Clone(e.measures), func(m metrics.Measure) bool { return m.OfPolicy() || isLoss(m) })
}

// checkValue returns an error if the validation value of a model on d is not a finite number.
func (e *evaluator) checkValue(values Values, d *datasets.Dataset) error {
	if finite(float64(values[e.metric.name])) {
		return nil
	}
	undefined := func(m metrics.Measure) bool { return !finite(float64(values[m.String()])) }
	blamed := e.metric.measures[max(0, slices.IndexFunc(e.metric.measures, undefined))] // to blame
	const want = "no epoch can be the best by it: want another metric"
	if value := float64(values[blamed.String()]); !math.IsNaN(value) {
		return fmt.Errorf("the validation value %s is %v on %s: %s", blamed, value, d.Name, want)
	}
	why := ""
	if relevant, err := e.losses.loss.relevantQueries(d); err == nil && len(relevant) == 0 {
		why = "none has a relevant document: "
	} else if slices.ContainsFunc(d.Labels, fractional) && blamed.ByRelevance(e.in.Gain) {
		why = "relevance begins at label 1, and no label is as high: "
	}
	if blamed.NeedsGroups() {
		why = "none has documents of two groups that count: "
	}
	return fmt.Errorf("the validation value %s is not defined on any of the %d queries of %s: %s%s", blamed, d.Queries(), d.Name, why, want)
}
