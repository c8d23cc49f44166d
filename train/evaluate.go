package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
)

const expectedPrefix = "expected-"

// A measure is a metric, of the ranking by descending score or as expectation
// under the policy, or a measure of fairness.
type measure struct {
	metric     metrics.Metric
	expected   bool
	fairness   metrics.Fairness
	ofFairness bool // fairness, and neither of the first two
}

// parseMeasure reads a metric's name, perhaps after "expected-", or that of a
// measure of fairness.
func parseMeasure(name string) (measure, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	rest, expected := strings.CutPrefix(name, expectedPrefix)
	if f, err := metrics.ParseFairness(rest); err == nil {
		if expected {
			return measure{}, fmt.Errorf("train: metric %q: %s is of the expected exposure by itself: leave %s off", name, rest, expectedPrefix)
		}
		return measure{fairness: f, ofFairness: true}, nil
	}
	m, err := metrics.Parse(rest)
	if err != nil {
		return measure{}, fmt.Errorf("%w; or a measure of fairness: %s", err, strings.Join(metrics.FairnessNames(), ", "))
	}
	return measure{metric: m, expected: expected}, nil
}

func (m measure) String() string {
	switch {
	case m.ofFairness:
		return m.fairness.String()
	case m.expected:
		return expectedPrefix + m.metric.String()
	}
	return m.metric.String()
}

// needsGroups tells whether the measure compares groups of documents.
func (m measure) needsGroups() bool {
	return m.ofFairness && (m.fairness == metrics.ExposureRatio || m.fairness == metrics.TreatmentRatio)
}

func (m measure) lowerIsBetter() bool {
	if m.ofFairness {
		return m.fairness.LowerIsBetter()
	}
	return m.metric.LowerIsBetter()
}

// better tells whether a is a better value than b, where NaN is the worst.
func (m measure) better(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(b) && !math.IsNaN(a)
	}
	if m.lowerIsBetter() {
		return a < b
	}
	return a > b
}

// fairnessOf is the measure of what a fairness loss is about.
var fairnessOf = map[string]metrics.Fairness{
	"disparity":       metrics.Disparity,
	"ee-l":            metrics.EEL,
	"group-exposure":  metrics.ExposureRatio,
	"group-treatment": metrics.TreatmentRatio,
}

// measureOf is the measure of what a loss is about, if that is fairness.
func measureOf(loss string) (m measure, ok bool) {
	name, _, _ := strings.Cut(loss, "(") // without a way to the gradient
	f, ok := fairnessOf[name]
	return measure{fairness: f, ofFairness: true}, ok
}

// reported lists what every evaluation reports: DCG and NDCG at the cutoff, NDCG
// at 10, the metrics of the objective and of the validation, each of the ranking
// and expected; then fairness, where it is part of the loss; then what is asked
// for.
func (p *parsed) reported() ([]measure, error) {
	var list []measure
	add := func(m measure) {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	names := []string{fmt.Sprintf("dcg@%d", p.Cutoff), "ndcg@5", "ndcg@10"}
	if own := p.ofDiscounts(); own != "" {
		names = append(names, own)
	}
	if !p.metric.ofFairness {
		names = append(names, p.metric.metric.String())
	}
	for _, expected := range []bool{false, true} {
		for _, name := range names {
			m, err := metrics.Parse(name)
			if err != nil {
				return nil, err
			}
			add(measure{metric: m, expected: expected})
		}
	}
	for _, name := range p.terms {
		if m, ok := measureOf(name); ok {
			add(m)
		}
	}
	add(p.metric)
	p.Report = append([]string(nil), p.Report...) // none is nil, and the caller's stay as they are
	for i, name := range p.Report {
		m, err := parseMeasure(name)
		if err != nil {
			return nil, fmt.Errorf("train: report: %w", err)
		}
		p.Report[i] = m.String()
		add(m)
	}
	return list, nil
}

// ErrNoGroups is the error of [New] for a loss or a measure that compares groups of
// documents, and data that have none.
var ErrNoGroups = errors.New("the documents have no groups, see datasets.ReadOptions")

// checkGroups is an error where something compares groups of documents, and d has
// none.
func (p *parsed) checkGroups(d *datasets.Dataset) error {
	if d.Groups != nil {
		return nil
	}
	for _, loss := range p.terms {
		if m, ok := measureOf(loss); ok && m.needsGroups() {
			return fmt.Errorf("train: %s: the loss %s compares groups: %w", d.Name, loss, ErrNoGroups)
		}
	}
	for _, m := range p.measures {
		if m.needsGroups() {
			return fmt.Errorf("train: %s: %s compares groups: %w", d.Name, m, ErrNoGroups)
		}
	}
	return nil
}

// Reported names the metrics that training with this configuration reports, in
// the order of a table.
func (c Config) Reported() ([]string, error) {
	p, err := c.parse()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range p.measures {
		names = append(names, m.String())
	}
	return names, nil
}

// A Value is the value of a metric; NaN, where no query has one, is null in JSON.
type Value float64

// MarshalJSON writes a number, or null.
func (v Value) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*v = Value(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(v))
}

