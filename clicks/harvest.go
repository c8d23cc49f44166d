package clicks

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/plrank/plrank/internal/num"
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
	neighbours bool     // compare only neighbouring ranks
	pairs      [][]pair // [ranks][ranks]
	resampled  []harvested
}

func (h *harvested) resamples() int { return resampled }

func (h *harvested) again(_ *rand.Rand, resample int) (Bias, error) {
	own := &h.resampled[resample]
	own.neighbours = h.neighbours
	own.grow(len(h.pairs))
	if len(own.connected(h.neighbours)) > 1 {
		return Bias{}, errors.New("ranks are not compared in a resample")
	}
	return own.solve()
}

// resample counts the click of an impression at a rank in the resamples that have the impression, each a Poisson number of
// times: which follows from its own seed, whatever the parts of the log.
func (h *harvested) resample(seed uint64, k int, weights []float64) {
	random := rand.New(rand.NewPCG(seed, 0))
	for r := range h.resampled {
		u, n := random.Float64(), 0.
		for p := math.Exp(-1); u > p && n < 8; p /= n { // Poisson numbers of mean 1, by their distribution
			u -= p
			n++
		}
		if n == 0 {
			continue
		}
		own := &h.resampled[r]
		own.grow(len(h.pairs))
		for j, x := range weights {
			own.pairs[k][j].clicks += n * x
			own.pairs[k][j].squares += n * x * x
		}
	}
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
		parts[b].resampled = make([]harvested, resampled)
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
	if h.resampled == nil {
		h.resampled = make([]harvested, resampled)
	}
	for _, part := range parts {
		h.merge(&part)
		for r := range part.resampled {
			h.resampled[r].merge(&part.resampled[r])
		}
	}
	return err
}

// merge adds the pairs of a part.
func (h *harvested) merge(part *harvested) {
	h.grow(len(part.pairs))
	for k, row := range part.pairs {
		for j, p := range row {
			to := &h.pairs[k][j]
			to.overlap += p.overlap
			to.clicks += p.clicks
			to.squares += p.squares
		}
	}
}

// seedOf returns the seed of an impression.
func seedOf(id string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(id))
	return num.SplitMix(hash.Sum64())
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
	weights := make([]float64, ranks)
	for _, i := range s.impressions {
		im := &l.Impressions[i]
		for k, d := range im.Shown {
			own := placements[d*ranks+k]
			if im.Clicks[k] == 0 || own < leastPropensity {
				continue
			}
			for j := range ranks {
				weights[j] = im.Clicks[k] * min(own, placements[d*ranks+j]) / own
				h.pairs[k][j].clicks += weights[j]
				h.pairs[k][j].squares += weights[j] * weights[j]
			}
			h.resample(seedOf(im.ID), k, weights)
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
