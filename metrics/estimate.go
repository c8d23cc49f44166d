package metrics

import (
	"fmt"
	"math"
)

// Estimate is the values of a measure, query by query, with their standard errors.
type Estimate struct {
	PerQuery []float64 // NaN where the measure is not defined
	// StdErr is the standard error of PerQuery as an estimate of the exact expectation,
	// from the spread of the samples: 0 for a value that is not sampled, +Inf for one that
	// is estimated from a single sample, NaN where PerQuery is.
	StdErr []float64
}

// Summary is the mean of a measure over queries.
type Summary struct {
	Mean   float64 // NaN if no query counts
	StdErr float64 // from the sampling of rankings, 0 for an exact measure; the variation between queries is not in it
}

// Mean is the mean over queries, of which those that are NaN count as l says.
func (e Estimate) Mean(l LabelFree) Summary {
	m, _ := e.mean(nil, l) // without weights there is no error
	return m
}

// mean takes weights of the queries; nil: equal ones.
func (e Estimate) mean(weights []float32, l LabelFree) (Summary, error) {
	if weights != nil && len(weights) != len(e.PerQuery) {
		return Summary{}, fmt.Errorf("metrics: %d query weights for %d queries", len(weights), len(e.PerQuery))
	}
	sum, all, variance := 0.0, 0.0, 0.0
	for q, v := range e.PerQuery {
		w := 1.0
		if weights != nil {
			w = float64(weights[q])
		}
		if !(w >= 0) || math.IsInf(w, 0) {
			return Summary{}, fmt.Errorf("metrics: query %d: weight %v: it must be 0 or more, and finite", q, w)
		}
		v, counts := l.counted(v)
		if !counts {
			continue
		}
		sum += w * v
		all += w
		if s := e.StdErr[q]; !math.IsNaN(s) {
			variance += w * w * s * s
		}
	}
	return Summary{sum / all, math.Sqrt(variance) / all}, nil
}

// Mean is the mean over queries, of which those that are NaN count as l says. It is NaN if
// no query counts.
func Mean(perQuery []float64, l LabelFree) float64 {
	return Estimate{perQuery, make([]float64, len(perQuery))}.Mean(l).Mean
}
