package metrics

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// exactly is the exact expectation of the metric under the policy, nil if it is not known.
func (m metric) exactly() expectation {
	switch f := m.family; {
	case f.expected != nil && (m.cutoff == 0 || !f.expectedUncut):
		return f.expected
	case f.walk == nil:
		return (*evaluator).expectedSum
	}
	return nil
}

// expectedSum is the expectation of base + Σ_k w_k v(y_k) / norm.
func (e *evaluator) expectedSum(p *expectedWeights, q query) (float64, error) {
	if floats.Norm(e.values, math.Inf(1)) == 0 {
		return e.base, nil
	}
	rows := p.rows[q.first : q.first+len(q.scores)]
	if math.IsNaN(rows[0]) {
		if err := p.expectation.Exposure(q.scores, e.weights, rows); err != nil {
			return 0, err
		}
	}
	return e.base + floats.Dot(e.values, rows)/e.norm, nil
}

// expected is the expectation of a metric under the Plackett–Luce policy of the scores,
// E_y[metric(y)]: exact where its form is known, else from rankings that it draws. Over
// given rankings it is the plain mean; they must reach down to the last rank that counts,
// or to the end of a shorter list.
func (in Input) expected(m metric, s *shared) (Estimate, error) {
	if in.Rankings != nil {
		given, err := in.rankings()
		if err != nil {
			return Estimate{}, err
		}
		return in.average(m, given.of)
	}
	exactly := m.exactly()
	if exactly == nil {
		draws, err := in.Policy.draws()
		if err != nil {
			return Estimate{}, err
		}
		return in.average(m, draws.of)
	}
	weights := s.expectedWeights(m.weighting(), len(in.Labels))
	return in.estimate(m, func(e *evaluator, q query) (value, stdErr float64, err error) {
		low, high := e.bounds() // which rounding and the quadrature may leave
		value, err = exactly(e, weights, q)
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
	err := in.prepared(m, func(e *evaluator, q query, defined bool) (err error) {
		mean, stdErr := math.NaN(), math.NaN()
		switch {
		case !defined:
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
