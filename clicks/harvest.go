package clicks

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/plrank/plrank/internal/parallel"
)

// A pair holds the clicks at one rank for the comparison with another, on documents that could have been at both.
type pair struct {
	overlap float64
	clicks  float64 // C_kj: at rank k+1, for the comparison with rank j+1
	squares float64 // the sum of the squares of the terms of C_kj
}

// harvested estimates position bias by [Harvest] and [AllPairs].
type harvested struct {
	neighbours bool        // compare only neighbouring ranks
	pairs      [][]pair    // [ranks][ranks]
	groups     []harvested // of impressions, by a hash of their IDs
}

// jackknifed is the number of groups of impressions. Intervals leave out one group at a time.
const jackknifed = 100

func (h *harvested) resamples() (n int, spread float64) {
	return jackknifed, (jackknifed - 1) / math.Sqrt(jackknifed)
}

func (h *harvested) again(_ *rand.Rand, left int) (Bias, error) {
	own := &harvested{neighbours: h.neighbours}
	own.merge(h, 1)
	own.merge(&h.groups[left], -1)
	if len(own.connected(h.neighbours)) > 1 {
		return Bias{}, errors.New("ranks are not compared without a group")
	}
	return own.solve()
}

// grow makes room for this many ranks.
func (h *harvested) grow(ranks int) {
	h.pairs = append(h.pairs, make([][]pair, max(0, ranks-len(h.pairs)))...)
	for k, row := range h.pairs {
		h.pairs[k] = append(row, make([]pair, len(h.pairs)-len(row))...)
	}
}

func (h *harvested) add(l *Log, situations []situation) error {
	// The number of blocks is fixed and their sums are added in order, so that results have the same bits on any machine.
	const blocks = 64
	parts := make([]harvested, blocks)
	for b := range parts {
		parts[b].groups = make([]harvested, jackknifed)
	}
	workers := parallel.Workers(blocks)
	scratch := make([]propensities, workers)
	err := parallel.Each(blocks, workers, func(w, b int) error {
		for i := b * len(situations) / blocks; i < (b+1)*len(situations)/blocks; i++ {
			s := &situations[i]
			if len(s.Shown) == 0 {
				continue
			}
			p, err := scratch[w].set(Logged, nil, s.Impression, Bias{}, needs{placements: true})
			if err != nil {
				return l.impressionError(s.impressions[0], err)
			}
			parts[b].count(l, s, p.placements)
		}
		return nil
	})
	if h.groups == nil {
		h.groups = make([]harvested, jackknifed)
	}
	for _, part := range parts {
		h.merge(&part, 1)
		for g := range part.groups {
			h.groups[g].merge(&part.groups[g], 1)
		}
	}
	return err
}

// merge adds the pairs of a part, or with the sign −1 takes them away.
func (h *harvested) merge(part *harvested, sign float64) {
	h.grow(len(part.pairs))
	for k, row := range part.pairs {
		for j, p := range row {
			h.pairs[k][j].add(pair{sign * p.overlap, sign * p.clicks, sign * p.squares})
		}
	}
}

func (p *pair) add(other pair) {
	*p = pair{p.overlap + other.overlap, p.clicks + other.clicks, p.squares + other.squares}
}

// count counts the impressions of a situation, with their placements.
func (h *harvested) count(l *Log, s *situation, placements []float64) {
	ranks := len(s.Shown)
	h.grow(ranks)
	for k := range ranks {
		for j := range ranks {
			for d := range s.Documents {
				h.pairs[k][j].overlap += float64(len(s.impressions)) * min(placements[d*ranks+k], placements[d*ranks+j])
			}
		}
	}
	for _, i := range s.impressions {
		im := &l.Impressions[i]
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(im.ID))
		group := &h.groups[hash.Sum64()%jackknifed]
		group.grow(ranks)
		for k, d := range im.Shown {
			own := placements[d*ranks+k]
			if im.Clicks[k] == 0 || own < leastPropensity {
				continue
			}
			for j := range ranks {
				x := im.Clicks[k] * min(own, placements[d*ranks+j]) / own
				h.pairs[k][j].add(pair{0, x, x * x})
				group.pairs[k][j].add(pair{0, x, x * x})
			}
		}
	}
}

