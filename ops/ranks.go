package ops

import (
	"cmp"
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
)

// Ranks gives every document its rank in its query, from 0, in descending order of
// score, ties by row: a node [rows] of the dtype of the scores, 0 in padding. It is
// not differentiable. Scores that are not finite are an error of the run.
func Ranks(l Lists) (*G.Node, error) {
	if err := l.checked("Ranks"); err != nil {
		return nil, err
	}
	f := &listFunc{name: "Ranks", do: func(l list, _ vectors, out numbers) error {
		if err := l.finite(); err != nil {
			return err
		}
		for rank, d := range l.ranked() {
			out.set(l.from+d, float64(rank))
		}
		return nil
	}}
	return f.apply(l)
}

// RankDiscounts gives every document the discount of its rank of [Ranks], and beyond
// the last of them the number given for that.
func RankDiscounts(l Lists, discounts []float64, beyond float64) (*G.Node, error) {
	err := l.check()
	if err == nil {
		err = checkDiscounts(discounts)
	}
	if err != nil {
		return nil, fmt.Errorf("ops: RankDiscounts: %w", err)
	}
	discounts = slices.Clone(discounts)
	f := &listFunc{name: "RankDiscounts", settings: fmt.Sprint(discounts, beyond), do: func(l list, _ vectors, out numbers) error {
		if err := l.finite(); err != nil {
			return err
		}
		for rank, d := range l.ranked() {
			v := beyond
			if rank < len(discounts) {
				v = discounts[rank]
			}
			out.set(l.from+d, v)
		}
		return nil
	}}
	return f.apply(l)
}

// TargetExposure is the E* of expected exposure (Diaz et al., CIKM 2020): documents
// stand in the order of their gains, and those of equal gain share the discounts of
// their ranks equally; ranks beyond the discounts have none. A node [rows], 0 in
// padding, not differentiable. Σ_d ρ_d E*_d is the best value that the metric can
// have. Gains that are not finite are an error of the run.
func TargetExposure(l Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	if err := l.checkedRows("TargetExposure", "gains", gains); err != nil {
		return nil, err
	}
	if err := checkDiscounts(discounts); err != nil {
		return nil, fmt.Errorf("ops: TargetExposure: %w", err)
	}
	discounts = slices.Clone(discounts)
	f := &listFunc{name: "TargetExposure", settings: fmt.Sprint(discounts), do: func(l list, _ vectors, out numbers) error {
		gains := l.scores // what the lists below are made of
		if err := l.finiteGains(gains); err != nil {
			return err
		}
		order := l.ranked()
		for first := 0; first < min(len(order), len(discounts)); {
			end, sum := first, 0.0
			for ; end < len(order) && gains[order[end]] == gains[order[first]]; end++ {
				if end < len(discounts) {
					sum += discounts[end]
				}
			}
			for _, d := range order[first:end] {
				out.set(l.from+d, sum/float64(end-first))
			}
			first = end
		}
		return nil
	}}
	return f.apply(Lists{Scores: gains, Offsets: l.Offsets})
}

// ranked are the positions of the documents in descending order of score, ties by
// position.
func (l list) ranked() []int {
	l.order = l.order[:0]
	for d := range l.scores {
		l.order = append(l.order, d)
	}
	slices.SortFunc(l.order, func(a, b int) int {
		if c := cmp.Compare(l.scores[b], l.scores[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return l.order
}
