package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/normal"
)

// levels is the number of levels; extreme is what rankings beyond them have.
const (
	levels  = 7
	extreme = -1
)

// levelStep is the factor between levels. A larger one costs digits, since what a
// document gets from a level may cancel to 1/levelStep of it: 64 keeps the error
// of a hundred terms below 1e-13 of scale.
const levelStep = 64

// refine computes 1/M_k and ρ̄_k of a ranking again that leaves little mass, and returns
// its level. See rebuild for those of an extreme ranking.
func (k *Kernel) refine(entries []int, masses, means, gains []float64) int8 {
	level := k.subtract(entries, masses, means, gains)
	if level == extreme {
		k.rebuild(entries, k.references[len(k.samples)*k.cutoff:], masses, means, gains)
	}
	return level
}

// subtract computes 1/M_k and ρ̄_k by subtraction in about twice the precision, and
// returns the level.
func (k *Kernel) subtract(entries []int, inverse, means, gains []float64) int8 {
	if !k.precise {
		k.total, k.gainTotal = doubleDouble{}, doubleDouble{}
		for d, e := range k.policy.weights {
			k.total.add(e)
			if gains != nil {
				k.gainTotal.add(e * gains[d])
			}
		}
		for l, most := 0, k.total.value(); l < levels; l++ {
			k.ceiling[l] = most
			most /= levelStep
		}
		k.precise = true
	}
	mass, gain := k.total, k.gainTotal
	left := 0.0
	for p, d := range entries {
		left = mass.value()
		e := k.policy.weights[d]
		inverse[p] = 1 / left
		mass.add(-e)
		if gains != nil {
			means[p] = gain.value() / left
			gain.add(-e * gains[d])
		}
	}
	level := int8(levels - 1)
	if left < k.ceiling[level]/levelStep {
		return extreme
	}
	for left >= k.ceiling[level] && level > 0 {
		level--
	}
	return level
}

// rebuild fills masses with 1/M_k, and means with ρ̄_k, from the documents not
// placed and then the last place upwards, so that nothing is subtracted. A mass is
// relative to the exponential of a reference, the largest score that is left: scores may be
// so far apart that differences from the largest of all are equal after rounding.
func (k *Kernel) rebuild(entries []int, references, inverse, means, gains []float64) {
	scores := k.policy.scores
	largest := math.Inf(-1)
	for d, m := range scores {
		if k.stamp[d] != k.mark {
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
		if k.stamp[d] != k.mark {
			add(d, k.rebased(d, m, largest))
		}
	}
	for p := len(entries) - 1; p >= 0; p-- {
		d := entries[p]
		m := scores[d]
		if m > largest {
			shrink := normal.Exp(largest - m)
			mass *= shrink
			gain *= shrink
			largest = m
		}
		add(d, k.rebased(d, m, largest))
		references[p], inverse[p] = largest, 1/mass
		if gains != nil {
			means[p] = gain / mass
		}
	}
}

// rebased returns exp(m − to) of document d, without an exponential where to is the
// largest score of the list.
func (k *Kernel) rebased(d int, m, to float64) float64 {
	if to == k.policy.max {
		return k.policy.weights[d]
	}
	return normal.Exp(m - to)
}

// accumulatePeaked is accumulate for a level above 0. Placed documents get their own
// part straight from A_r and B_r; the light ones, which take part in the sums of
// the level, have A_K and B_K taken back.
func (k *Kernel) accumulatePeaked(level int8, entries []int, inverse, gains, theta, lambda []float64) {
	a, b := 0.0, 0.0
	for p, d := range entries {
		if gains != nil {
			a += theta[p] * inverse[p]
		}
		b += k.risk[p] * inverse[p]
		lambda[d] += k.future[p] + k.share(d, a, b, gains)
	}
	for _, d := range entries {
		if k.policy.weights[d] <= k.ceiling[level] {
			lambda[d] -= k.share(d, a, b, gains)
		}
	}
	k.sumA[level] += a
	k.sumB[level] += b
}

// accumulateExtreme adds the whole λ of an extreme ranking. A_k and B_k are kept
// multiplied by M_k, which grows smaller from rank to rank, so they stay in range
// whatever the scores.
func (k *Kernel) accumulateExtreme(entries []int, references, inverse, gains, theta, lambda []float64) {
	a, b := 0.0, 0.0 // M_k·A_k, M_k·B_k
	add := func(d, rank int) {
		p := k.rebased(d, k.policy.scores[d], references[rank]) * inverse[rank]
		if gains != nil {
			lambda[d] += p * (gains[d]*a - b)
		} else {
			lambda[d] -= p * b
		}
	}
	k.mark++
	for p, d := range entries {
		if p > 0 {
			shrink := normal.Exp(references[p]-references[p-1]) * inverse[p-1] / inverse[p]
			a *= shrink
			b *= shrink
		}
		if gains != nil {
			a += theta[p]
		}
		b += k.risk[p]
		lambda[d] += k.future[p]
		add(d, p)
		k.stamp[d] = k.mark
	}
	for d := range k.policy.weights {
		if k.stamp[d] != k.mark {
			add(d, len(entries)-1)
		}
	}
}
