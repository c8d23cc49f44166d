package metrics

import "math"

// Discounts are DCG's rank discounts θ_k = 1/log2(k+1) for ranks k = 1 … n (Burges et al.,
// ICML 2005), none for n below 1. [ParseObjective] has others.
func Discounts(n int) []float64 { return discounts(n, dcgDiscount) }

func dcgDiscount(rank float64) float64 { return 1 / math.Log2(rank+1) }

// letor4Discount is 1 for the first two ranks and 1/log2(rank) for the others, the
// discount of Järvelin & Kekäläinen (2002) with a logarithm to the base 2.
func letor4Discount(rank float64) float64 { return 1 / math.Log2(max(rank, 2)) }

// rbpDiscount is that of rank-biased precision, of persistence p.
func rbpDiscount(p, rank float64) float64 { return (1 - p) * math.Pow(p, rank-1) }

func discounts(n int, theta func(rank float64) float64) []float64 {
	d := make([]float64, max(n, 0))
	for k := range d {
		d[k] = theta(float64(k + 1))
	}
	return d
}

// IdealDCG is the highest DCG that documents of these gains can have, Σ_k θ_k ρ_(k) with
// ρ_(1) ≥ ρ_(2) ≥ …, over as many ranks as there are discounts and documents. Discounts
// must not grow with the rank.
func IdealDCG(gains, discounts []float64) float64 {
	ideal := 0.0
	for k, d := range top(nil, gains, min(len(gains), len(discounts))) {
		ideal += discounts[k] * gains[d]
	}
	return ideal
}
