package metrics

import (
	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/intents"
)

// takeVectors sets the vectors of the documents. Without two ranks there are no pairs, and the metric is not defined.
func takeVectors(e *evaluator) (bool, error) {
	e.vectors, e.dimension = intents.Vectors(e.groups, e.intents, len(e.values))
	n := float64(e.depth())
	e.norm = n * (n - 1) / 2
	return n > 1, nil
}

// similarity returns the sum of the products of the vectors of two documents that are shown, and the number of pairs.
func (e *evaluator) similarity(r *ranking) (sum, pairs float64) {
	shown := min(e.depth(), len(r.documents))
	above, own := make([]float64, e.dimension), make([]float64, e.dimension)
	for first, block := range r.blocks() {
		count, part, squares := float64(len(block)), float64(min(len(block), shown-first)), 0.0
		clear(own)
		for _, d := range block {
			v := e.vectors[d*e.dimension : (d+1)*e.dimension]
			floats.Add(own, v)
			squares += floats.Dot(v, v)
		}
		sum += part / count * floats.Dot(own, above)
		if count > 1 { // two of the block are shown with this probability
			sum += part * (part - 1) / count / (count - 1) * (floats.Dot(own, own) - squares) / 2
		}
		floats.Add(above, own)
	}
	return sum, float64(shown*(shown-1)) / 2
}

func walkSimilarity(e *evaluator, r *ranking) float64 {
	sum, pairs := e.similarity(r)
	return sum / max(1, pairs)
}

func walkDistance(e *evaluator, r *ranking) float64 {
	sum, pairs := e.similarity(r)
	return (pairs - sum) / max(1, pairs)
}

func expectedSimilarity(e *evaluator, w *worker, q query) (float64, error) {
	e.scratch = e.scratch[:0]
	for range e.depth() {
		e.scratch = append(e.scratch, 1/e.norm)
	}
	return w.expectedWeights(e.weighting).Similarity(q.scores, e.vectors, e.dimension, e.scratch, nil)
}

func expectedDistance(e *evaluator, w *worker, q query) (float64, error) {
	similarity, err := expectedSimilarity(e, w, q)
	return 1 - similarity, err
}
