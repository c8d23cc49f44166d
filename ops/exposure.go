package ops

import (
	"fmt"
	"slices"

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
// of a relevance metric with these gains), on gradRankings, or on rankings where
// that is nil. When F is not linear in E, its gradient is unbiased only if the
// rankings are not the ones that gave the exposure: pass rankings from another
// [Sampler].
//
// rankings and gradRankings are [queries, samples, cutoff], each with a number of
// samples of its own. Errors and cost are those of [PLRank1].
func Exposure(l Lists, rankings, gradRankings *G.Node, discounts []float64) (*G.Node, error) {
	const name = "ops: Exposure"
	if gradRankings == nil {
		gradRankings = rankings
	}
	if err := op.CheckDiscounts(discounts); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	discounts = slices.Clone(discounts)
	settings := fmt.Sprintf("discounts: %v", discounts)
	f := op.ListFunc{
		Name: name, Settings: settings, Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			if err != nil {
				return err
			}
			rankings, err := l.FullRankings(in[1], discounts)
			if err != nil {
				return err
			}
			exposure := l.Floats(l.Len())
			if err := l.Kernel.Exposure(scores, discounts, rankings, exposure); err != nil {
				return err
			}
			result.Write(exposure, l.From)
			return nil
		},
		Slope: &op.ListFunc{Name: name + "Slope", Settings: settings, Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			if err != nil {
				return err
			}
			rankings, err := l.FullRankings(in[2], discounts)
			if err != nil {
				return err
			}
			lambda := l.Floats(l.Len())
			if _, err := l.Kernel.Gradient(plackett.PLRankRB, scores, l.Read(in[3], l.From, l.To), discounts, rankings, lambda); err != nil {
				return err
			}
			result.Write(lambda, l.From)
			return nil
		}},
	}
	return f.Apply(op.Lists(l), op.Rankings(rankings), op.Rankings(gradRankings))
}
