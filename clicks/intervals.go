package clicks

import (
	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/metrics"
)

// mostUnits is how many units are resampled one by one.
const mostUnits = 10000

// estimates are the means over the impressions, with their intervals.
func (e *evaluation) estimates() ([]Estimate, error) {
	units, counts := e.units()
	all := make([]Estimate, len(e.terms))
	ranks := 0.0
	for i := range e.Impressions {
		ranks += float64(len(e.Impressions[i].Shown))
	}
	n := float64(len(e.Impressions))
	for j, m := range e.terms {
		interval, err := e.interval(m.value, units, counts)
		if err != nil {
			return nil, err
		}
		all[j] = Estimate{Estimator: m.given, Value: interval.Mean, Low: interval.Low, High: interval.High, Impressions: len(e.Impressions)}
		var sums weightSums
		for i := j; i < len(e.weights); i += len(e.terms) {
			w := e.weights[i]
			sums = weightSums{sums.sum + w.sum, sums.squares + w.squares, max(sums.largest, w.largest)}
		}
		all[j].LargestWeight = sums.largest
		if sums.squares > 0 {
			all[j].EffectiveSize = sums.sum / sums.squares * sums.sum / (ranks / n)
		}
		if m.reference == nil {
			continue
		}
		floats.Sub(m.value, m.reference)
		if all[j].Difference, err = e.interval(m.value, units, counts); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// units numbers the units of the impressions, and counts the impressions of each.
func (e *evaluation) units() (of []int, counts []float64) {
	of = make([]int, len(e.Impressions))
	numbers := make(map[string]int)
	for i := range e.Impressions {
		unit := i
		if e.Unit != nil {
			name := e.Unit(&e.Impressions[i])
			number, ok := numbers[name]
			if !ok {
				number = len(numbers)
				numbers[name] = number
			}
			unit = number
		}
		of[i] = unit % mostUnits
		if of[i] == len(counts) {
			counts = append(counts, 0)
		}
		counts[of[i]]++
	}
	return of, counts
}

// interval is the mean of values over the impressions, with the interval of resampling
// units. That is a ratio of sums over units, and its value for a resample is taken to first
// order: with n_u impressions and the sum S_u in unit u, unit u counts as
// mean + (S_u − n_u·mean)/mean(n).
func (e *evaluation) interval(values []float64, of []int, counts []float64) (metrics.Interval, error) {
	mean := floats.Sum(values) / float64(len(values))
	sums := make([]float64, len(counts))
	for i, v := range values {
		sums[of[i]] += v
	}
	perUnit := float64(len(values)) / float64(len(counts))
	for u := range sums {
		sums[u] = mean + (sums[u]-counts[u]*mean)/perUnit
	}
	interval, err := e.Bootstrap.MeanInterval(sums)
	interval.Mean = mean
	return interval, err
}
