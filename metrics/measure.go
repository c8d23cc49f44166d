package metrics

import (
	"errors"
	"fmt"
	"math"
)

// Measure is one measure of rankings, made by [ParseMeasure] or [NewMeasure]:
//
//   - a metric of the ranking by descending score, such as ndcg@5;
//   - the expectation of one under the Plackett–Luce policy of the scores, such
//     as expected-ndcg@5, or its standard deviation, such as deviation-mrr@5;
//   - a measure of the fairness of the expected exposure, such as disparity;
//   - or a custom one.
type Measure struct {
	name          string
	lowerIsBetter bool
	metric        metric // of all but custom ones, a fairness measure too
	expected      bool   // the expectation of the metric, or with
	deviates      bool   // its standard deviation over rankings

	custom   bool // perQuery computes it
	perQuery func(Queries) ([]float64, error)
	tieAware bool // perQuery handles ties itself, and is called once
}

const expectedPrefix, deviationPrefix = "expected-", "deviation-"

func newMeasure(m metric, expected bool) Measure {
	name := m.String()
	if expected {
		name = expectedPrefix + name
	}
	return Measure{name: name, lowerIsBetter: m.family.lowerIsBetter, metric: m, expected: expected}
}

// NewMeasure makes a custom measure. perQuery returns a value for every query, NaN where the
// measure is not defined. It must not change its argument, which shares the slices of the data.
// It can use [Exposure] and [Rank]. It need not handle ties: if documents of a query have
// equal scores and Queries.Ties is TiesRandom, it is called several times, each time with
// these scores moved apart very slightly, in a random order, and
// the measure is the mean.
func NewMeasure(name string, lowerIsBetter bool, perQuery func(Queries) ([]float64, error)) Measure {
	return Measure{name: name, lowerIsBetter: lowerIsBetter, custom: true, perQuery: perQuery}
}

// TieAware returns a copy of m, made by [NewMeasure], for a function that handles equal scores
// itself, such as a loss: it gets the scores as they are.
func (m Measure) TieAware() Measure {
	m.tieAware = true
	return m
}

// String returns the name that ParseMeasure reads, in lower case, or the one given to
// NewMeasure.
func (m Measure) String() string { return m.name }

// LowerIsBetter reports whether a smaller value is better, as for ARP and for all fairness
// measures except ee-r and the ratios.
func (m Measure) LowerIsBetter() bool { return m.lowerIsBetter }

// Better reports whether a is better than b; NaN is worst.
func (m Measure) Better(a, b float64) bool {
	if m.lowerIsBetter {
		a, b = -a, -b
	}
	return a > b || math.IsNaN(b) && !math.IsNaN(a)
}

// NeedsGroups reports whether the measure compares groups of documents, Queries.Groups.
func (m Measure) NeedsGroups() bool { return m.ofExposure() && m.metric.family.ofGroups }

// NeedsIntents reports whether the measure goes by the intents of queries, Queries.Intents.
func (m Measure) NeedsIntents() bool { return m.metric.family != nil && m.metric.family.ofIntents }

// NeedsVectors reports whether the measure compares documents of all kinds with each other: by their groups, Queries.Groups, or without
// any by their intents, Queries.Intents.
func (m Measure) NeedsVectors() bool { return m.metric.family != nil && m.metric.family.ofVectors }

// NeedsGrade reports whether the measure depends on the highest grade of the data set,
// Queries.HighestGrade, as graded RBP does, and ERR without a grade in its name.
func (m Measure) NeedsGrade() bool {
	f := m.metric.family
	return f != nil && f.graded != nil && f.graded(m.metric.param)
}

// CheckLabel returns an error if the measure does not take a label whatever the gain, as ERR does not take those above 31.
func (m Measure) CheckLabel(label float32) error {
	f := m.metric.family
	if f == nil || f.value == nil {
		return nil
	}
	_, err := f.value(&evaluator{metric: m.metric, gain: LinearGain, highestGrade: math.Inf(1)}, label)
	return err
}

