package lossops

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/normal"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// StochasticRank is the metric of every query, [queries], with the gradient that
// losses.StochasticRank has. order is the [Order] of the noise.
func StochasticRank(l ops.Lists, gains, noise, order *G.Node, discounts []float64) (*G.Node, error) {
	const name = "losses: StochasticRank"
	if err := op.CheckDiscounts(discounts); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if noise != nil && order != nil && !order.Shape().Eq(noise.Shape()) {
		return nil, fmt.Errorf("%s: order of shape %v for noise of shape %v", name, order.Shape(), noise.Shape())
	}
	s := stochasticRank(slices.Clone(discounts))
	settings := fmt.Sprint(discounts)
	f := op.ListFunc{
		Name: name, Settings: settings, Shape: op.PerQuery, Do: s.metric,
		VJP: &op.ListFunc{Name: name + "VJP", Settings: settings, Do: s.gradient},
	}
	return f.Apply(l, op.Rows("gains", gains), op.Samples("noise", noise), op.SampleInts("order", order))
}

// stochasticRank are the discounts. The inputs are scores, gains, noise and order.
type stochasticRank []float64

func (s stochasticRank) metric(l *op.List, in []op.Tensor, result op.Tensor) error {
	gains, err := l.Gains(in[1])
	if err != nil {
		return err
	}
	sum, samples := 0.0, 1
	err = eachRanking(l, in[3].Int, func(r ranking) {
		samples = r.samples
		for k := range min(len(r.rows), len(s)) {
			sum += s[k] * gains[r.rows[k]-l.From]
		}
	})
	result.Set(l.Query, sum/float64(samples))
	return err
}

func (s stochasticRank) gradient(l *op.List, in []op.Tensor, result op.Tensor) error {
	scores, err := l.Scores()
	if err != nil {
		return err
	}
	gains, err := l.Gains(in[1])
	if err != nil {
		return err
	}
	lambda, samples := l.Zeros(), 1
	err = eachRanking(l, in[3].Int, func(r ranking) {
		samples = r.samples
		// The others of the document at some rank are all but it: below it they
		// are one rank higher.
		for k := range min(len(r.rows), len(s)) {
			drop := s[k]
			if k+1 < len(s) {
				drop -= s[k+1]
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
					x := scores[rival] - scores[i] + in[2].At(r.first+r.rows[at])
					lambda[i] += jump * normal.Exp(-x-normal.Exp(-x))
				}
			}
		}
	})
	scale := in[4].At(l.Query) / float64(samples)
	for i := range lambda {
		lambda[i] *= scale
	}
	result.Write(lambda, l.From)
	return err
}
