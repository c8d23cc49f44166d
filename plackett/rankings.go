package plackett

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/num"
)

// Rankings holds sampled rankings of one list, rows of Cutoff entries. An entry is Base plus
// the position of a document, or −1 past the end of a shorter ranking. A row whose first
// entry is −1 is absent; means are over those present.
type Rankings struct {
	Documents []int // [rankings × Cutoff]
	Cutoff    int
	Base      int // 0, or the row of the first document, where lists stand in one batch
}

// NewRankings returns room for that many samples, rankings of at most cutoff documents.
func NewRankings(samples, cutoff int) Rankings {
	return Rankings{Documents: make([]int, samples*cutoff), Cutoff: cutoff}
}

// samples returns the number of rows.
func (r Rankings) samples() (int, error) {
	switch {
	case r.Cutoff == 0 && len(r.Documents) == 0:
		return 0, nil
	case r.Cutoff < 1 || len(r.Documents)%r.Cutoff != 0:
		return 0, fmt.Errorf("rankings: %d entries is not a multiple of the cutoff %d", len(r.Documents), r.Cutoff)
	}
	return len(r.Documents) / r.Cutoff, nil
}

func (r Rankings) sample(i int) []int { return r.Documents[i*r.Cutoff : (i+1)*r.Cutoff] }

// fault returns what is wrong with the entry at a rank of sample i, whose first length entries are
// valid.
func (r Rankings) fault(i, rank, length, docs int) error {
	entry := r.sample(i)[rank]
	reason := "is placed twice"
	switch d := entry - r.Base; {
	case length < rank:
		reason = "follows the ranking's end (-1)"
	case docs == 0:
		reason = "is in a ranking of a list without documents: want none"
	case d < 0 || d >= docs:
		reason = fmt.Sprintf("is outside the list, which has rows %d to %d", r.Base, r.Base+docs-1)
	}
	return &RankingError{i, rank, entry, reason}
}

// RewardsToGo writes W_k = Σ_{x≥k} θ_x ρ_{y_x}, divided by the number of rankings
// present, for every rank to out, which has the shape of the rankings. Ranks without a document
// get 0, and ranks beyond the discounts earn nothing. It returns the errors of [Kernel.Gradient].
func RewardsToGo(gains, discounts []float64, r Rankings, out []float64) error {
	err := cmp.Or(checkLength("rewards", len(out), len(r.Documents)), checkFinite("gain", gains), checkDiscounts(discounts))
	if err != nil {
		return err
	}
	if _, err := scaleOf(gains, discounts[:min(len(discounts), max(0, r.Cutoff))]); err != nil {
		return err
	}
	samples, err := r.samples()
	if err != nil {
		return err
	}
	clear(out)
	present := 0
	for i := range samples {
		ranking := r.sample(i)
		length := 0
		for k, row := range ranking {
			if d := row - r.Base; row != -1 && (d < 0 || d >= len(gains) || length < k) {
				return r.fault(i, k, length, len(gains))
			}
			if row != -1 {
				length++
			}
		}
		reward := 0.0
		for k := length - 1; k >= 0; k-- {
			if k < len(discounts) {
				reward += discounts[k] * gains[ranking[k]-r.Base]
			}
			out[i*r.Cutoff+k] = reward
		}
		present += min(1, length)
	}
	for i := range out {
		out[i] /= float64(max(1, present))
	}
	return nil
}

// RankedExposure writes the exposure of the ranking by descending score to exposure: the
// document at rank k has θ_k, documents of equal score share the discounts of their
// ranks equally, and ranks beyond the discounts have none. It is the limit of the
// policy's expected exposure as the scores are scaled up. With the gains
// for scores it is the target E* of expected exposure (Diaz et al., CIKM 2020), and
// Σ_d ρ_d E*_d is the best value of the metric if discounts do not rise. It panics if
// a score is NaN, or if the lengths of exposure and scores differ.
func RankedExposure(scores, discounts, exposure []float64) {
	if err := checkLength("exposure", len(exposure), len(scores)); err != nil {
		panic("plackett: " + err.Error())
	}
	if d := slices.IndexFunc(scores, math.IsNaN); d >= 0 {
		panic(fmt.Sprintf("plackett: the score of document %d is NaN", d))
	}
	ranking := num.DescendingOrder(nil, scores)
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
