package train

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
)

const expectedPrefix = "expected-"

// A measure is a metric, of the ranking by descending score or as expectation
// under the policy.
type measure struct {
	metric   metrics.Metric
	expected bool
}

// parseMeasure reads a metric's name, perhaps after "expected-".
func parseMeasure(name string) (measure, error) {
	rest, expected := strings.CutPrefix(strings.ToLower(name), expectedPrefix)
	m, err := metrics.Parse(rest)
	return measure{m, expected}, err
}

func (m measure) String() string {
	if m.expected {
		return expectedPrefix + m.metric.String()
	}
	return m.metric.String()
}

// better tells whether a is a better value than b, where NaN is the worst.
func (m measure) better(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(b) && !math.IsNaN(a)
	}
	if m.metric.LowerIsBetter() {
		return a < b
	}
	return a > b
}

// reported lists what every evaluation reports: DCG and NDCG at the cutoff, NDCG
// at 10, and the metric of the validation, each of the ranking and expected.
func (p *parsed) reported() []measure {
	var list []measure
	add := func(name string, expected bool) {
		m, err := metrics.Parse(name)
		if err != nil {
			panic(err) // the names are those below, or of a metric
		}
		if s := (measure{m, expected}); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, expected := range []bool{false, true} {
		add(fmt.Sprintf("dcg@%d", p.Cutoff), expected)
		add("ndcg@5", expected)
		add("ndcg@10", expected)
		add(p.metric.metric.String(), expected)
	}
	return list
}

// Reported names the metrics that training with this configuration reports, in
// the order of a table.
func (c Config) Reported() ([]string, error) {
	p, err := c.parse()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range p.reported() {
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
// Plackett–Luce policy of the scores.
type Values map[string]Value

// evaluate computes measures of scores.
func (p *parsed) evaluate(d *datasets.Dataset, scores []float64, list []measure) (Values, error) {
	values := Values{}
	l := metrics.Lists{Scores: scores, Labels: d.Labels, Offsets: d.Offsets}
	for _, m := range list {
		metric := p.convention.Metric(m.metric)
		var (
			perQuery []float64
			err      error
		)
		if m.expected {
			var e metrics.Expectation
			e, err = metrics.Expected(metric, l, p.gain, metrics.Policy{Samples: p.EvaluationSamples, Seed: p.Seed})
			perQuery = e.PerQuery
		} else {
			perQuery, err = metrics.PerQuery(metric, l, p.gain)
		}
		if err != nil {
			return nil, fmt.Errorf("train: %s: %w", d.Name, err)
		}
		values[m.String()] = Value(metrics.Mean(perQuery, p.convention))
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
// expectation, given either.
func Twins(metric string) (ranking, expected string) {
	ranking = strings.TrimPrefix(metric, expectedPrefix)
	return ranking, expectedPrefix + ranking
}
