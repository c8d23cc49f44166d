package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Measure is one measure of rankings, made by [ParseMeasure] or [NewMeasure]:
//
//   - a metric of the ranking by descending score, such as ndcg@5;
//   - the expectation of one under the Plackett–Luce policy of the scores, such
//     as expected-ndcg@5;
//   - a measure of the fairness of the expected exposure, such as disparity;
//   - or one of one's own.
//
// The package comment has the formulas.
type Measure struct {
	name          string
	kind          measureKind
	metric        metric   // of the first two kinds
	fairness      fairness // of the third
	lowerIsBetter bool
	own           func(Input) ([]float64, error)
	tieAware      bool // own is called once, whatever ties
}

type measureKind int

const (
	noMeasure measureKind = iota
	ofRanking
	ofPolicy
	ofExposure
	ofOneself
)

const expectedPrefix = "expected-"

// ParseMeasure reads a metric as LightGBM, RankLib and ir_measures write it: a
// name of [Names], after it "@k" for a cutoff (else the whole list counts), between
// them the metric's parameter where it has one and the default is not meant. With
// "expected-" before it, it is the expectation under the policy. Or it reads a
// measure of fairness, a name of [FairnessNames]:
//
//	ndcg@5  NDCG@10  p@5  map  rbp(0.95)@10  err(max=2)@10  expected-ndcg@5  disparity
//
// Case does not matter; p, rr and ap are other names of precision, mrr and map.
func ParseMeasure(name string) (Measure, error) {
	text, expected := strings.CutPrefix(strings.ToLower(strings.TrimSpace(name)), expectedPrefix)
	if i := slices.Index(fairnessNames, text); i >= 0 {
		f := fairness(i)
		if expected {
			return Measure{}, fmt.Errorf("metrics: %q: %v is of the expected exposure by itself: leave %s off", name, f, expectedPrefix)
		}
		return Measure{name: f.String(), kind: ofExposure, fairness: f, lowerIsBetter: f.lowerIsBetter()}, nil
	}
	m, err := parseMetric(text)
	if err != nil {
		return Measure{}, err
	}
	if expected {
		return ofMetric(m, ofPolicy), nil
	}
	return ofMetric(m, ofRanking), nil
}

func ofMetric(m metric, kind measureKind) Measure {
	name := m.String()
	if kind == ofPolicy {
		name = expectedPrefix + name
	}
	return Measure{name: name, kind: kind, metric: m, lowerIsBetter: families[m.kind].lowerIsBetter}
}

// NewMeasure makes a measure of one's own. perQuery gives a value for every query,
// NaN where the measure is not defined; it must not change the input, whose slices are
// those of the data. [Exposure] and [Rank] may serve it. It need not know of ties: where
// documents of a query have equal scores and Input.Ties is TiesRandom, it is called several
// times, each with these scores set apart by next to nothing, in an order drawn by
// Input.Policy.Seed, and the measure is the mean.
func NewMeasure(name string, lowerIsBetter bool, perQuery func(Input) ([]float64, error)) Measure {
	return Measure{name: name, kind: ofOneself, lowerIsBetter: lowerIsBetter, own: perQuery}
}

// TieAware is m, made by [NewMeasure], of a function that knows itself what equal scores mean,
// such as a loss: it is called once, with the scores as they are.
func (m Measure) TieAware() Measure {
	m.tieAware = true
	return m
}

// String gives the name that ParseMeasure reads, in lower case, or that was given
// to NewMeasure.
func (m Measure) String() string { return m.name }

// LowerIsBetter tells whether a smaller value is a better one: of the metrics for
// ARP alone, of the measures of fairness for all but ee-r and the ratios.
func (m Measure) LowerIsBetter() bool { return m.lowerIsBetter }

// Better tells whether a is a better value than b, where NaN is the worst.
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
func (m Measure) NeedsGroups() bool { return m.kind == ofExposure && m.fairness.ofGroups() }

