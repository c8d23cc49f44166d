package metrics

import (
	"fmt"
	"math"
)

// Estimate is a measure of every query, and how exactly it is known.
type Estimate struct {
	PerQuery []float64 // NaN where the measure is not defined
	// StdErr is the standard error of PerQuery as an estimate of the exact
	// expectation, from the spread of the samples: 0 for what is not sampled. With one
	// sample it is not known, +Inf. NaN where PerQuery is.
	StdErr []float64
}

// Mean is the mean over queries under the convention for those that are NaN.
func (e Estimate) Mean(c Convention) Summary {
	m, _ := e.mean(nil, c) // without weights nothing can be wrong
	return m
}

// mean has weights of the queries, nil: equal ones.
func (e Estimate) mean(weights []float32, c Convention) (Summary, error) {
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
		v, counts := c.counted(v)
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

// expected is the expectation of a metric under the Plackett–Luce policy of the
// scores, E_y[metric(y)]: exactly where it is known, of the others from rankings that it
// draws. Over given rankings it is
// the plain mean; they must be as long as the metric looks, except where the list is
// shorter.
func (in Input) expected(m metric) (Estimate, error) {
	if in.Rankings != nil {
		given, err := in.rankings()
		if err != nil {
			return Estimate{}, err
		}
		return in.average(m, given.read)
	}
	exactly := m.expectation()
	if exactly == nil {
		draws, err := in.Policy.draws()
		if err != nil {
			return Estimate{}, err
		}
		return in.average(m, draws.of)
	}
	placed := in.placements(m)
	return in.estimate(m, func(e *evaluator, q query) (value, stdErr float64, err error) {
		low, high := e.bounds()
		value, err = exactly(e, placed, q)
		return max(low, min(value, high)), 0, err
	})
}

// average is the mean over the rankings of every query that of gives.
func (in Input) average(m metric, of func(q query, depth int) ([]int, error)) (Estimate, error) {
	return in.estimate(m, func(e *evaluator, q query) (mean, stdErr float64, err error) {
		rankings, err := of(q, e.depth())
		if err != nil {
			return 0, 0, err
		}
		mean, stdErr = e.average(rankings)
		return mean, stdErr, nil
	})
}

// estimate collects the estimates of the queries for which the metric is defined.
func (in Input) estimate(m metric, of func(e *evaluator, q query) (mean, stdErr float64, err error)) (Estimate, error) {
	var all Estimate
	var order ranking
	err := in.prepared(m, func(e *evaluator, q query) (err error) {
		mean, stdErr := math.NaN(), math.NaN()
		switch {
		case !q.defined:
		case len(q.scores) < 2: // there is one ranking
			order.rank(q.scores, e.depth(), TiesOrder)
			mean, stdErr = e.value(&order), 0
		default:
			mean, stdErr, err = of(e, q)
		}
		all.PerQuery = append(all.PerQuery, mean)
		all.StdErr = append(all.StdErr, stdErr)
		return err
	})
	if err != nil {
		return Estimate{}, err
	}
	return all, nil
}

// average is the mean of the metric over rankings of the query's documents, numbered
// from 0, one ranking after another, and its standard error.
func (e *evaluator) average(rankings []int) (mean, stdErr float64) {
	var over moments
	for depth := e.depth(); len(rankings) > 0; rankings = rankings[depth:] {
		over.add(e.value(&ranking{documents: rankings[:depth]}))
	}
	return over.mean, over.stdErr()
}

// moments are the mean and the spread of values.
type moments struct{ count, mean, squares float64 } // squares: Σ (value − mean)²

func (m *moments) add(value float64) {
	m.count++
	change := value - m.mean
	m.mean += change / m.count
	m.squares += change * (value - m.mean)
}

// stdErr is the standard error of the mean, +Inf where one value does not show it.
func (m *moments) stdErr() float64 {
	if m.count < 2 {
		return math.Inf(1)
	}
	return math.Sqrt(m.squares / (m.count - 1) / m.count)
}
