package plackett

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/plrank/plrank/internal/parallel"
)

// A TargetList is a list of documents among which groups share exposure.
type TargetList struct {
	Scores    []float64
	Discounts []float64 // 0 or more, none above the one before
	Groups    [][]int   // by target: the documents of its group
	Fixed     []float64 // by target: exposure that its group has besides, such as by pinned documents; nil: none
	All       float64   // exposure that shares are of; 0: the sum of the discounts that count
}

// A TargetError reports a target that no offsets reach.
type TargetError struct {
	Target int
	Most   float64 // the supremum of the share
}

func (e *TargetError) Error() string {
	return fmt.Sprintf("target %d: less than %.6g of the exposure is possible", e.Target, e.Most)
}

// Offsets returns the offsets by group, 0 or more, that give each group at least its share of the expected exposure of all lists
// under the Plackett–Luce policies of the scores and offsets. A document of several groups has their sum. The other results are the
// shares, which are at most 1e-9 below the targets.
//
// The exposures of groups, by their offsets μ, are the gradient of a convex function Φ: their derivatives are symmetric and positive
// semidefinite (docs/exact.md, W). So the offsets are the minimum of Φ(μ) − μ·least over μ ≥ 0, which Newton's method finds with the
// exact derivatives. The offset of a group that has more than its share is 0. Of all policies with offsets by group that give so
// much, this one is nearest to the policy without: its exposures have the least Bregman divergence by the conjugate of Φ. If all
// targets hold with equality, it is the only one.
func Offsets(lists []TargetList, least []float64) (offsets, shares []float64, err error) {
	s := targets{lists: lists, least: least, offsets: make([]float64, len(least))}
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	if err := s.compute(s.offsets); err != nil {
		return nil, nil, err
	}
	for range 200 {
		if s.distance() <= 1e-9 {
			return s.offsets, s.shares, nil
		}
		if err := s.step(); err != nil {
			return nil, nil, err
		}
	}
	worst := 0
	for g := range least {
		if least[g]-s.shares[g] > least[worst]-s.shares[worst] {
			worst = g
		}
	}
	return nil, nil, &TargetError{worst, s.shares[worst]}
}

// targets are the problem of [Offsets], with what is known at the offsets.
type targets struct {
	lists          []TargetList
	least, offsets []float64
	all            float64
	shares         []float64
	slopes         *mat.SymDense // of shares by offsets
}

// check returns an error if lists are invalid, or if a target cannot be reached whatever the others.
func (s *targets) check() error {
	most := make([]float64, len(s.least))
	for i := range s.lists {
		l := &s.lists[i]
		err := cmp.Or(checkFinite("score", l.Scores), checkDiscounts(l.Discounts), checkLength("groups", len(l.Groups), len(s.least)))
		if err != nil {
			return err
		}
		for k, theta := range l.Discounts {
			if theta < 0 || k > 0 && theta > l.Discounts[k-1] {
				return fmt.Errorf("discounts %v: want numbers of 0 or more that do not rise", l.Discounts)
			}
		}
		shown := l.Discounts[:min(len(l.Discounts), len(l.Scores))]
		if l.All == 0 {
			l.All = floats.Sum(shown)
		}
		s.all += l.All
		for g, group := range l.Groups {
			most[g] += floats.Sum(shown[:min(len(group), len(shown))])
			if l.Fixed != nil {
				most[g] += l.Fixed[g]
			}
			for _, d := range group {
				if d < 0 || d >= len(l.Scores) {
					return fmt.Errorf("document %d of %d: want an index from 0", d, len(l.Scores))
				}
			}
		}
	}
	for g, share := range s.least {
		if !(share >= 0 && share <= 1) {
			return fmt.Errorf("target %d: a share of %v: want 0 to 1", g, share)
		}
		if s.all > 0 && share > 0 && share >= most[g]/s.all {
			return &TargetError{g, most[g] / s.all}
		}
	}
	return nil
}

