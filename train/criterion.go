package train

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/plrank/plrank/internal/weightedsum"
	"github.com/plrank/plrank/metrics"
)

// A criterion tells which of two models is better: by a measure, or by a weighted sum of
// several, of which more is better.
type criterion struct {
	name  string
	terms []weightedMeasure
	sum   bool // else there is one term, of weight 1
}

// weightedMeasure is a measure and the factor before it.
type weightedMeasure struct {
	metrics.Measure
	weight float64
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
		return criterion{name: list[0].String(), terms: []weightedMeasure{{list[0], 1}}}, nil
	}
	if !sumPattern.MatchString(text) {
		return criterion{}, err
	}
	c := criterion{sum: true}
	err = weightedsum.Parse(text, "measure", func(weight float64, rest string) (length int, err error) {
		name := custom.next(rest)
		if name == "" {
			return 0, errors.New("want a measure, such as ndcg@5")
		}
		list, err := custom.named(name)
		if err != nil {
			return 0, err
		}
		t := weightedMeasure{list[0], weight}
		c.terms = append(c.terms, t)
		c.name += t.text(len(c.terms) == 1)
		return len(name), t.check()
	})
	if err != nil {
		return criterion{}, fmt.Errorf("train: the sum of metrics %q, %w", text, err)
	}
	return c, nil
}

// check is an error for a weight by which a worse value makes the sum better.
func (t weightedMeasure) check() error {
	switch {
	case t.LowerIsBetter() && !(t.weight < 0):
		return fmt.Errorf("less of %s is better, but more of a sum: want a weight below 0, such as -0.5*%[1]s", t.Measure)
	case !t.LowerIsBetter() && !(t.weight > 0):
		return fmt.Errorf("more of %s is better, and more of a sum: want a weight above 0, such as 0.5*%[1]s", t.Measure)
	}
	return nil
}

// text is the term as it stands in the name of a sum.
func (t weightedMeasure) text(first bool) string {
	factor := fmt.Sprintf("%+g*", t.weight)
	if math.Abs(t.weight) == 1 {
		factor = factor[:1]
	}
	if first {
		factor = strings.TrimPrefix(factor, "+")
	}
	return factor + t.Measure.String()
}

// LowerIsBetter tells whether a smaller value is a better one.
func (c criterion) LowerIsBetter() bool { return !c.sum && c.terms[0].LowerIsBetter() }

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

// measures are those of the terms.
func (c criterion) measures() []metrics.Measure {
	var list []metrics.Measure
	for _, t := range c.terms {
		list = append(list, t.Measure)
	}
	return list
}

// add completes values, which are of measures, by that of a sum, where all of its terms have one.
func (c criterion) add(values Values) Values {
	if !c.sum {
		return values
	}
	sum := 0.0
	for _, t := range c.terms {
		v, ok := values[t.Measure.String()]
		if !ok {
			return values
		}
		sum += t.weight * float64(v)
	}
	values[c.name] = Value(sum)
	return values
}

// ranking is the measure of a ranking alone that comes closest: dcg where there is none.
func (c criterion) ranking(dcg metrics.Measure) metrics.Measure {
	if m := c.terms[0].Ranking(); !c.sum && !m.OfPolicy() && !isLoss(m) {
		return m
	}
	return dcg
}
