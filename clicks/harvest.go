package clicks

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/plrank/plrank/internal/parallel"
)

// harvested holds the clicks of pairs of ranks, on documents that could have been at both.
type harvested struct {
	ranks   int
	overlap [][]float64
	clicks  [][]float64 // C_kj: at rank k+1, for the comparison with rank j+1
	squares [][]float64 // sums of squares of what C_kj adds up
}

// grow makes room for this many ranks.
func (h *harvested) grow(ranks int) {
	h.ranks = max(h.ranks, ranks)
	for _, of := range []*[][]float64{&h.overlap, &h.clicks, &h.squares} {
		*of = append(*of, make([][]float64, h.ranks-len(*of))...)
		for k, row := range *of {
			(*of)[k] = append(row, make([]float64, h.ranks-len(row))...)
		}
	}
}

// harvest compares the ranks of a log.
func (h *harvested) harvest(l *Log, situations []situation, ranks int) error {
	// A fixed number of blocks, whose sums are added in order: the same bits on any machine.
	const blocks = 64
	parts := make([]*harvested, blocks)
	workers := parallel.Workers(blocks)
	scratch := make([]propensities, workers)
	err := parallel.Each(blocks, workers, func(w, b int) error {
		parts[b] = new(harvested)
		parts[b].grow(ranks)
		for i := b * len(situations) / blocks; i < (b+1)*len(situations)/blocks; i++ {
			s := &situations[i]
			if len(s.Shown) == 0 {
				continue
			}
			if err := scratch[w].set(Logged, s.Impression, Bias{}, needs{placements: true}); err != nil {
				return l.impressionError(s.impressions[0], err)
			}
			parts[b].add(l, s, scratch[w].placements)
		}
		return nil
	})
	if err != nil {
		return err
	}
	h.grow(ranks)
	for _, part := range parts {
		for k := range ranks {
			for j := range ranks {
				h.overlap[k][j] += part.overlap[k][j]
				h.clicks[k][j] += part.clicks[k][j]
				h.squares[k][j] += part.squares[k][j]
			}
		}
	}
	return nil
}

// add adds the impressions of a situation, with their placements.
func (h *harvested) add(l *Log, s *situation, placements []float64) {
	ranks := len(s.Shown)
	for k := range ranks {
		for j := range ranks {
			for d := range s.Documents {
				h.overlap[k][j] += float64(len(s.impressions)) * min(placements[d*ranks+k], placements[d*ranks+j])
			}
		}
	}
	for _, i := range s.impressions {
		im := &l.Impressions[i]
		for k, d := range im.Shown {
			own := placements[d*ranks+k]
			if im.Clicks[k] == 0 || own < leastPropensity {
				continue
			}
			for j := range ranks {
				x := im.Clicks[k] * min(own, placements[d*ranks+j]) / own
				h.clicks[k][j] += x
				h.squares[k][j] += x * x
			}
		}
	}
}

// compared reports whether both ranks of a pair have clicks to compare.
func (h *harvested) compared(k, j int) bool { return h.clicks[k][j] > 0 && h.clicks[j][k] > 0 }

// connected returns the groups of ranks that are compared with each other, by neighbours alone or
// by all pairs.
func (h *harvested) connected(neighbours bool) (groups [][]int) {
	group := make([]int, h.ranks) // by rank: 1 + its group
	var visit func(k int)
	visit = func(k int) {
		group[k] = len(groups)
		groups[len(groups)-1] = append(groups[len(groups)-1], k+1)
		for j := range h.ranks {
			near := !neighbours || j == k-1 || j == k+1
			if group[j] == 0 && near && h.compared(k, j) {
				visit(j)
			}
		}
	}
	for k := range h.ranks {
		if group[k] == 0 {
			groups = append(groups, nil)
			visit(k)
		}
	}
	for _, g := range groups {
		slices.Sort(g)
	}
	return groups
}

// solve finds log α by least squares. Its differences are log C_kj − log C_jk, and each
// logarithm has the variance Σx²/C². Neighbours alone are solved without residuals, by the
// chain of their ratios.
func (h *harvested) solve(neighbours bool) (Bias, error) {
	b := Bias{Alpha: make([]float64, h.ranks)}
	b.Alpha[0] = 1
	if h.ranks == 1 {
		return b, nil
	}
	a := mat.NewSymDense(h.ranks-1, nil) // of ranks 2, 3, …: log α_1 is 0
	rhs := mat.NewVecDense(h.ranks-1, nil)
	for j := 1; j < h.ranks; j++ {
		for k := range j {
			if neighbours && k != j-1 || !h.compared(k, j) {
				continue
			}
			ck, cj := h.clicks[k][j], h.clicks[j][k]
			weight := 1 / (h.squares[k][j]/(ck*ck) + h.squares[j][k]/(cj*cj))
			difference := weight * (math.Log(cj) - math.Log(ck))
			a.SetSym(j-1, j-1, a.At(j-1, j-1)+weight)
			rhs.SetVec(j-1, rhs.AtVec(j-1)+difference)
			if k > 0 {
				a.SetSym(k-1, k-1, a.At(k-1, k-1)+weight)
				a.SetSym(k-1, j-1, a.At(k-1, j-1)-weight)
				rhs.SetVec(k-1, rhs.AtVec(k-1)-difference)
			}
		}
	}
	var c mat.Cholesky
	solution := mat.NewVecDense(h.ranks-1, nil)
	if !c.Factorize(a) {
		return Bias{}, errors.New("clicks: the comparisons of ranks have no solution")
	}
	if err := c.SolveVecTo(solution, rhs); err != nil {
		return Bias{}, err
	}
	for k := 1; k < h.ranks; k++ {
		b.Alpha[k] = math.Exp(solution.AtVec(k - 1))
	}
	return b, nil
}