// NeedsGrade tells whether the measure goes by the highest grade of the data set,
// Input.HighestGrade: ERR without one of its own, and graded RBP.
func (m Measure) NeedsGrade() bool {
	ofMetric := m.kind == ofRanking || m.kind == ofPolicy
	return ofMetric && families[m.metric.kind].graded && (m.metric.kind != expectedReciprocalRank || m.metric.param == 0)
}

// OfPolicy tells whether the measure is of the Plackett–Luce policy that the scores
// define, and not of the ranking by them alone.
func (m Measure) OfPolicy() bool { return m.kind == ofPolicy || m.kind == ofExposure }

// Sampled tells whether the value is an estimate from sampled rankings, see
// Input.Policy, and has a standard error: of the expectations those of MAP and ERR, and of
// pair accuracy at a cutoff. All other measures are exact, expectations to 1e-10 of their scale.
func (m Measure) Sampled() bool {
	return m.kind == ofPolicy && m.metric.expectation() == nil
}

// Ranking is the metric of the ranking by descending score of which m may be the
// expectation: ndcg@5 for expected-ndcg@5. A measure that is no metric is its own.
func (m Measure) Ranking() Measure { return m.as(ofRanking) }

// Expected is the expectation of a metric under the policy: expected-ndcg@5 for ndcg@5. A
// measure that is no metric is its own.
func (m Measure) Expected() Measure { return m.as(ofPolicy) }

func (m Measure) as(kind measureKind) Measure {
	if m.kind == ofRanking || m.kind == ofPolicy {
		return ofMetric(m.metric, kind)
	}
	return m
}

// PerQuery computes the measure of every query: NaN where it is not defined (see the
// package comment). A score that is not finite, and a label that the measure cannot
// use, are errors that name query and row.
func (m Measure) PerQuery(in Input) ([]float64, error) {
	e, err := m.Estimate(in)
	return e.PerQuery, err
}

// Estimate is PerQuery with standard errors, 0 for what is not estimated.
func (m Measure) Estimate(in Input) (e Estimate, err error) {
	if err := in.check(); err != nil {
		return Estimate{}, err
	}
	switch m.kind {
	case ofRanking:
		e.PerQuery, err = in.ranked(in.Convention.metric(m.metric))
	case ofPolicy:
		return in.expected(in.Convention.metric(m.metric))
	case ofExposure:
		e.PerQuery, err = in.fairness(m.fairness)
	case ofOneself:
		return in.own(m)
	default:
		err = errors.New("metrics: no measure: make one with ParseMeasure or NewMeasure")
	}
	e.StdErr = make([]float64, len(e.PerQuery))
	return e, err
}

// Summary is the mean of a measure over queries.
type Summary struct {
	Mean   float64 // NaN where no query counts
	StdErr float64 // from the sampling of rankings, 0 for what is exact; that the queries themselves are a sample is not in it
}

// Means are the means of measures over the queries, by Input.Convention and
// Input.QueryWeights; for a measure of fairness, over the queries for which it is
// defined. What several of the measures need is computed once, and for different queries on
// all cores.
func Means(in Input, measures []Measure) ([]Summary, error) {
	estimates, err := Estimates(in, measures)
	if err != nil {
		return nil, err
	}
	means := make([]Summary, len(measures))
	for i, m := range measures {
		if means[i], err = m.Mean(in, estimates[i]); err != nil {
			return nil, err
		}
	}
	return means, nil
}

// Estimates are those of several measures, as [Means] has them.
func Estimates(in Input, measures []Measure) ([]Estimate, error) {
	in.shared = newShared()
	estimates := make([]Estimate, len(measures))
	known := in.byBlocks(measures)
	for i, m := range measures {
		if known[i] != nil {
			estimates[i] = *known[i]
			continue
		}
		var err error
		if estimates[i], err = m.Estimate(in); err != nil {
			return nil, err
		}
	}
	return estimates, nil
}

// Mean is the mean of estimates of m, by the Convention and the QueryWeights of in, as
// [Means] gives it.
func (m Measure) Mean(in Input, e Estimate) (Summary, error) {
	convention := in.Convention
	if m.kind == ofExposure {
		convention = LabelFreeSkip // the others are about metrics of relevance
	}
	return e.mean(in.QueryWeights, convention)
}
