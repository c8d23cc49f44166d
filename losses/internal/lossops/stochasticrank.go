package lossops

import (
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"

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
		Slope: &op.ListFunc{Name: name + "Slope", Settings: settings, Do: s.gradient},
	}
	return f.Apply(op.Lists(l), op.Rows("gains", gains), op.Samples("noise", noise), op.SampleInts("order", order))
}

// stochasticRank are the discounts. The inputs are scores, gains, noise and order.
type stochasticRank []float64

func (s stochasticRank) metric(l *op.List, in []op.Tensor, result op.Tensor) error {
	gains, err := l.Gains(in[1])
	if err != nil {
		return err
	}
	sum, samples := 0.0, 0
	err = eachSample(l, in[3].Int, func(_ int, ranked []int) {
		samples++
		for k := range min(len(ranked), len(s)) {
			sum += s[k] * gains[ranked[k]-l.From]
		}
	})
	result.Set(l.Query, sum/float64(max(1, samples)))
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
	lambda, samples := l.Zeros(), 0
	err = eachSample(l, in[3].Int, func(first int, ranked []int) {
		samples++
		// The others of the document at some rank are all but it: below it they
		// stand one rank higher.
		for k := range min(len(ranked), len(s)) {
			drop := s[k]
			if k+1 < len(s) {
				drop -= s[k+1]
			}
			for rank, row := range ranked {
				at := k
				if rank <= k {
					at++
				}
				if at == len(ranked) {
					continue
				}
				i, rival := row-l.From, ranked[at]-l.From
				if jump := drop * (gains[i] - gains[rival]); jump != 0 {
					x := scores[rival] + in[2].At(first+ranked[at]) - scores[i]
					lambda[i] += jump * math.Exp(-x-math.Exp(-x))
				}
			}
		}
	})
	scale := in[4].At(l.Query) / float64(max(1, samples))
	for i := range lambda {
		lambda[i] *= scale
	}
	result.Write(lambda, l.From)
	return err
}

// eachSample calls f with the number of the first row of every sample present, and
// with the query's rows in order.
func eachSample(l *op.List, order []int, f func(first int, ranked []int)) error {
	for first := 0; first < len(order); first += l.Rows {
		ranked := order[first+l.From : first+l.To]
		if ranked[0] == -1 {
			continue
		}
		for _, row := range ranked {
			if row < l.From || row >= l.To {
				return fmt.Errorf("order has row %d where one of %d to %d is due", row, l.From, l.To-1)
			}
		}
		f(first, ranked)
	}
	return nil
}
