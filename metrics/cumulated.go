package metrics

import (
	"math"
	"slices"
)

// The metrics of this file are sums of discounted gains.

var letor4NDCG = &family{name: "letor4-ndcg", prepare: prepareLETOR4NDCG}

func prepareDCG(e *evaluator, labels []float32) (bool, error) {
	n := e.metric.depth(len(labels))
	if n > len(e.theta) {
		e.theta = Discounts(n)
	}
	e.weights = e.theta[:n]
	return true, e.setValues(labels, e.gain.Of)
}

func prepareNDCG(e *evaluator, labels []float32) (bool, error) {
	if _, err := prepareDCG(e, labels); err != nil {
		return false, err
	}
	e.norm = e.sum(e.ideal())
	return e.norm > 0, nil
}

func prepareLETOR4NDCG(e *evaluator, labels []float32) (bool, error) {
	if err := e.setValues(labels, e.gain.Of); err != nil {
		return false, err
	}
	e.setWeights(len(labels), letor4Discount)
	e.norm = e.sum(e.ideal())
	defined := e.norm > 0
	if len(labels) < e.metric.cutoff {
		e.norm = math.Inf(1)
	}
	return defined, nil
}

// prepareLETOR4MeanNDCG writes the mean as one sum over ranks, in which rank r
// counts θ_r Σ_{k≥r} 1/(ideal DCG@k) / (number of cutoffs).
func prepareLETOR4MeanNDCG(e *evaluator, labels []float32) (bool, error) {
	defined, err := prepareLETOR4NDCG(e, labels)
	if err != nil || !defined {
		return false, err
	}
	best := e.ideal()
	e.norm = float64(len(best.documents))
	ideal, below := e.sum(best), 0.0
	for k, d := range slices.Backward(best.documents) {
		last := e.weights[k] * e.values[d]
		below += 1 / ideal
		e.weights[k] *= below
		ideal -= last
	}
	return true, nil
}