// compute computes shares and slopes at offsets.
func (s *targets) compute(offsets []float64) error {
	n := len(offsets)
	workers := parallel.Workers(len(s.lists))
	parts, expectations := make([][]float64, len(s.lists)), make([]Expectation, workers)
	if err := parallel.Each(len(s.lists), workers, func(w, i int) error {
		l := &s.lists[i]
		part := make([]float64, n*(n+1)) // by group: exposure and slopes
		parts[i] = part
		scores, lambda := slices.Clone(l.Scores), make([]float64, len(l.Scores))
		for g, group := range l.Groups {
			for _, d := range group {
				scores[d] += offsets[g]
			}
		}
		expectations[w].Tolerance = 1e-11
		for g, group := range l.Groups {
			gains := make([]float64, len(scores))
			for _, d := range group {
				gains[d] = 1
			}
			if len(group) > 0 && len(l.Discounts) > 0 {
				var err error
				if part[g*(n+1)], err = expectations[w].Gradient(scores, gains, l.Discounts, lambda); err != nil {
					return err
				}
				for h, other := range l.Groups {
					for _, d := range other {
						part[g*(n+1)+1+h] += lambda[d]
					}
				}
			}
			if l.Fixed != nil {
				part[g*(n+1)] += l.Fixed[g]
			}
		}
		return nil
	}); err != nil {
		return err
	}
	sums := make([]float64, n*(n+1))
	for _, part := range parts {
		floats.AddScaled(sums, 1/max(s.all, math.SmallestNonzeroFloat64), part)
	}
	s.shares, s.slopes = make([]float64, n), mat.NewSymDense(n, nil)
	for g := range n {
		s.shares[g] = sums[g*(n+1)]
		for h := range g + 1 {
			s.slopes.SetSym(g, h, sums[g*(n+1)+1+h])
		}
	}
	return nil
}

// gap is how much of a share a group lacks; negative: it has more.
func (s *targets) gap(g int) float64 { return s.least[g] - s.shares[g] }

// distance is how far the offsets are from the solution, in shares.
func (s *targets) distance() (most float64) {
	for g, offset := range s.offsets {
		if gap := s.gap(g); offset > 0 || gap > 0 {
			most = max(most, math.Abs(gap))
		}
	}
	return most
}

// longestStep is how far an offset goes at once, in the scale of log-scores: e^8 is 3000.
const longestStep = 8

// step goes a step of Newton's method, which it shortens if it goes beyond the minimum.
func (s *targets) step() error {
	var active []int
	for g, offset := range s.offsets {
		if offset > 0 || s.gap(g) > 0 {
			active = append(active, g)
		}
	}
	slopes, gaps, solution := mat.NewSymDense(len(active), nil), mat.NewVecDense(len(active), nil), mat.NewVecDense(len(active), nil)
	for i, g := range active {
		gaps.SetVec(i, s.gap(g))
		for j, h := range active[:i+1] {
			slopes.SetSym(i, j, s.slopes.At(g, h))
		}
		slopes.SetSym(i, i, slopes.At(i, i)+1e-13) // where scores are far apart, shares hardly change
	}
	var c mat.Cholesky
	if !c.Factorize(slopes) || c.SolveVecTo(solution, gaps) != nil {
		solution.CopyVec(gaps) // downhill, too
		solution.ScaleVec(longestStep/max(mat.Norm(gaps, math.Inf(1)), 1e-300), solution)
	}
	scale := min(1, longestStep/mat.Norm(solution, math.Inf(1)))
	before, gap := s.offsets, make([]float64, len(s.offsets))
	for g := range gap {
		gap[g] = s.gap(g)
	}
	for range 40 {
		s.offsets = slices.Clone(before)
		for i, g := range active {
			s.offsets[g] = max(0, s.offsets[g]+scale*solution.AtVec(i))
		}
		if err := s.compute(s.offsets); err != nil {
			return err
		}
		start, end := 0., 0. // derivatives of Φ − μ·least along the step
		for g := range gap {
			start -= gap[g] * (s.offsets[g] - before[g])
			end -= s.gap(g) * (s.offsets[g] - before[g])
		}
		if end <= math.Abs(start)/2 {
			break
		}
		scale /= 2
	}
	return nil
}
