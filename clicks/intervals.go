package clicks

import (
	"errors"
	"fmt"
	"hash/fnv"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/metrics"
)

// mostUnits is the number of units that are resampled one by one.
const mostUnits = 10000

// addImpression adds the values of an impression, one for each term, to the sums.
func (e *Evaluation) addImpression(im *Impression, values []float64) {
	unit := e.unit(im)
	e.impressions++
	e.ranks += len(im.Shown)
	next := unit == len(e.counts)
	if next {
		e.counts = append(e.counts, 0)
	}
	e.counts[unit]++
	for j, v := range values {
		m := &e.terms[j]
		if next {
			m.byUnit = append(m.byUnit, 0)
		}
		m.byUnit[unit] += v
		m.total += v
	}
}

// unit returns the number of the unit of an impression, which may be the next one. Beyond
// mostUnits, units are merged by a hash.
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

// Estimates returns the estimates from all impressions added so far. It returns an error if there are none.
func (e *Evaluation) Estimates() ([]Estimate, error) {
	if e.impressions == 0 {
		return nil, errors.New("clicks: no impressions to evaluate on")
	}
	var all []Estimate
	ranks := float64(e.ranks) / float64(e.impressions)
	for j, m := range e.terms {
		size := m.weights.effectiveSize(ranks)
		if m.policy == baseline { // after the target
			target, last := e.terms[j-1], &all[len(all)-1]
			last.BaselineSize = size
			last.Caution = m.caution(min(last.EffectiveSize, size), e.impressions)
			var err error
			if last.Difference, err = e.interval(target.total-m.total, floats.SubTo(make([]float64, len(m.byUnit)), target.byUnit,
				m.byUnit), max(target.weights.widening(), m.weights.widening())); err != nil {
				return nil, err
			}
			continue
		}
		interval, err := e.interval(m.total, m.byUnit, m.weights.widening())
		if err != nil {
			return nil, err
		}
		all = append(all, Estimate{Estimator: m.given, Value: interval.Mean, Low: interval.Low, High: interval.High, Impressions: e.impressions,
			Units:         len(e.counts),
			EffectiveSize: size, LargestWeight: m.weights.largest, Caution: m.caution(size, e.impressions)})
	}
	return all, nil
}

// caution returns the caution for an estimate with this effective sample size. If weights are nearly even, a small size
// only says that the log is short.
func (m *term) caution(size float64, impressions int) string {
	if size >= m.leastSize || size >= float64(impressions)/2 {
		return ""
	}
	return fmt.Sprintf("few large weights decide: the effective sample size of %.1f, from %d impressions, is below %v, so the intervals "+
		"contain the true value less often than their level says, and mostly end below it", size, impressions, m.leastSize)
}

// interval returns the mean of values over the impressions, with a bootstrap interval over
// units. The mean is a ratio of sums over units. Its value for a resample is linearised: with
// n_u impressions and the sum S_u in unit u, unit u counts as mean + w (S_u − n_u·mean)/mean(n), with w the widening.
func (e *Evaluation) interval(total float64, byUnit []float64, widening float64) (metrics.Interval, error) {
	mean := total / float64(e.impressions)
	perUnit := float64(e.impressions) / float64(len(e.counts))
	units := make([]float64, len(e.counts))
	for u, sum := range byUnit {
		units[u] = mean + widening*(sum-e.counts[u]*mean)/perUnit
	}
	interval, err := e.Bootstrap.MeanInterval(units)
	interval.Mean = mean
	return interval, err
}
