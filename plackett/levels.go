package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/num"
)

// levels is the number of levels; extreme marks rankings beyond them.
const (
	levels  = 7
	extreme = -1
)

// levelStep is the factor between levels. A larger one costs digits, since what a
// document gets from a level may cancel to 1/levelStep of it: 64 keeps the error
// of a hundred terms below 1e-13 of scale.
const levelStep = 64

// levelOf returns the level of a ranking from 1/M_K, which is infinite or negative where
// subtraction left nothing.
func (k *Kernel) levelOf(inverse float64) int8 {
	share := inverse * k.mass.High
	if !(share > 0) {
		return extreme
	}
	for level := range int8(levels) {
		if share <= levelStep {
			return level
		}
		share /= levelStep
	}
	return extreme
}

// ranking returns the documents of a ranking, and marks them.
func (k *Kernel) ranking(b, lane, length int) []int {
	entries, _ := k.blockRanks(b)
	k.mark++
	row := k.row[:length]
	for p := range row {
		row[p] = int(entries[p][lane])
		k.documents[row[p]].mark = k.mark
	}
	return row
}

// rebuild computes 1/M_k and ρ̄_k of an extreme ranking, from the documents not
// placed and then the last place upwards, so that nothing is subtracted. A mass is
// relative to the exponential of a reference, the largest score that is left, which stands in W:
// scores may be so far apart that differences from the largest of all are equal after rounding.
func (k *Kernel) rebuild(b, lane, length int, gains []float64) {
	_, ranks := k.blockRanks(b)
	row := k.ranking(b, lane, length)
	scores := k.policy.scores
	largest := math.Inf(-1)
	for d, m := range scores {
		if k.documents[d].mark != k.mark {
			largest = max(largest, m)
		}
	}
	mass, gain := 0.0, 0.0
	add := func(d int, e float64) {
		mass += e
		if gains != nil {
			gain += e * gains[d]
		}
	}
	for d, m := range scores {
		if k.documents[d].mark != k.mark {
			add(d, k.rebased(d, m, largest))
		}
	}
	for p := len(row) - 1; p >= 0; p-- {
		d := row[p]
		m := scores[d]
		if m > largest {
			shrink := num.FlushExp(largest - m)
			mass *= shrink
			gain *= shrink
			largest = m
		}
		add(d, k.rebased(d, m, largest))
		ranks[p].W[lane], ranks[p].Inverse[lane] = largest, 1/mass
		ranks[p].Gain[lane] = gain / mass
	}
}

// rebased returns exp(m − to) of document d, without an exponential where to is the
// largest score of the list.
func (k *Kernel) rebased(d int, m, to float64) float64 {
	if to == k.policy.max {
		return k.policy.weights[d]
	}
	return num.FlushExp(m - to)
}

// accumulateExtreme adds the whole λ of an extreme ranking. A_k and B_k are kept
// multiplied by M_k, which grows smaller from rank to rank, so they stay in range
// whatever the scores.
func (k *Kernel) accumulateExtreme(b, lane, length int, theta, gains, lambda []float64) {
	_, ranks := k.blockRanks(b)
	row := k.ranking(b, lane, length)
	c, later := k.credit, 0.0
	for p := k.cutoff - 1; p >= 0; p-- { // a whole ranking's reward may be behind its last document
		reward := theta[p] * ranks[p].Gain[lane]
		k.future[p] = c.Later*later + c.Own*reward - k.baseline[p]
		k.risk[p] = k.future[p] + c.Risk*reward
		later += reward
	}
	sumA, sumB := 0.0, 0.0    // M_k·A_k, M_k·B_k
	var last, inverse float64 // the reference and 1/M_k of the current rank
	add := func(d int) {
		part := k.rebased(d, k.policy.scores[d], last) * inverse
		if gains != nil {
			lambda[d] += part * (gains[d]*sumA - sumB)
		} else {
			lambda[d] -= part * sumB
		}
	}
	for p, d := range row {
		reference, now := ranks[p].W[lane], ranks[p].Inverse[lane]
		if p > 0 {
			shrink := num.FlushExp(reference-last) * inverse / now
			sumA *= shrink
			sumB *= shrink
		}
		last, inverse = reference, now
		sumA += theta[p]
		sumB += k.risk[p]
		lambda[d] += k.future[p]
		add(d)
	}
	for d := range k.policy.weights {
		if k.documents[d].mark != k.mark {
			add(d)
		}
	}
}