// Values are means over the queries of a split, by the name of the metric:
// "ndcg@5" of the ranking by descending score, "expected-ndcg@5" under the
// Plackett–Luce policy of the scores, "disparity" of the exposure under it.
type Values map[string]Value

// evaluate computes measures of scores.
func (p *parsed) evaluate(d *datasets.Dataset, scores []float64, list []measure) (Values, error) {
	values := Values{}
	l := metrics.Lists{Scores: scores, Labels: d.Labels, Offsets: d.Offsets}
	var exposure []float64
	for _, m := range list {
		var (
			perQuery   []float64
			err        error
			convention = p.convention
		)
		switch {
		case m.ofFairness:
			if exposure == nil {
				exposure, err = metrics.Exposure(l, p.discounts, metrics.Policy{Samples: exposureSamples, Seed: p.Seed})
			}
			if err == nil {
				exposed := metrics.Exposed{Exposure: exposure, Labels: d.Labels, Groups: d.Groups, Offsets: d.Offsets, Discounts: p.discounts}
				perQuery, err = m.fairness.PerQuery(exposed, p.gain)
			}
			convention = metrics.LabelFreeSkip // the others are about metrics of relevance
		case m.expected:
			var e metrics.Expectation
			e, err = metrics.Expected(p.convention.Metric(m.metric), l, p.gain, metrics.Policy{Samples: p.EvaluationSamples, Seed: p.Seed})
			perQuery = e.PerQuery
		default:
			perQuery, err = metrics.PerQuery(p.convention.Metric(m.metric), l, p.gain)
		}
		if err != nil {
			return nil, fmt.Errorf("train: %s: %w", d.Name, err)
		}
		values[m.String()] = Value(metrics.Mean(perQuery, convention))
	}
	return values, nil
}

// relevantQueries are the queries of d with a document whose gain is above 0.
// Labels that have no gain are an error.
func (p *parsed) relevantQueries(d *datasets.Dataset) ([]int, error) {
	gains, err := p.gain.Gains(d.Labels)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", d.Name, err)
	}
	var queries []int
	for q := range d.Queries() {
		if slices.ContainsFunc(gains[d.Offsets[q]:d.Offsets[q+1]], func(g float64) bool { return g > 0 }) {
			queries = append(queries, q)
		}
	}
	return queries, nil
}

// Twins are the names under which Values have a metric of the ranking and its
// expectation, given either. A measure of fairness has no twin: both are its name.
func Twins(metric string) (ranking, expected string) {
	if _, err := metrics.ParseFairness(metric); err == nil {
		return metric, metric
	}
	ranking = strings.TrimPrefix(metric, expectedPrefix)
	return ranking, expectedPrefix + ranking
}
