package train

import (
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
	var list []metrics.Measure
	for _, name := range names {
		if name == LossMetric {
			list = append(list, lossMeasure)
			continue
		}
		i := slices.IndexFunc(custom, func(m metrics.Measure) bool { return m.String() == name })
		if i >= 0 {
			list = append(list, custom[i])
			continue
		}
		m, err := metrics.ParseMeasure(name)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
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
	if name != "" {
		return name
	}
	return measurePattern.FindString(text)
}
