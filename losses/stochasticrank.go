package losses

import (
	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
)

// StochasticRank is the estimator of StochasticRank (Ustimenko & Prokhorenkova, ICML 2020). The value of the loss is
// −(1/N) Σ_i Σ_k θ_k ρ_{y_k}, y by m + noise.
//
// It is minus the expected metric, smoothed with Gumbel noise, which makes the policy
// Plackett–Luce's. With ŝ = m + noise, y is the ranking by ŝ, and the gradient is the mean over samples
// of the derivative of the expected metric R given the noisy scores of the other documents, whose
// ranking is y': R jumps where m_i plus its own noise passes one of them, so that
//
//	λ_i = Σ_k (θ_k − θ_{k+1}) (ρ_i − ρ_{y'_k}) p(ŝ_{y'_k} − m_i),
//
// with p(x) = exp(−x − exp(−x)) the density of the noise and θ = 0 beyond the last
// discount. Its expectation is the gradient of R. (The paper's other parts, its
// scale-free acceleration and the tuning of the noise, are left out.) It costs O(N·D·K)
// for a query. It reads Gains, Discounts, and Noise or else Sampler.
var StochasticRank = Estimator{func(b *batch) *G.Node {
	metric := func(l *op.List, lambda []float64) (value float64, err error) {
		samples, err := eachNoisy(l, 2, func(noisy perturbed) {
			order := noisy.order()
			for k := range min(len(order), len(l.Discounts)) {
				value += l.Discounts[k] * l.X[1][order[k]]
			}
			if lambda != nil {
				stochasticGradient(noisy, order, l.X[1], l.Discounts, lambda)
			}
		})
		floats.Scale(1/samples, lambda)
		return value / samples, err
	}
	return neg(G.Must(op.Metric("losses: StochasticRank", "", b.Lists, metric, op.Rows("gains", b.gains()), op.Samples("noise", b.noise()),
		op.Discounts(b.discounts()))))
}}

// stochasticGradient adds the gradient of a sample.
func stochasticGradient(noisy perturbed, order []int, gains, theta, lambda []float64) {
	// The others of the document at some rank are all but it: below it they
	// are one rank higher.
	for k := range min(len(order), len(theta)) {
		drop := theta[k]
		if k+1 < len(theta) {
			drop -= theta[k+1]
		}
		for rank, i := range order {
			at := k
			if rank <= k {
				at++
			}
			if at == len(order) {
				continue
			}
			rival := order[at]
			if jump := drop * (gains[i] - gains[rival]); jump != 0 {
				x := noisy.scores[rival] - noisy.scores[i] + noisy.noise[rival]
				lambda[i] += jump * num.FlushExp(-x-num.FlushExp(-x))
			}
		}
	}
}
