package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
)

// reported lists what every evaluation reports: DCG and NDCG at the cutoff, NDCG
// at 10, the metrics of the objective and of the validation, each of the ranking
// and expected; then fairness, where it is part of the loss; then the measure of the
// validation, what is asked for, and one's own measures.
func (p *parsed) reported() (list []metrics.Measure, err error) {
	names := []string{fmt.Sprintf("dcg@%d", p.Cutoff), "ndcg@5", "ndcg@10"}
	if p.optimised.Metric != "" {
		names = append(names, p.optimised.Metric)
	}
	usual, err := p.parts.measures(names...)
	if err != nil {
		return nil, err
	}
	for _, m := range p.metric.measures() {
		if m.Ranking().String() != m.Expected().String() {
			usual = append(usual, m)
		}
	}
	for _, m := range usual {
		list = append(list, m.Ranking())
	}
	for _, m := range usual {
		list = append(list, m.Expected())
	}
	asked, err := p.parts.measures(p.Report...)
	if err != nil {
		return nil, fmt.Errorf("train: report: %w", err)
	}
	p.Report = nil // none is nil, and the caller's stay as they are
	for _, m := range asked {
		p.Report = append(p.Report, m.String())
	}
	for _, t := range p.terms {
		if t.Measure != "" {
			m, err := metrics.ParseMeasure(t.Measure)
			if err != nil {
				return nil, err
			}
			list = append(list, m)
		}
	}
	list = slices.Concat(list, p.metric.measures(), asked, p.parts.Metrics)
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(m metrics.Measure) bool {
		again := seen[m.String()]
		seen[m.String()] = true
		return again
	}), nil
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
	for _, t := range p.terms {
		if m, _ := metrics.ParseMeasure(t.Measure); m.NeedsGroups() {
			return fmt.Errorf("train: %s: the loss %s compares groups: %w", d.Name, t.Loss, ErrNoGroups)
		}
	}
	if i := slices.IndexFunc(p.measures, metrics.Measure.NeedsGroups); i >= 0 {
		return fmt.Errorf("train: %s: %s compares groups: %w", d.Name, p.measures[i], ErrNoGroups)
	}
	return nil
}

// Reported names the metrics that training with this configuration reports, in
// the order of a table.
func (c Config) Reported() ([]string, error) {
	p, err := c.parse(Parts{})
	if err != nil {
		return nil, err
	}
	return p.names(), nil
}

// names are those of all reported values: of the measures, and of the sum of some by which
// epochs are told apart.
func (p *parsed) names() []string {
	var names []string
	for _, m := range p.measures {
		names = append(names, m.String())
	}
	if p.metric.sum {
		names = append(names, p.metric.name)
	}
	return names
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

// Values are means over the queries of a split, by the name of the measure:
// "ndcg@5" of the ranking by descending score, "expected-ndcg@5" under the
// Plackett–Luce policy of the scores, "disparity" of the exposure under it.
type Values map[string]Value

// input is what measures of scores are made of.
func (p *parsed) input(d *datasets.Dataset, scores []float64) metrics.Input {
	var weights []float32
	if p.WeightedMetrics {
		weights = d.QueryWeights
	}
	return metrics.Input{
		Scores: scores, Labels: d.Labels, Offsets: d.Offsets, Groups: d.Groups, QueryWeights: weights,
		Gain: p.gain, HighestGrade: p.topGrade, Ties: p.ties, LabelFree: p.convention,
		Discounts: p.optimised.Discounts,
		Policy:    metrics.Policy{Samples: p.EvaluationSamples, Seed: p.Seed},
	}
}

// means are measures of scores.
func (p *parsed) means(d *datasets.Dataset, scores []float64, list []metrics.Measure) ([]metrics.Summary, error) {
	in := p.input(d, scores)
	estimates, err := metrics.Estimates(in, p.bound(d, list))
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
func (p *parsed) evaluate(d *datasets.Dataset, scores []float64, list []metrics.Measure) (Values, error) {
	means, err := p.means(d, scores, list)
	if err != nil {
		return nil, err
	}
	return p.valuesOf(list, means), nil
}

func (p *parsed) valuesOf(list []metrics.Measure, means []metrics.Summary) Values {
	values := Values{}
	for i, m := range list {
		values[m.String()] = Value(means[i].Mean)
	}
	return p.metric.add(values)
}

// stdErrs are the standard errors of the measures that are estimated from samples.
func (p *parsed) stdErrs(d *datasets.Dataset, scores []float64) (Values, error) {
	sampled := slices.DeleteFunc(slices.Clone(p.measures), func(m metrics.Measure) bool { return !m.Sampled() })
	means, err := p.means(d, scores, sampled)
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

// gains are those of all documents of d; an error says where the label is that has none.
func (p *parsed) gains(d *datasets.Dataset) ([]float64, error) {
	gains := make([]float64, d.Rows())
	for row, label := range d.Labels {
		var err error
		if gains[row], err = p.gain.Of(label); err != nil {
			return nil, fmt.Errorf("train: %s: %w", d.Where(row), err)
		}
	}
	return gains, nil
}

// relevantQueries are the queries of d with a document whose gain is above 0.
// Labels that have no gain are an error.
func (p *parsed) relevantQueries(d *datasets.Dataset) ([]int, error) {
	gains, err := p.gains(d)
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
