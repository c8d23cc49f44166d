package ops

import (
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// StochasticRank estimates the metric of every query expected under the policy of
// the scores, as [PLRank1] does, from noise instead of rankings, and with the
// gradient of StochasticRank (Ustimenko & Prokhorenkova, ICML 2020). With Gumbel
// noise, and ŝ = m + noise,
//
//	R_q ≈ mean over samples of Σ_k θ_k ρ_{y_k}, y the ranking by ŝ.
//
// The backward pass injects the mean over samples of its coordinate-wise conditional
// derivative: given the noisy scores of the others, whose ranking is y', the metric
// jumps where m_i plus its own noise passes one of them, so that
//
//	λ_i = Σ_k (θ_k − θ_{k+1}) (ρ_i − ρ_{y'_k}) p(ŝ_{y'_k} − m_i),
//
// with p(x) = exp(−x − exp(−x)) the density of the noise and θ = 0 beyond the last
// discount. It has the gradient of R as its expectation. (The paper's other parts, its
// scale-free acceleration and the tuning of the noise, are left out.)
//
// gains is [rows]; noise is [samples × rows], from [Gumbel] or elsewhere, see there
// for absent samples; order is the [Order] of the same noise. Errors are those of
// [Order]. It costs O(N·D·K) for a query.
func StochasticRank(l Lists, gains, noise, order *G.Node, discounts []float64) (*G.Node, error) {
	err := l.check()
	if err == nil {
		err = l.checkRows("gains", gains)
	}
	if err == nil {
		err = l.checkSamples("noise", noise, l.Scores.Dtype())
	}
	if err == nil {
		err = l.checkSamples("order", order, tensor.Int)
	}
	if err == nil && !order.Shape().Eq(noise.Shape()) {
		err = fmt.Errorf("order of shape %v for noise of shape %v", order.Shape(), noise.Shape())
	}
	if err == nil {
		err = checkDiscounts(discounts)
	}
	if err != nil {
		return nil, fmt.Errorf("ops: StochasticRank: %w", err)
	}
	s := stochasticRank{slices.Clone(discounts), l.rows()}
	f := &listFunc{
		name: "StochasticRank", settings: fmt.Sprint(discounts), perQuery: true, do: s.metric,
		back: &listFunc{name: "StochasticRankDiff", settings: fmt.Sprint(discounts), do: s.gradient},
	}
	return f.apply(l, gains, noise, order)
}

// stochasticRank has the inputs scores, gains, noise and order.
type stochasticRank struct {
	discounts []float64
	rows      int
}

func (s stochasticRank) metric(l list, in vectors, out numbers) error {
	gains, sum, samples := in.floats[1], 0.0, 0
	err := s.eachSample(l, in, func(_ int, ranked []int) {
		samples++
		for k := range min(len(ranked), len(s.discounts)) {
			sum += s.discounts[k] * gains.at(ranked[k])
		}
	})
	out.set(l.query, sum/float64(max(1, samples)))
	return err
}

func (s stochasticRank) gradient(l list, in vectors, out numbers) error {
	l.gains = in.floats[1].read(l.gains, l.from, l.to)
	noise, lambda, samples := in.floats[2], l.zeros(), 0
	err := s.eachSample(l, in, func(first int, ranked []int) {
		samples++
		// The others of the document at some rank are all but it: below it they
		// stand one place higher.
		for k := range min(len(ranked), len(s.discounts)) {
			drop := s.discounts[k]
			if k+1 < len(s.discounts) {
				drop -= s.discounts[k+1]
			}
			for rank, row := range ranked {
				at := k
				if rank <= k {
					at++
				}
				if at == len(ranked) {
					continue
				}
				i, rival := row-l.from, ranked[at]-l.from
				if jump := drop * (l.gains[i] - l.gains[rival]); jump != 0 {
					x := l.scores[rival] + noise.at(first+ranked[at]) - l.scores[i]
					lambda[i] += jump * math.Exp(-x-math.Exp(-x))
				}
			}
		}
	})
	scale := in.last().at(l.query) / float64(max(1, samples))
	for i := range lambda {
		lambda[i] *= scale
	}
	out.write(lambda, l.from)
	return err
}

// eachSample calls f with the number of the first row of every sample present, and
// with the query's rows in order.
func (s stochasticRank) eachSample(l list, in vectors, f func(first int, ranked []int)) error {
	for first := 0; first < len(in.ints); first += s.rows {
		ranked := in.ints[first+l.from : first+l.to]
		if ranked[0] == -1 {
			continue
		}
		for _, row := range ranked {
			if row < l.from || row >= l.to {
				return fmt.Errorf("order has row %d where one of %d to %d is due", row, l.from, l.to-1)
			}
		}
		f(first, ranked)
	}
	return nil
}
