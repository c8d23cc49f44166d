package lossops

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// RankDiscounts gives every document the discount of its rank of [ops.Ranks], and
// beyond the last of them the number given for that.
func RankDiscounts(l ops.Lists, discounts []float64, beyond float64) (*G.Node, error) {
	const name = "losses: RankDiscounts"
	if err := op.CheckDiscounts(discounts); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	discounts = slices.Clone(discounts)
	f := op.ListFunc{Name: name, Settings: fmt.Sprint(discounts, beyond), Do: func(l *op.List, _ []op.Tensor, result op.Tensor) error {
		scores, err := l.Scores()
		if err != nil {
			return err
		}
		for rank, d := range l.Order(scores) {
			v := beyond
			if rank < len(discounts) {
				v = discounts[rank]
			}
			result.Set(l.From+d, v)
		}
		return nil
	}}
	return f.Apply(l)
}

// TargetExposure is the E* of expected exposure (Diaz et al., CIKM 2020): documents
// are in the order of their gains, and those of equal gain share the discounts of
// their ranks equally; ranks beyond the discounts have none. A node [rows], 0 in
// padding, not differentiable. Σ_d ρ_d E*_d is the best value that the metric can
// have.
func TargetExposure(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	const name = "losses: TargetExposure"
	if err := op.CheckDiscounts(discounts); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	discounts = slices.Clone(discounts)
	f := op.ListFunc{Name: name, Settings: fmt.Sprint(discounts), Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
		gains, err := l.Gains(in[0])
		if err != nil {
			return err
		}
		exposure := l.Floats(len(gains))
		plackett.RankedExposure(gains, discounts, exposure)
		result.Write(exposure, l.From)
		return nil
	}}
	return f.ApplyTo(op.Rows("gains", gains), l)
}

// Documents is the number of documents of every query, a node [queries] of the dtype
// of the scores. It is not differentiable.
func Documents(l ops.Lists) (*G.Node, error) {
	f := op.ListFunc{Name: "losses: Documents", Shape: op.PerQuery, Do: func(l *op.List, _ []op.Tensor, result op.Tensor) error {
		result.Set(l.Query, float64(l.Len()))
		return nil
	}}
	return f.Apply(l)
}
