package ops

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// ExpectedSimilarity returns the similarity of the documents that every query can expect to show under the Plackett–Luce
// policy of the scores,
//
//	R_q = E_y[Σ_l φ_l v_{y_l} · Σ_{k<l} v_{y_k}],
//
// a node [queries] of the dtype of the scores; queries of fewer than two documents get 0. vectors, [rows, dimension] of the dtype
// of the scores, may have any sign, and are constants for differentiation. The discounts φ are of the lower rank of a pair:
// 2/(K(K−1)) for the mean over pairs of the first K. R is large where documents are alike: a loss for diversity adds it. Value and
// gradient are exact, to 1e-7 of max|v|²·Σ|φ| before they are rounded to the dtype: see [plackett.Expectation.Similarity]. Otherwise
// errors are as for [ExpectedMetric]. Its value lasts until the next run.
func ExpectedSimilarity(l Lists, vectors *G.Node, discounts []float64) (*G.Node, error) {
	return op.Metric("ops: ExpectedSimilarity", "", l, func(l *op.List, lambda []float64) (float64, error) {
		return op.Own[plackett.Expectation](l).Similarity(l.X[0], l.X[1], l.In[1].Shape[1], l.Discounts, lambda)
	}, op.RowVectors("vectors", vectors), op.Discounts(discounts))
}
