package clicks

import (
	"errors"
	"fmt"
	"hash/fnv"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/metrics"
)

// mostUnits is how many units are resampled one by one.
const mostUnits = 10000

// addImpression adds the values of an impression to the sums.
func (e *Evaluation) addImpression(im *Impression, p *part, i int) {
	unit := e.unit(im)
	e.impressions++
	e.ranks += len(im.Shown)
	if unit == len(e.counts) {
		e.counts = append(e.counts, 0)
	}
	e.counts[unit]++
	for j := range e.terms {
		e.terms[j].value.add(unit, p.values[j][i])
		e.terms[j].reference.add(unit, p.references[j][i])
	}
}

// unit is the number of the unit of an impression, which may be the next one. When there are
// mostUnits, others join them.
func (e *Evaluation) unit(im *Impression) int {
	if e.Unit == nil {
		return e.impressions % mostUnits
	}
	name := e.Target.Unit(im)
	number, ok := e.units[name]
	switch {
	case ok:
		return number
	case len(e.units) < mostUnits:
		e.units[name] = len(e.units)
		return len(e.units) - 1
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	return int(h.Sum64() % mostUnits)
}

// Estimates are those of all impressions until now, of which there must be one.
func (e *Evaluation) Estimates() ([]Estimate, error) {
	if e.impressions == 0 {
		return nil, errors.New("clicks: no impressions to evaluate on")
	}
	all := make([]Estimate, len(e.terms))
	ranks := float64(e.ranks) / float64(e.impressions)
	for j, m := range e.terms {
		interval, err := e.interval(m.value)
		if err != nil {
			return nil, err
		}
		all[j] = Estimate{Estimator: m.given, Value: interval.Mean, Low: interval.Low, High: interval.High, Impressions: e.impressions, Units: len(e.counts),
			EffectiveSize: m.weights.effectiveSize(ranks), LargestWeight: m.weights.largest}
		all[j].Caution = m.caution(all[j].EffectiveSize, e.impressions)
		if e.Baseline == nil {
			continue
		}
		all[j].BaselineSize = m.referenceWeights.effectiveSize(ranks)
		all[j].Caution = m.caution(min(all[j].EffectiveSize, all[j].BaselineSize), e.impressions)
		difference := sums{total: m.value.total - m.reference.total, byUnit: floats.SubTo(make([]float64, len(e.counts)), m.value.byUnit, m.reference.byUnit)}
		if all[j].Difference, err = e.interval(difference); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// caution is that of an estimate with such an effective size. Where weights are nearly even, a small one says no more
// than that the log is short.
func (m *term) caution(size float64, impressions int) string {
	if size >= m.leastSize || size >= float64(impressions)/2 {
		return ""
	}
	return fmt.Sprintf("few large weights decide: of an effective size of %.1f in %d impressions, below %v, intervals have the true value less often than they say, and mostly end below it", size, impressions, m.leastSize)
}

// interval is the mean of values over the impressions, with the interval of resampling
// units. That is a ratio of sums over units, and its value for a resample is taken to first
// order: with n_u impressions and the sum S_u in unit u, unit u counts as
// mean + (S_u − n_u·mean)/mean(n).
func (e *Evaluation) interval(s sums) (metrics.Interval, error) {
	mean := s.total / float64(e.impressions)
	perUnit := float64(e.impressions) / float64(len(e.counts))
	units := make([]float64, len(e.counts))
	for u, sum := range s.byUnit {
		units[u] = mean + (sum-e.counts[u]*mean)/perUnit
	}
	interval, err := e.Bootstrap.MeanInterval(units)
	interval.Mean = mean
	return interval, err
}
