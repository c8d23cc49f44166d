package ranker

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/plrank/plrank/plackett"
)

// Rank appends to dst the documents in descending order of score; those of equal score
// stay as they stand.
func Rank(dst []int, scores []float64) []int {
	first := len(dst)
	for d := range scores {
		dst = append(dst, d)
	}
	slices.SortFunc(dst[first:], func(a, b int) int {
		if c := cmp.Compare(scores[b], scores[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return dst
}

// policy is the scratch space of draws and exposures.
type policy struct {
	sampler     plackett.Sampler
	kernel      plackett.Kernel
	expectation plackett.Expectation
	logs        []float64
}

var policies = sync.Pool{New: func() any { return new(policy) }}

// Draw appends to dst a ranking drawn from the Plackett–Luce policy of the scores: its
// first cutoff documents, or all if there are no more. The second result is log π(y),
// the logarithm of the probability of these documents in this order. The same seed gives
// the same ranking.
//
// A score that is not finite is an error, and so is a cutoff below 1.
func Draw(dst []int, scores []float64, cutoff int, seed uint64) (ranking []int, logProbability float64, err error) {
	if cutoff < 1 {
		return dst, 0, fmt.Errorf("ranker: cutoff %d, want 1 or more", cutoff)
	}
	k := min(cutoff, len(scores))
	if k == 0 {
		return dst, 0, nil
	}
	p := policies.Get().(*policy)
	defer policies.Put(p)
	first := len(dst)
	dst = slices.Grow(dst, k)[:first+k]
	drawn := plackett.Rankings{Documents: dst[first:], Cutoff: k}
	if err := p.sampler.Draw(scores, plackett.Stream{Seed: seed}, drawn); err != nil {
		return dst[:first], 0, fmt.Errorf("ranker: %w", err)
	}
	p.logs = slices.Grow(p.logs[:0], k)[:k]
	if err := p.kernel.LogProbs(scores, drawn, p.logs); err != nil {
		return dst[:first], 0, fmt.Errorf("ranker: %w", err)
	}
	for _, l := range p.logs {
		logProbability += l
	}
	return dst, logProbability, nil
}

// Exposure appends to dst the expected exposure of every document under the
// Plackett–Luce policy of the scores, E_y[θ at the rank of d], exactly: see
// [plackett.Expectation]. With K discounts of 1 it is the probability that the document
// is among the first K, its propensity to be shown.
//
// A score or discount that is not finite is an error.
func Exposure(dst, scores, discounts []float64) ([]float64, error) {
	p := policies.Get().(*policy)
	defer policies.Put(p)
	first := len(dst)
	dst = slices.Grow(dst, len(scores))[:first+len(scores)]
	if err := p.expectation.Exposure(scores, discounts, dst[first:]); err != nil {
		return dst[:first], fmt.Errorf("ranker: %w", err)
	}
	return dst, nil
}
