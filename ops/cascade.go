package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// ExpectedCascade returns the metric of every query expected under the Plackett–Luce policy of
// the scores, for a user who goes on below a document with the probability c, its continuation,
//
//	R_q = E_y[Σ_k θ_k a_{y_k} Π_{x<k} c_{y_x}],
//
// a node [queries] of the dtype of the scores; queries without documents get 0. ERR, reciprocal rank,
// success and α-nDCG are such metrics: see [plackett.Expectation.Cascade]. Value and gradient in the scores are exact,
// to 1e-7 of max|a|·Σ|θ| before they are rounded to the dtype. R is to be maximised: a loss is its negative.
//
// rewards, any sign, and continuations, from 0 to 1, are [rows] of the dtype of the scores, and constants for
// differentiation. Otherwise arguments, errors and cost are as for [ExpectedMetric]. Its value lasts until the next run.
func ExpectedCascade(l Lists, rewards, continuations *G.Node, discounts []float64) (*G.Node, error) {
	return op.Metric("ops: ExpectedCascade", "", l, func(l *op.List, lambda []float64) (float64, error) {
		return op.Own[plackett.Expectation](l).Cascade(l.X[0], l.X[1], l.X[2], l.Discounts, lambda)
	}, op.Rows("rewards", rewards), op.Rows("continuations", continuations), op.Discounts(discounts))
}

// ExpectedAveragePrecision returns the average precision of every query expected under the Plackett–Luce
// policy of the scores,
//
//	R_q = E_y[Σ_{k≤cutoff} rel_{y_k}/k · (1 + Σ_{x<k} rel_{y_x})] / Σ_d rel_d,
//
// a node [queries] of the dtype of the scores; queries without relevant documents get 0. A cutoff of 0 is all
// ranks. relevant, [rows] of the dtype of the scores, from 0 to 1, is a constant for differentiation. Value and
// gradient are exact, as in [ExpectedMetric], which costs about half as much; see
// [plackett.Expectation.AveragePrecision]. Its value lasts until the next run.
func ExpectedAveragePrecision(l Lists, relevant *G.Node, cutoff int) (*G.Node, error) {
	const name = "ops: ExpectedAveragePrecision"
	if cutoff < 0 {
		return nil, fmt.Errorf("%s: the cutoff is %d: it must not be negative", name, cutoff)
	}
	return op.Metric(name, fmt.Sprint(cutoff), l, func(l *op.List, lambda []float64) (float64, error) {
		return op.Own[plackett.Expectation](l).AveragePrecision(l.X[0], l.X[1], cutoff, lambda)
	}, op.Rows("relevances", relevant))
}

// ExpectedCascadeExposure returns the exposure that every row can expect given the documents above it,
// E_d = E_y[Σ_k θ_k 1[y_k = d] Π_{x<k} c_{y_x}], a node [rows] of the dtype of the scores; padding gets 0. It is
// [ExpectedExposure] for users who may stop above a document, and as exact, the backward pass included.
// continuations are as for [ExpectedCascade]. Its value lasts until the next run.
func ExpectedCascadeExposure(l Lists, continuations *G.Node, discounts []float64) (*G.Node, error) {
	return exposure("ops: ExpectedCascadeExposure", l,
		func(l *op.List, exposure []float64) error {
			return op.Own[plackett.Expectation](l).CascadeExposure(l.X[0], l.X[1], l.Discounts, exposure)
		},
		func(l *op.List, incoming, slopes []float64) error {
			_, err := op.Own[plackett.Expectation](l).Cascade(l.X[0], incoming, l.X[1], l.Discounts, slopes)
			return err
		}, op.Rows("continuations", continuations), op.Discounts(discounts))
}
