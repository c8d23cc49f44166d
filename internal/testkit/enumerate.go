package testkit

import (
	"fmt"
	"math"
)

// maxEnumerated bounds the rankings that Enumerate visits.
const maxEnumerated = 10_000_000

// Enumerate calls visit with every ranking of min(cutoff, D) documents of the list with
// log-scores m, and its probability π(y). The slice is reused. Lists must be tiny: Enumerate
// returns an error for more than ten million rankings.
func Enumerate(scores []float64, cutoff int, visit func(ranking []int, probability float64)) error {
	length := min(max(0, cutoff), len(scores))
	count := 1.0
	for k := range length {
		count *= float64(len(scores) - k)
	}
	if count > maxEnumerated {
		return fmt.Errorf("%g rankings of %d of %d documents are too many to enumerate: at most %g",
			count, length, len(scores), float64(maxEnumerated))
	}
	ranking := make([]int, 0, length)
	placed := make([]bool, len(scores))
	var extend func(probability float64)
	extend = func(probability float64) {
		if len(ranking) == length {
			visit(ranking, probability)
			return
		}
		chances := Chances(scores, placed)
		for d := range scores {
			if !placed[d] {
				placed[d] = true
				ranking = append(ranking, d)
				extend(probability * chances[d])
				ranking = ranking[:len(ranking)-1]
				placed[d] = false
			}
		}
	}
	extend(1)
	return nil
}

// Chances returns P(d) of the documents not placed: their softmax.
func Chances(scores []float64, placed []bool) []float64 {
	largest := math.Inf(-1)
	for d, m := range scores {
		if !placed[d] {
			largest = max(largest, m)
		}
	}
	p := make([]float64, len(scores))
	mass := 0.0
	for d, m := range scores {
		if !placed[d] {
			p[d] = math.Exp(m - largest)
			mass += p[d]
		}
	}
	for d := range p {
		p[d] /= mass
	}
	return p
}

// Moments holds expectations under the policy of one list.
type Moments struct {
	Reward   float64   // R = E_y[Σ_k θ_k ρ_{y_k}]
	Gradient []float64 // dR/dm_d
	Exposure []float64 // E_d = E_y[Σ_k θ_k 1[y_k = d]]
}

// EnumerateMoments computes expectations by enumeration, the gradient as
// Σ_y π(y) W_1(y) Σ_k (1[y_k = d] − P_k(d)). It shares no code with what it checks. It has the limits of [Enumerate].
func EnumerateMoments(scores, gains, discounts []float64) (Moments, error) {
	x := Moments{Gradient: make([]float64, len(scores)), Exposure: make([]float64, len(scores))}
	placed := make([]bool, len(scores))
	err := Enumerate(scores, len(discounts), func(ranking []int, probability float64) {
		reward := 0.0
		for k, d := range ranking {
			reward += discounts[k] * gains[d]
			x.Exposure[d] += probability * discounts[k]
		}
		x.Reward += probability * reward
		clear(placed)
		for _, chosen := range ranking {
			for d, chance := range Chances(scores, placed) {
				x.Gradient[d] -= probability * reward * chance
			}
			x.Gradient[chosen] += probability * reward
			placed[chosen] = true
		}
	})
	return x, err
}