// ByRelevance reports whether the measure, with gain g, only distinguishes relevant documents,
// whose label is 1 or more, from others. Labels between 0 and 1 then count as 0.
func (m Measure) ByRelevance(g Gain) bool {
	switch f := m.metric.family; {
	case f == nil || f.ofIntents || f.ofVectors:
		return false
	case f.value == nil: // a measure of fairness, which goes by the gain
		return g == BinaryGain
	default:
		value, err := f.value(&evaluator{gain: g, highestGrade: 1}, 0.5)
		return err == nil && value == 0
	}
}

// OfPolicy reports whether the measure evaluates the Plackett–Luce policy of the scores rather
// than the ranking by descending score.
func (m Measure) OfPolicy() bool { return m.expected || m.ofExposure() }

// Ranking returns the metric of the ranking by descending score whose expectation m is: ndcg@5
// for expected-ndcg@5. It returns all other measures unchanged.
func (m Measure) Ranking() Measure { return m.as(false) }

// Expected returns the expectation of a metric under the policy: expected-ndcg@5 for ndcg@5.
// It returns all other measures unchanged.
func (m Measure) Expected() Measure { return m.as(true) }

func (m Measure) as(expected bool) Measure {
	if m.metric.family == nil || m.ofExposure() || m.deviates {
		return m
	}
	return newMeasure(m.metric, expected)
}

func (m Measure) ofExposure() bool { return m.metric.family != nil && m.metric.family.fairness != nil }

