package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// lossMeasure stands for the loss among measures, until lossValues binds it to data.
var lossMeasure = metrics.NewMeasure(LossMetric, true, nil)

func isLoss(m metrics.Measure) bool { return m.String() == LossMetric }

// customMeasures are Custom.Metrics. They can be named wherever a measure of package metrics can.
type customMeasures []metrics.Measure

// check looks that they have names, which no other measure has.
func (custom customMeasures) check() error {
	seen := map[string]bool{}
	for i, m := range custom {
		name := m.String()
		if name == "" {
			return fmt.Errorf("train: measure %d of Custom.Metrics has no name: make it by metrics.NewMeasure", i)
		}
		if _, err := metrics.ParseMeasure(name); err == nil || seen[name] || isLoss(m) || isShare(m) {
			return fmt.Errorf("train: there is another measure %q: want another name", name)
		}
		seen[name] = true
	}
	return nil
}

// named returns the measures of the given names: the loss, custom ones, or measures of package metrics.
func (custom customMeasures) named(names ...string) ([]metrics.Measure, error) {
	own := append(slices.Clip(custom), lossMeasure)
	list := make([]metrics.Measure, len(names))
	for i, name := range names {
		if at := slices.IndexFunc(own, func(m metrics.Measure) bool { return m.String() == name }); at >= 0 {
			list[i] = own[at]
			continue
		}
		var err error
		if list[i], err = metrics.ParseMeasure(name); err != nil {
			return nil, err
		}
	}
	return list, nil
}

var measurePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(-[A-Za-z][A-Za-z0-9]*)*(\([^()]*\))?(@\d+)?`)

// next returns the name that text begins with: the longest of a custom measure, or else what looks like a measure of
// package metrics.
func (custom customMeasures) next(text string) string {
	name := ""
	for _, m := range custom {
		if own := m.String(); len(own) > len(name) && strings.HasPrefix(text, own) {
			name = own
		}
	}
	return cmp.Or(name, measurePattern.FindString(text))
}

// reported lists what every evaluation reports: DCG and NDCG at the cutoff, NDCG at 10, the metrics
// of the objective and of the validation, and similarity where it is part of the loss, each of the ranking and expected; then
// fairness, where it is part of the loss; then the measure of the validation, what is asked for, and custom measures.
func reported(c *Config, metric criterion, loss *trainingLoss, custom customMeasures) (list []metrics.Measure, err error) {
	names := []string{c.Cutoff.metric("dcg"), "ndcg@5", "ndcg@10"}
	if name := loss.discounts.Metric; name != "" {
		names = append(names, name)
	}
	if slices.ContainsFunc(loss.terms, func(t losses.Term) bool { return t.Vectors }) {
		names = append(names, c.Cutoff.metric("ils"))
	}
	usual, err := custom.named(names...)
	if err != nil {
		return nil, err
	}
	for _, m := range metric.measures {
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
	for _, t := range loss.terms {
		if t.Measure != "" {
			fair, err := metrics.ParseMeasure(t.Measure)
			if err != nil {
				return nil, err
			}
			list = append(list, fair)
		}
	}
	asked, err := custom.named(c.Report...)
	if err != nil {
		return nil, fmt.Errorf("train: report: %w", err)
	}
	c.Report = nil // none is nil, and the caller's stay as they are
	for _, m := range asked {
		c.Report = append(c.Report, m.String())
	}
	list = slices.Concat(list, metric.measures, asked, custom)
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(m metrics.Measure) bool {
		again := seen[m.String()]
		seen[m.String()] = true
		return again
	}), nil
}

// A criterion tells which of two models is better: by a measure, or by a weighted sum of
// several, where higher is better.
type criterion struct {
	name     string
	measures []metrics.Measure
	weights  []float64 // of the measures in a sum; nil: it is one measure
}

// sumPattern is what no name of a measure has.
var sumPattern = regexp.MustCompile(`^[-+]|[+*]|\s-|@\d+-`)

// parseCriterion reads what [Config.Metric] says: a measure, or a sum such as
// expected-ndcg@5-10*disparity. A higher sum is better, so that measures where less is better need
// a weight below 0, and all others one above.
func parseCriterion(text string, custom customMeasures) (criterion, error) {
	text = strings.TrimSpace(text)
	list, err := custom.named(text)
	if err == nil {
		return criterion{name: list[0].String(), measures: list}, nil
	}
	if !sumPattern.MatchString(text) {
		return criterion{}, err
	}
	c := criterion{}
	err = names.ParseSum(text, "measure", func(weight float64, rest string) (length int, err error) {
		name := custom.next(rest)
		if name == "" {
			return 0, errors.New("want a measure, such as ndcg@5")
		}
		list, err := custom.named(name)
		if err != nil {
			return 0, err
		}
		m := list[0]
		c.name += termOf(weight, m, c.measures == nil)
		c.measures, c.weights = append(c.measures, m), append(c.weights, weight)
		switch lower := m.LowerIsBetter(); {
		case lower && !(weight < 0):
			return 0, fmt.Errorf("less of %s is better, but more of a sum: want a weight below 0, such as -0.5*%[1]s", m)
		case !lower && !(weight > 0):
			return 0, fmt.Errorf("more of %s is better, and more of a sum: want a weight above 0, such as 0.5*%[1]s", m)
		}
		return len(name), nil
	})
	if err != nil {
		return criterion{}, fmt.Errorf("train: the sum of metrics %q, %w", text, err)
	}
	return c, nil
}

// termOf is a term as it stands in the name of a sum.
func termOf(weight float64, m metrics.Measure, first bool) string {
	factor := fmt.Sprintf("%+g*", weight)
	if math.Abs(weight) == 1 {
		factor = factor[:1]
	}
	if first {
		factor = strings.TrimPrefix(factor, "+")
	}
	return factor + m.String()
}

// LowerIsBetter reports whether a lower value is better.
func (c criterion) LowerIsBetter() bool { return c.weights == nil && c.measures[0].LowerIsBetter() }

// Better reports whether a is better than b. A value that is not finite is worse than all others.
func (c criterion) Better(a, b float64) bool {
	switch {
	case !finite(a):
		return false
	case !finite(b):
		return true
	case c.LowerIsBetter():
		return a < b
	}
	return a > b
}

// Better reports whether a is a better value of c.Metric than b. A value that is not finite is worse than all others. Of
// a custom metric, or a name that is not known, higher is better.
func (c Config) Better(a, b float64) bool {
	metric, err := parseCriterion(c.Metric, nil)
	if err != nil {
		metric = criterion{weights: []float64{1}}
	}
	return metric.Better(a, b)
}

// add adds the value of a sum to values of measures, if all of its terms have one.
func (c criterion) add(values Values) Values {
	if c.weights == nil {
		return values
	}
	sum := 0.0
	for i, m := range c.measures {
		v, ok := values[m.String()]
		if !ok {
			return values
		}
		sum += c.weights[i] * float64(v)
	}
	values[c.name] = Value(sum)
	return values
}

// ranking is the measure of a ranking alone that comes closest: dcg where there is none.
func (c criterion) ranking(dcg metrics.Measure) metrics.Measure {
	if m := c.measures[0].Ranking(); c.weights == nil && !m.OfPolicy() && !isLoss(m) {
		return m
	}
	return dcg
}
