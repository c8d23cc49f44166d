package train

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/plrank/plrank/metrics"
)

// lossMeasure stands for the loss among measures, until lossValues says of which data.
var lossMeasure = metrics.NewMeasure(LossMetric, true, nil)

func isLoss(m metrics.Measure) bool { return m.String() == LossMetric }

// customMeasures are those of Parts.Metrics, which may be named like those of package metrics.
type customMeasures []metrics.Measure

// check looks that they have names, which no other measure has.
func (custom customMeasures) check() error {
	seen := map[string]bool{}
	for i, m := range custom {
		name := m.String()
		if name == "" {
			return fmt.Errorf("train: measure %d of Parts.Metrics has no name: make it by metrics.NewMeasure", i)
		}
		if _, err := metrics.ParseMeasure(name); err == nil || seen[name] || isLoss(m) {
			return fmt.Errorf("train: there is another measure %q: want another name", name)
		}
		seen[name] = true
	}
	return nil
}

// named are the measures of the given names: the loss, custom ones, or those of package metrics.
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

// next is the name that text begins with: that of a custom measure, the longest, or what looks
// like one of package metrics.
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
// of the objective and of the validation, each of the ranking and expected; then fairness, where it
// is part of the loss; then the measure of the validation, what is asked for, and custom measures.
func reported(c *Config, metric criterion, loss *trainingLoss, custom customMeasures) (list []metrics.Measure, err error) {
	names := []string{c.Cutoff.of("dcg"), "ndcg@5", "ndcg@10"}
	if of := loss.discounts.Metric; of != "" {
		names = append(names, of)
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
	asked, err := custom.named(c.Report...)
	if err != nil {
		return nil, fmt.Errorf("train: report: %w", err)
	}
	c.Report = nil // none is nil, and the caller's stay as they are
	for _, m := range asked {
		c.Report = append(c.Report, m.String())
	}
	var fairness []string
	for _, t := range loss.terms {
		if t.Measure != "" {
			fairness = append(fairness, t.Measure)
		}
	}
	fair, err := custom.named(fairness...)
	if err != nil {
		return nil, err
	}
	list = slices.Concat(list, fair, metric.measures, asked, custom)
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(m metrics.Measure) bool {
		again := seen[m.String()]
		seen[m.String()] = true
		return again
	}), nil
}
