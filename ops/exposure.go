package ops

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// Exposure estimates the exposure that every row can expect under the
// Plackett–Luce policy of the scores, E_d = E_y[Σ_k θ_k 1[y_k = d]], a node [rows]
// of the dtype of the scores; padding gets 0. It is the low-variance form, the
// mean over rankings of Σ_k θ_k P_k(d).
//
// The backward pass is PL-Rank-RB with gains ρ := ∂F/∂E, the incoming gradient
// (Oosterhuis, SIGIR 2021, §6: any function F of the exposures has the gradient
// of a relevance metric with these gains), on gradRankings, or on rankings if
// that is nil. When F is not linear in E, its gradient is unbiased only if the
// rankings are not the ones that gave the exposure: pass rankings from another
// [Sampler].
//
// rankings and gradRankings are [queries, samples, cutoff], whose numbers of
// samples may differ. Errors and cost are as for [PLRank1]. Its value lasts until the next run.
func Exposure(l Lists, rankings, gradRankings *G.Node, discounts []float64) (*G.Node, error) {
	if gradRankings == nil {
		gradRankings = rankings
	}
	return exposure("ops: Exposure", l,
		func(l *op.List, exposure []float64) error {
			rankings, err := l.FullRankings(1)
			if err != nil {
				return err
			}
			return op.Own[plackett.Kernel](l).Exposure(l.X[0], l.Discounts, plackett.Rankings(rankings), exposure)
		},
		func(l *op.List, incoming, slopes []float64) error {
			rankings, err := l.FullRankings(2)
			if err != nil {
				return err
			}
			_, err = op.Own[plackett.Kernel](l).Gradient(plackett.PLRankRB, l.X[0], incoming, l.Discounts, plackett.Rankings(rankings), slopes)
			return err
		}, op.Rankings(rankings), op.Rankings(gradRankings), op.Discounts(discounts))
}

// ExpectedExposure returns the exposure that every row can expect under the Plackett–Luce
// policy of the scores, E_d = E_y[Σ_k θ_k 1[y_k = d]], a node [rows] of the dtype of the
// scores; padding gets 0. There are no rankings and no N: it is exact, to 1e-7 of the
// largest discount before it is rounded to the dtype, by the quadrature of
// [plackett.Expectation].
//
// The backward pass is exact too, for any function of the exposures: it is the gradient
// of the expected metric whose gains are the incoming gradient.
//
// Discounts may have any sign and order; beyond the number of documents they have no
// effect. It returns an error if nodes do not fit. The run returns one, which says where, if
// scores or incoming gradients are not finite, or if offsets descend. It costs O(D·K) for a query,
// about as much as a few hundred samples, or O(D) if discounts such as DCG's count at every
// rank, and as much again for the backward pass.
// Its value lasts until the next run.
func ExpectedExposure(l Lists, discounts []float64) (*G.Node, error) {
	return exposure("ops: ExpectedExposure", l,
		func(l *op.List, exposure []float64) error {
			return op.Own[plackett.Expectation](l).Exposure(l.X[0], l.Discounts, exposure)
		},
		func(l *op.List, incoming, slopes []float64) error {
			_, err := op.Own[plackett.Expectation](l).Gradient(l.X[0], incoming, l.Discounts, slopes)
			return err
		}, op.Discounts(discounts))
}

// exposure makes a node of the exposures of a query and their derivative.
func exposure(name string, l Lists, value func(l *op.List, exposure []float64) error,
	vjp func(l *op.List, incoming, slopes []float64) error, others ...op.In) (*G.Node, error) {
	f := op.ListFunc{
		Name: name,
		Do:   func(l *op.List) error { return value(l, l.Out()) },
		VJP: func(l *op.List) error {
			if err := l.CheckFinite("incoming gradient", l.Last()); err != nil {
				return err
			}
			return vjp(l, l.Last(), l.Out())
		},
	}
	return f.Apply(l, append([]op.In{op.Scores(l)}, others...)...)
}
