package metrics

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/plackett"
)

// exactly is the exact expectation of the metric under the policy, nil if it is not known.
func (m metric) exactly() expectation {
	switch f := m.family; {
	case f.expected != nil && (m.cutoff == 0 || !f.expectedUncut):
		return f.expected
	case f.walk == nil:
		return expectedSum
	}
	return nil
}

// expectedSum is the expectation of base + Σ_k w_k v(y_k) / norm.
func expectedSum(e *evaluator, w *worker, q query) (float64, error) {
	if floats.Norm(e.values, math.Inf(1)) == 0 {
		return e.base, nil
	}
	x := w.expectedWeights(e.weighting())
	documents, err := x.of(q, func(out []float64) error { return x.Exposure(q.scores, e.weights, out) })
	if err != nil {
		return 0, err
	}
	return e.base + floats.Dot(e.values, documents)/e.norm, nil
}

// expectedFirst is the expected weight of the rank of the first relevant document. The
// first of them to be ranked is like a single document with the sum of their weights exp m,
// the rates at which they arrive (see plackett.Expectation).
func expectedFirst(e *evaluator, w *worker, q query) (float64, error) {
	compact := make([]float64, len(q.scores))
	plackett.Compact(q.scores, compact)
	var relevant, list []float64
	for d, score := range compact {
		if e.values[d] > 0 {
			relevant = append(relevant, score)
		} else {
			list = append(list, score)
		}
	}
	list = append(list, floats.LogSumExp(relevant))
	weights, expected := e.weights[:min(len(e.weights), len(list))], compact[:len(list)]
	err := w.expectedWeights(e.weighting()).Exposure(list, weights, expected)
	return expected[len(list)-1], err
}

// expectedPairs is the mean over pairs of the probability of the right order, the sigmoid of
// the difference of the scores.
func expectedPairs(e *evaluator, _ *worker, q query) (float64, error) {
	sum := 0.0
	for i, score := range q.scores {
		for j, other := range q.scores {
			if e.values[i] > e.values[j] {
				sum += 1 / (1 + math.Exp(other-score))
			}
		}
	}
	return sum / e.norm, nil
}
