package metrics

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett"
)

// worker computes measures of one query after another, and keeps intermediate results.
type worker struct {
	Queries
	order   ranking // by descending score
	weights map[string]*expectedWeights
}

func newWorker(in Queries) *worker {
	return &worker{Queries: in, weights: map[string]*expectedWeights{}}
}

// tolerance of expectations, relative to their scale: ten digits.
const tolerance = 1e-10

// expectedWeights returns the expectedWeights kept by that name.
func (w *worker) expectedWeights(weighting string) *expectedWeights {
	if w.weights[weighting] == nil {
		w.weights[weighting] = &expectedWeights{Expectation: plackett.Expectation{Tolerance: tolerance}, query: -1}
	}
	return w.weights[weighting]
}

// expectedWeights holds the expected weight of the rank of every document of a query,
// Σ_k w_k P(rank of d = k). The expectation of a weighted sum follows from it for any values
// of the documents.
type expectedWeights struct {
	plackett.Expectation // keeps what it finds out about the weights
	query                int
	documents            []float64
}

// forQuery returns the expected weights of a query, computed once for all measures.
func (x *expectedWeights) forQuery(q query, compute func(out []float64) error) ([]float64, error) {
	if x.query == q.number {
		return x.documents, nil
	}
	x.query, x.documents = q.number, num.Sized(x.documents, len(q.scores))
	return x.documents, compute(x.documents)
}

// exposure returns the expected exposure of a query's documents: as given, or by the scores.
func (w *worker) exposure(q query) ([]float64, error) {
	if w.Exposure != nil {
		return w.Exposure[q.first : q.first+len(q.labels)], nil
	}
	x := w.expectedWeights("exposure")
	return x.forQuery(q, func(out []float64) error { return x.Expectation.Exposure(q.scores, w.Discounts, out) })
}

// expectedSum returns the expectation of base + Σ_k w_k v(y_k) / norm.
func expectedSum(e *evaluator, w *worker, q query) (float64, error) {
	if floats.Norm(e.values, math.Inf(1)) == 0 {
		return e.base, nil
	}
	x := w.expectedWeights(e.weighting)
	documents, err := x.forQuery(q, func(out []float64) error { return x.Exposure(q.scores, e.discounts(), out) })
	if err != nil {
		return 0, err
	}
	return e.base + floats.Dot(e.values, documents)/e.norm, nil
}

// deviationOfFirst returns the standard deviation of the weight of the rank of the first relevant document.
func deviationOfFirst(e *evaluator, w *worker, q query) (float64, error) {
	_, deviation, err := w.expectedWeights(e.weighting).Deviation(q.scores, e.values, e.discounts(), nil)
	return deviation, err
}

// expectedAP returns expected average precision.
func expectedAP(e *evaluator, w *worker, q query) (float64, error) {
	value, err := w.expectedWeights(e.weighting).AveragePrecision(q.scores, e.values, e.cutoff, nil)
	if e.cutoff > 0 { // it is divided by all relevant documents, and map by those that the ranks have room for
		value *= max(1, floats.Sum(e.values)/float64(e.cutoff))
	}
	return value, err
}

// expectedStop returns the expected weight of the rank at which a reader stops, who does at each document with the probability of
// its value: ERR, and of relevant documents MRR and hits.
func expectedStop(e *evaluator, w *worker, q query) (float64, error) {
	return e.expectedCascade(e.values, w, q)
}

// expectedIntents returns the expectation of walkIntents.
func expectedIntents(e *evaluator, w *worker, q query) (float64, error) {
	sum := 0.0
	for stop := range e.eachIntent() {
		v, err := e.expectedCascade(stop, w, q)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum / e.param / e.norm, nil
}

// expectedCascade returns the expectation of cascade.
func (e *evaluator) expectedCascade(stop []float64, w *worker, q query) (float64, error) {
	e.scratch = e.scratch[:0]
	for _, p := range stop {
		e.scratch = append(e.scratch, 1-p)
	}
	return w.expectedWeights(e.weighting).Cascade(q.scores, stop, e.scratch, e.discounts(), nil)
}

// expectedPairs returns the expected share of pairs in the right order.
func expectedPairs(e *evaluator, w *worker, q query) (float64, error) {
	return w.expectedWeights(e.weighting).PairAccuracy(q.scores, e.values, e.cutoff, nil)
}
