package metrics

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Linear holds a measure as a linear function of the values that labels have in it, such as gains: with other values v' of a query's
// documents it is PerQuery + Σ_d Weights_d (v'_d − Values_d), exactly or to first order.
type Linear struct {
	PerQuery []float64 // [queries] the measure by the labels; 0 where they have no relevant document
	Weights  []float64 // [rows] the derivative in the value of the document
	Values   []float64 // [rows] of the labels
	Exposure []float64 // [rows] the weight of the rank of the document, or its expectation; 0: it is not shown
	Exact    bool      // the measure is linear; else its divisor depends on the values, as of NDCG
}

// linearNames are the metrics that Linearize takes.
var linearNames = []string{"dcg", "ndcg", "precision", "recall", "rbp", "graded-rbp"}

// Linearize returns the measure as a function of the values of labels, for dcg, precision, rbp and graded-rbp exactly, and for ndcg and
// recall to first order, and for their expectations under the policy, by exact exposures. Documents that are Queries.Unranked are not
// in the policy. A query whose labels have no relevant document has the divisor of a query with one document of value 1. Linearize
// returns an error for other measures, and the errors of [Measure.PerQuery].
func (m Measure) Linearize(in Queries) (Linear, error) {
	f := m.metric.family
	if f == nil || !slices.Contains(linearNames, f.name) || in.LabelFree == LETOR4 && f.letor4 != nil {
		return Linear{}, fmt.Errorf("metrics: %s is not a sum over documents: want one of %v, or an expectation of one", m, linearNames)
	}
	if err := in.check(); err != nil {
		return Linear{}, err
	}
	offsets := in.offsets()
	rows := len(in.Labels)
	l := Linear{make([]float64, len(offsets)-1), make([]float64, rows), make([]float64, rows), make([]float64, rows), f.slope == nil}
	err := in.visitQueries(func() func(q query) error {
		e, w := newEvaluator(m.metric, in), newWorker(in)
		return func(q query) error { return m.linearize(e, w, q, &l) }
	})
	return l, err
}

func (m Measure) linearize(e *evaluator, w *worker, q query, l *Linear) error {
	defined, err := e.prepare(q)
	if err != nil {
		return err
	}
	end := q.first + len(q.labels)
	weights, exposure := l.Weights[q.first:end], l.Exposure[q.first:end]
	copy(l.Values[q.first:], e.values)
	if !defined {
		e.norm = 1
		if m.metric.family.name == "ndcg" {
			e.norm = dcgWeight(1, 0)
		}
	}
	if err := m.exposures(e, w, q, exposure); err != nil {
		return err
	}
	copy(weights, exposure)
	value := floats.Dot(exposure, e.values) / e.norm
	if slope := m.metric.family.slope; slope != nil && defined {
		slopes := make([]float64, len(weights))
		slope(e, slopes)
		floats.AddScaled(weights, -value, slopes)
	}
	floats.Scale(1/e.norm, weights)
	l.PerQuery[q.number] = value
	return nil
}

// exposures writes the weight that the rank of every document has, or its expectation.
func (m Measure) exposures(e *evaluator, w *worker, q query, out []float64) error {
	if m.expected {
		var ranked []int
		var scores []float64
		for d, score := range q.scores {
			if score-score == 0 { // not −Inf: unranked
				ranked, scores = append(ranked, d), append(scores, score)
			}
		}
		exposures := make([]float64, len(ranked))
		err := w.expectedWeights(e.weighting).Exposure(scores, e.discounts(), exposures)
		for i, d := range ranked {
			out[d] = exposures[i]
		}
		return err
	}
	w.order.rank(q.scores, e.depth(), w.Ties)
	e.spread(&w.order, out)
	return nil
}

// spread writes the weight of every document's rank, if it has one. Documents of a block share the mean of its weights.
func (e *evaluator) spread(r *ranking, out []float64) {
	for first, block := range r.blocks() {
		weight := floats.Sum(e.weights[min(first, len(e.weights)):min(first+len(block), len(e.weights))])
		for _, d := range block {
			out[d] = weight / float64(len(block))
		}
	}
}

// idealSlope is one of the derivatives where documents of equal value share ranks: the one that treats them alike.
func idealSlope(e *evaluator, out []float64) {
	e.best.rank(e.values, e.depth(), TiesRandom)
	e.spread(&e.best, out)
}

func sumSlope(_ *evaluator, out []float64) {
	for d := range out {
		out[d] = 1
	}
}
