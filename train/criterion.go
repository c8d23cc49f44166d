package train

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/metrics"
)

// A criterion tells which of two models is better: by a measure, or by a weighted sum of
// several, of which more is better.
type criterion struct {
	name     string
	measures []metrics.Measure
	weights  []float64 // of the measures in a sum; nil: it is one measure
}

// sumPattern is what no name of a measure has.
var sumPattern = regexp.MustCompile(`^[-+]|[+*]|\s-|@\d+-`)

// parseCriterion reads what [Config.Metric] says: a measure, or a sum such as
// expected-ndcg@5-10*disparity. More of a sum is better, so that its measures of which less is
// better need a weight below 0, and all others one above.
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

// LowerIsBetter tells whether a smaller value is a better one.
func (c criterion) LowerIsBetter() bool { return c.weights == nil && c.measures[0].LowerIsBetter() }

// Better tells whether a is a better value than b. One that is not finite never is, and is
// worse than all others.
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

// add completes values, which are of measures, by that of a sum, where all of its terms have one.
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
