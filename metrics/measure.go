package metrics

import (
	"errors"
	"math"
)

// Measure is one measure of rankings, made by [ParseMeasure] or [NewMeasure]:
//
//   - a metric of the ranking by descending score, such as ndcg@5;
//   - the expectation of one under the Plackett–Luce policy of the scores, such
//     as expected-ndcg@5;
//   - a measure of the fairness of the expected exposure, such as disparity;
//   - or a custom one.
type Measure struct {
	name          string
	kind          measureKind
	metric        metric    // of the first two kinds
	fairness      *fairness // of the third
	custom        custom    // of the fourth
	lowerIsBetter bool
}

type measureKind int

const (
	noMeasure measureKind = iota
	ofRanking
	ofPolicy
	ofExposure
	byFunction
)

const expectedPrefix = "expected-"

func ofMetric(m metric, kind measureKind) Measure {
	name := m.String()
	if kind == ofPolicy {
		name = expectedPrefix + name
	}
	return Measure{name: name, kind: kind, metric: m, lowerIsBetter: m.family.lowerIsBetter}
}

func ofFairness(f *fairness) Measure {
	return Measure{name: f.name, kind: ofExposure, fairness: f, lowerIsBetter: f.lowerIsBetter}
}

// NewMeasure makes a custom measure. perQuery gives a value for every query, NaN where the
// measure is not defined; it must not change the input, whose slices are those of the data.
// [Exposure] and [Rank] may serve it. It need not handle ties: if documents of a query have
// equal scores and Input.Ties is TiesRandom, it is called several times, each time with
// these scores set apart by next to nothing, in an order drawn by Input.Policy.Seed, and
// the measure is the mean.
func NewMeasure(name string, lowerIsBetter bool, perQuery func(Input) ([]float64, error)) Measure {
	return Measure{name: name, kind: byFunction, lowerIsBetter: lowerIsBetter, custom: custom{name: name, perQuery: perQuery}}
}

// TieAware is m, made by [NewMeasure], for a function that handles equal scores itself,
// such as a loss: it is called once, with the scores as they are.
func (m Measure) TieAware() Measure {
	m.custom.tieAware = true
	return m
}

// String gives the name that ParseMeasure reads, in lower case, or the one given to
// NewMeasure.
func (m Measure) String() string { return m.name }

// LowerIsBetter tells whether a smaller value is better: for ARP, and for all fairness
// measures but ee-r and the ratios.
func (m Measure) LowerIsBetter() bool { return m.lowerIsBetter }

// Better tells whether a is a better value than b. NaN is the worst.
func (m Measure) Better(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(b) && !math.IsNaN(a)
	}
	if m.lowerIsBetter {
		return a < b
	}
	return a > b
}

// NeedsGroups tells whether the measure compares groups of documents, Input.Groups.
func (m Measure) NeedsGroups() bool { return m.kind == ofExposure && m.fairness.ofGroups }

// NeedsGrade tells whether the measure goes by the highest grade of the data set,
// Input.HighestGrade: graded RBP, and ERR without a grade in its name.
func (m Measure) NeedsGrade() bool { return m.isMetric() && m.metric.needsGrade() }

// OfPolicy tells whether the measure is one of the Plackett–Luce policy of the scores,
// and not of the ranking by them alone.
func (m Measure) OfPolicy() bool { return m.kind == ofPolicy || m.kind == ofExposure }

// Sampled tells whether the value is an estimate from sampled rankings, see Input.Policy,
// and has a standard error: the expectations of MAP and ERR, and of pair accuracy at a
// cutoff. All other measures are exact, expectations to 1e-10 of their scale.
func (m Measure) Sampled() bool { return m.kind == ofPolicy && m.metric.exactly() == nil }

// Ranking is the metric of the ranking by descending score of which m may be the
// expectation: ndcg@5 for expected-ndcg@5. For a measure that is no metric it is m.
func (m Measure) Ranking() Measure { return m.as(ofRanking) }

// Expected is the expectation of a metric under the policy: expected-ndcg@5 for ndcg@5.
// For a measure that is no metric it is m.
func (m Measure) Expected() Measure { return m.as(ofPolicy) }

func (m Measure) as(kind measureKind) Measure {
	if m.isMetric() {
		return ofMetric(m.metric, kind)
	}
	return m
}

func (m Measure) isMetric() bool { return m.kind == ofRanking || m.kind == ofPolicy }

// byNumber tells whether the value of a query may depend on the query's number.
func (m Measure) byNumber() bool { return m.Sampled() || m.kind == byFunction }

// PerQuery computes the measure of every query: NaN where it is not defined (see the
// package comment). A score that is not finite, and a label that the measure cannot use,
// are errors that name query and row.
func (m Measure) PerQuery(in Input) ([]float64, error) {
	e, err := m.Estimate(in)
	return e.PerQuery, err
}

// Estimate is PerQuery with standard errors.
func (m Measure) Estimate(in Input) (Estimate, error) { return m.estimate(in, &shared{}) }

func (m Measure) estimate(in Input, s *shared) (e Estimate, err error) {
	if err := in.check(); err != nil {
		return Estimate{}, err
	}
	if m.isMetric() && in.LabelFree == LETOR4 && m.metric.family.letor4 != nil {
		m.metric.family = m.metric.family.letor4
	}
	switch m.kind {
	case ofRanking:
		e.PerQuery, err = in.ranked(m.metric)
	case ofPolicy:
		return in.expected(m.metric, s)
	case ofExposure:
		e.PerQuery, err = in.fairness(m.fairness, s)
	case byFunction:
		return in.custom(m.custom)
	default:
		err = errors.New("metrics: no measure: make one with ParseMeasure or NewMeasure")
	}
	e.StdErr = make([]float64, len(e.PerQuery))
	return e, err
}

// Mean is the mean of estimates of m by the LabelFree and the QueryWeights of in, as
// [Means] gives it.
func (m Measure) Mean(in Input, e Estimate) (Summary, error) {
	l := in.LabelFree
	if m.kind == ofExposure {
		l = LabelFreeSkip // the others are about metrics of relevance
	}
	return e.mean(in.QueryWeights, l)
}
