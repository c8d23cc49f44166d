package losses

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/normal"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// stochasticRank is minus the expected metric with the gradient of
// StochasticRank (Ustimenko & Prokhorenkova, ICML 2020) smoothed with Gumbel noise,
// which makes the policy that of Plackett–Luce. With ŝ = m + noise,
//
//	R_q ≈ mean over samples of Σ_k θ_k ρ_{y_k}, y the ranking by ŝ,
//
// and the gradient is the mean over samples of the derivative of R given the noisy
// scores of the other documents, whose ranking is y': R jumps where m_i plus its own
// noise passes one of them, so that
//
//	λ_i = Σ_k (θ_k − θ_{k+1}) (ρ_i − ρ_{y'_k}) p(ŝ_{y'_k} − m_i),
//
// with p(x) = exp(−x − exp(−x)) the density of the noise and θ = 0 beyond the last
// discount. Its expectation is the gradient of R. (The paper's other parts, its
// scale-free acceleration and the tuning of the noise, are left out.) It costs O(N·D·K)
// for a query.
func stochasticRank(b *batch) *G.Node {
	order := noisyOrder(b.Lists, b.noise())
	return neg(stochasticMetric(b.Lists, b.gains(), b.noise(), order, b.discounts()))
}

func stochasticMetric(l ops.Lists, gains, noise, order *G.Node, discounts []float64) *G.Node {
	const name = "losses: StochasticRank"
	if order != nil && !order.Shape().Eq(noise.Shape()) {
		panic(fmt.Errorf("%s: order of shape %v for noise of shape %v", name, order.Shape(), noise.Shape()))
	}
	f := op.ListFunc{
		Name: name, Layout: op.PerQuery,
		Do: func(l *op.List) error {
			gains, sum, samples := l.X[1], 0.0, 1
			err := eachRanking(l, 3, func(r ranking) {
				samples = r.samples
				for k := range min(len(r.rows), len(l.Discounts)) {
					sum += l.Discounts[k] * gains[r.rows[k]-l.From]
				}
			})
			l.Out()[0] = sum / float64(samples)
			return err
		},
		VJP: func(l *op.List) error {
			lambda, samples := l.Out(), 1
			err := eachRanking(l, 3, func(r ranking) {
				samples = r.samples
				stochasticGradient(l, r, lambda)
			})
			scale := l.Last()[0] / float64(samples)
			for i := range lambda {
				lambda[i] *= scale
			}
			return err
		},
	}
	return G.Must(f.Apply(l, op.Scores(l), op.Rows("gains", gains), op.Samples("noise", noise),
		op.SampleInts("order", order), op.Discounts(discounts)))
}

// stochasticGradient adds the gradient of a sample.
func stochasticGradient(l *op.List, r ranking, lambda []float64) {
	scores, gains, noise, theta := l.X[0], l.X[1], l.In[2], l.Discounts
	// The others of the document at some rank are all but it: below it they
	// are one rank higher.
	for k := range min(len(r.rows), len(theta)) {
		drop := theta[k]
		if k+1 < len(theta) {
			drop -= theta[k+1]
		}
		for rank, row := range r.rows {
			at := k
			if rank <= k {
				at++
			}
			if at == len(r.rows) {
				continue
			}
			i, rival := row-l.From, r.rows[at]-l.From
			if jump := drop * (gains[i] - gains[rival]); jump != 0 {
				x := scores[rival] - scores[i] + noise.At(r.first+r.rows[at])
				lambda[i] += jump * normal.Exp(-x-normal.Exp(-x))
			}
		}
	}
}