func (h *harvested) estimate(report *BiasReport, shown []float64) (Bias, error) {
	for k, row := range h.pairs {
		report.Overlap = append(report.Overlap, make([]float64, len(row)))
		for j, p := range row {
			report.Overlap[k][j] = p.overlap / shown[max(k, j)]
		}
	}
	report.Connected, report.Neighbours = h.connected(h.neighbours), h.connected(true)
	if len(report.Connected) > 1 {
		var silent []int // although their documents could have been at other ranks
		for k, rate := range report.ClickRate {
			others := slices.Clone(report.Overlap[k])
			if others[k] = 0; rate == 0 && slices.Max(others) > leastPropensity {
				silent = append(silent, k+1)
			}
		}
		if silent != nil {
			return Bias{}, fmt.Errorf("clicks: no clicks at ranks %v, and position bias compares clicks: want a longer log, or one of fewer ranks",
				silent)
		}
		return Bias{}, fmt.Errorf("clicks: ranks %v are not compared with the others: no clicked document could have been in both groups of "+
			"ranks; use a higher temperature, more impressions, or method %s", report.Connected[1], RegressionEM)
	}
	return h.solve()
}

// compared reports whether two ranks have clicks to compare. If neighbours is true, only neighbouring ranks are compared.
func (h *harvested) compared(k, j int, neighbours bool) bool {
	near := !neighbours || j == k-1 || j == k+1
	return near && h.pairs[k][j].clicks > 0 && h.pairs[j][k].clicks > 0
}

// connected returns the groups of ranks that are compared with each other, directly or through others.
func (h *harvested) connected(neighbours bool) (groups [][]int) {
	grouped := make([]bool, len(h.pairs))
	for first := range grouped {
		if grouped[first] {
			continue
		}
		grouped[first] = true
		group := []int{first + 1}
		for i := 0; i < len(group); i++ { // which grows
			for j := range grouped {
				if !grouped[j] && h.compared(group[i]-1, j, neighbours) {
					grouped[j] = true
					group = append(group, j+1)
				}
			}
		}
		slices.Sort(group)
		groups = append(groups, group)
	}
	return groups
}

// solve finds log α by least squares, from the differences log C_jk − log C_kj. Each
// logarithm has the variance Σx²/C². With neighbouring ranks alone there are no residuals: the solution is the
// chain of their ratios.
func (h *harvested) solve() (Bias, error) {
	ranks := len(h.pairs)
	b := Bias{Alpha: make([]float64, ranks)}
	b.Alpha[0] = 1
	if ranks == 1 {
		return b, nil
	}
	a := mat.NewSymDense(ranks-1, nil) // of ranks 2, 3, …: log α_1 is 0
	rhs := mat.NewVecDense(ranks-1, nil)
	for j := 1; j < ranks; j++ {
		for k := range j {
			if !h.compared(k, j, h.neighbours) {
				continue
			}
			upper, lower := h.pairs[k][j], h.pairs[j][k]
			weight := 1 / (upper.squares/(upper.clicks*upper.clicks) + lower.squares/(lower.clicks*lower.clicks))
			difference := weight * (math.Log(lower.clicks) - math.Log(upper.clicks))
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
	solution := mat.NewVecDense(ranks-1, nil)
	if !c.Factorize(a) {
		return Bias{}, errors.New("clicks: the comparisons of ranks have no solution")
	}
	if err := c.SolveVecTo(solution, rhs); err != nil {
		return Bias{}, err
	}
	for k := 1; k < ranks; k++ {
		b.Alpha[k] = math.Exp(solution.AtVec(k - 1))
	}
	return b, nil
}
