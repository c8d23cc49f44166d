// Package fusion combines the rankings of several searches, such as BM25 and vectors, into one, and learns how from a few judged queries.
//
// The features of a document are its scores in the runs, normalised as search engines do it, or its reciprocal ranks, see [Form]. The
// model is linear with weights that are 0 or more, so that engines can compute it. [Learn] maximises the expected NDCG of the
// Plackett–Luce policy of the scores by its exact gradient, and cross-validates. The package knows neither files nor graphs.
package fusion

// A Query holds the documents that at least one run retrieved for a judged query.
type Query struct {
	ID     string
	Kind   string      // such as short or long, for weights by kind; alike for all: none
	Scores [][]float64 // [runs][documents], NaN: the run lacks the document
	Gains  []float64   // [documents], divided by the DCG of the best ranking of all judged documents: E[Σ_k θ_k ρ_{y_k}] is E[NDCG]
}

func (q *Query) documents() int { return len(q.Gains) }