// PerQuery returns the measure of every query, NaN where it is not defined (see the package
// comment). It returns an error with the query and row of a score that is not finite or of a
// label that the measure cannot use.
func (m Measure) PerQuery(in Queries) ([]float64, error) {
	all, err := PerQuery(in, []Measure{m})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// PerQuery returns the values of several measures, [measures][queries]; [Means] returns their means. What several
// measures need is computed once. Queries are computed on all cores.
func PerQuery(in Queries, measures []Measure) ([][]float64, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	values, queries := make([][]float64, len(measures)), len(in.offsets())-1
	scored := false
	for i, m := range measures {
		err := m.check(in)
		switch {
		case err != nil:
		case m.custom:
			values[i], err = m.callCustom(in)
		default:
			scored = scored || !m.ofExposure() || in.Exposure == nil
			values[i] = make([]float64, queries)
		}
		if err != nil {
			return nil, err
		}
	}
	if !scored {
		in.Scores = make([]float64, len(in.Labels)) // no measure reads them
	}
	return values, in.visitQueries(func() func(q query) error {
		w := newWorker(in)
		compute := make([]func(q query) (float64, error), len(measures))
		for i, m := range measures {
			if !m.custom {
				compute[i] = m.computation(w)
			}
		}
		return func(q query) (err error) {
			for i, one := range compute {
				if one == nil {
					continue
				}
				if values[i][q.number], err = one(q); err != nil {
					return err
				}
			}
			return nil
		}
	})
}

// computation returns the function that computes m of one query after another, NaN where it is
// not defined.
func (m Measure) computation(w *worker) func(q query) (float64, error) {
	if m.ofExposure() {
		return func(q query) (float64, error) { return w.fairness(m.metric.family, q) }
	}
	e := newEvaluator(m.metric, w.Queries)
	exact := e.family.expected
	if exact == nil {
		exact = expectedSum
	}
	return func(q query) (float64, error) {
		defined, err := e.prepare(q)
		switch {
		case err != nil || !defined:
			return math.NaN(), err
		case m.deviates && len(q.scores) < 2: // there is one ranking
			return 0, nil
		case !m.expected || len(q.scores) < 2:
			w.order.rank(q.scores, e.depth(), w.Ties)
			return e.evaluate(&w.order), nil
		case m.deviates:
			return e.family.deviation(e, w, q)
		}
		low, high := e.bounds() // which rounding and the quadrature may leave
		value, err := exact(e, w, q)
		return max(low, min(value, high)), err
	}
}

// check returns an error if in lacks what the measure needs.
func (m Measure) check(in Queries) error {
	f, rows := m.metric.family, len(in.Labels)
	switch {
	case f == nil && !m.custom:
		return errors.New("metrics: the zero Measure: make one with ParseMeasure or NewMeasure")
	case m.ofExposure() && len(in.Discounts) == 0 && (in.Exposure == nil || f.ofTarget):
		return fmt.Errorf("metrics: %s needs the discounts of the ranks", f.name)
	case in.Unranked != nil && m.OfPolicy():
		return fmt.Errorf("metrics: %s needs the score of every document, but some are unranked", m)
	case m.NeedsIntents() && in.Intents == nil && rows > 0:
		return fmt.Errorf("metrics: %s needs the intents of every row: there are none for %d rows", m, rows)
	case m.NeedsVectors() && len(in.Groups) != rows && (in.Groups != nil || in.Intents == nil && rows > 0):
		return fmt.Errorf("metrics: %s needs the group, or else the intents, of every row: %d groups for %d rows", m, len(in.Groups), rows)
	case m.NeedsGroups() && len(in.Groups) != rows:
		return fmt.Errorf("metrics: %s needs the group of every row: %d groups for %d rows", f.name, len(in.Groups), rows)
	}
	return nil
}

// Means returns the means of measures over the queries, by Queries.LabelFree and
// Queries.QueryWeights. A fairness measure is averaged over the queries that define it.
func Means(in Queries, measures []Measure) ([]float64, error) {
	values, err := PerQuery(in, measures)
	if err != nil {
		return nil, err
	}
	means := make([]float64, len(measures))
	for i, m := range measures {
		if means[i], err = m.Mean(in, values[i]); err != nil {
			return nil, err
		}
	}
	return means, nil
}

// Mean returns the mean of the values of m by the LabelFree and QueryWeights of in, as [Means] does. It is NaN if no query counts.
func (m Measure) Mean(in Queries, perQuery []float64) (float64, error) {
	return mean(perQuery, in.QueryWeights, m.labelFree(in))
}

// Counted returns the value by which every query enters [Measure.Mean], NaN for a query left out.
func (m Measure) Counted(in Queries, perQuery []float64) []float64 {
	counted := make([]float64, len(perQuery))
	for q, v := range perQuery {
		v, counts := m.labelFree(in).counted(v)
		if !counts {
			v = math.NaN()
		}
		counted[q] = v
	}
	return counted
}

// labelFree returns what queries count that do not define m.
func (m Measure) labelFree(in Queries) LabelFree {
	if m.ofExposure() {
		return LabelFreeSkip // the other conventions are about metrics of relevance
	}
	return in.LabelFree
}

// mean returns the mean with weights of the queries; nil: equal ones.
func mean(perQuery []float64, weights []float32, l LabelFree) (float64, error) {
	if weights != nil && len(weights) != len(perQuery) {
		return 0, fmt.Errorf("metrics: %d query weights for %d queries", len(weights), len(perQuery))
	}
	sum, all := 0.0, 0.0
	for q, v := range perQuery {
		w := 1.0
		if weights != nil {
			w = float64(weights[q])
		}
		if !(w >= 0) || math.IsInf(w, 0) {
			return 0, fmt.Errorf("metrics: query %d: weight %v: it must be 0 or more, and finite", q, w)
		}
		if v, counts := l.counted(v); counts {
			sum += w * v
			all += w
		}
	}
	return sum / all, nil
}

// Mean returns the mean over queries; l says how undefined (NaN) queries count. It returns NaN if
// no query counts.
func Mean(perQuery []float64, l LabelFree) float64 {
	m, _ := mean(perQuery, nil, l) // only weights can be invalid
	return m
}
