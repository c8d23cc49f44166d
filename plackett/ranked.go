package plackett

import (
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/order"
)

// RankedExposure writes to exposure that of the ranking by descending score: the
// document at rank k has θ_k, documents of equal score share the discounts of their
// ranks equally, and ranks beyond the discounts have none. It is the limit of the
// policy's expected exposure for scores that are scaled up without end; with the gains
// for scores it is the target E* of expected exposure (Diaz et al., CIKM 2020), and
// Σ_d ρ_d E*_d the best value of the metric where discounts do not rise. It panics if
// a score is NaN, or if exposure has not the length of scores.
func RankedExposure(scores, discounts, exposure []float64) {
	if err := checkLength("exposure", len(exposure), len(scores)); err != nil {
		panic("plackett: " + err.Error())
	}
	if d := slices.IndexFunc(scores, math.IsNaN); d >= 0 {
		panic(fmt.Sprintf("plackett: the score of document %d is NaN", d))
	}
	ranking := order.Descending(nil, scores)
	for first := 0; first < len(ranking); {
		end, sum := first, 0.0
		for ; end < len(ranking) && scores[ranking[end]] == scores[ranking[first]]; end++ {
			if end < len(discounts) {
				sum += discounts[end]
			}
		}
		for _, d := range ranking[first:end] {
			exposure[d] = sum / float64(end-first)
		}
		first = end
	}
}
