package metrics

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// DiscountedGain is an objective of training, the sum over ranks Σ_k θ_k ρ_{y_k} of discounts times gains.
type DiscountedGain struct {
	Discounts []float64 // θ, as many as the cutoff; without a cutoff, as many as the argument of Over
	// Metric is the name of the metric that the sum equals with the metric's gains; "" if no
	// metric has these discounts.
	Metric string

	metric metric // that Metric names; its family is nil if there is none
}

// ParseDiscounts reads discounts for the first cutoff ranks, or with a cutoff of 0 for every
// rank, see [DiscountedGain.Over]:
//
//   - dcg: θ_k = 1/log2(k+1), for gains 2^label − 1; with [DiscountedGain.Norm], NDCG;
//   - precision: θ_k = 1/cutoff, for binary gains;
//   - rbp, of persistence 0.8, or rbp(0.95): θ_k = (1 − p) p^(k−1), for binary gains;
//   - arp: θ_k = cutoff + 1 − k, for linear gains divided by DiscountedGain.Norm: the sum
//     is then cutoff + 1 − ARP@cutoff;
//   - or numbers such as "1, 0.5, 0.25", as many as the cutoff, not all 0.
//
// It returns an error for precision or numbers without a cutoff.
func ParseDiscounts(text string, cutoff int) (DiscountedGain, error) {
	text = strings.TrimSpace(text)
	if cutoff < 0 {
		return DiscountedGain{}, fmt.Errorf("metrics: discounts for a cutoff of %d: want 1 or more, or 0 for every rank", cutoff)
	}
	fault := func(format string, args ...any) (DiscountedGain, error) {
		return DiscountedGain{}, fmt.Errorf("metrics: discounts %q: %s", text, fmt.Sprintf(format, args...))
	}
	name := strings.ToLower(text)
	base, _, _ := strings.Cut(name, "(")
	if f := lookup(base); f != nil && f.theta != nil && f.name == base {
		c, err := parseCall(name)
		var p float64
		if err == nil {
			p, err = f.param.parse(c)
		}
		switch {
		case err == nil && c.cutoff == 0 && cutoff == 0 && f.theta(1, 2, p) == f.theta(2, 2, p):
			return fault("it counts all ranks alike, so without a cutoff all rankings are equal: set a cutoff")
		case err == nil && c.cutoff == 0:
			m := metric{f, cutoff, p}
			return DiscountedGain{Metric: m.String(), metric: m}.over(cutoff), nil
		case f.param.name == "":
			return fault("%s has no parameter", f.name)
		}
		return fault("want %s, such as %s(0.95)", f.param.want, f.name)
	}
	var given []float64
	for i, number := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || v-v != 0 {
			return fault("number %d, %q: want dcg, precision, arp, rbp, rbp(persistence), or finite numbers with commas between", i+1, number)
		}
		given = append(given, v)
	}
	switch {
	case cutoff == 0:
		return fault("%d numbers where every rank counts: want a cutoff of %[1]d", len(given))
	case len(given) != cutoff:
		return fault("%d numbers for a cutoff of %d: want one for every rank that counts", len(given), cutoff)
	case !slices.ContainsFunc(given, func(v float64) bool { return v != 0 }):
		return fault("all are 0: there is nothing to learn")
	}
	return DiscountedGain{Discounts: given}, nil
}

// Over returns the objective for queries of up to that many documents. If every rank counts, it
// has that many discounts, which for arp are documents + 1 − k. With a cutoff it returns o.
func (o DiscountedGain) Over(documents int) DiscountedGain {
	if o.metric.family == nil || o.metric.cutoff > 0 {
		return o
	}
	return o.over(documents)
}

// over sets the discounts of a metric for that number of ranks.
func (o DiscountedGain) over(ranks int) DiscountedGain {
	o.Discounts = make([]float64, ranks)
	for k := range o.Discounts {
		o.Discounts[k] = o.metric.family.theta(float64(k+1), float64(ranks), o.metric.param)
	}
	return o
}

// CheckNorm returns an error if a discount is negative or larger than the one before: such
// discounts cannot normalize gains.
func (o DiscountedGain) CheckNorm() error {
	for k, v := range o.Discounts {
		if v < 0 || k > 0 && v > o.Discounts[k-1] {
			return fmt.Errorf("rank %d: to normalize gains, discounts must not be negative and must not rise", k+1)
		}
	}
	return nil
}

// Norm returns the divisor of normalized gains of a query: the highest value that the sum can
// have, or for arp the sum of the gains.
func (o DiscountedGain) Norm(gains []float64) float64 {
	if f := o.metric.family; f != nil && f.bySum {
		return floats.Sum(gains)
	}
	return IdealDCG(gains, o.Discounts)
}

// Discounts returns DCG's rank discounts θ_k = 1/log2(k+1) for ranks k = 1 … n (Burges et al.,
// ICML 2005), none for n below 1. [ParseDiscounts] has others.
func Discounts(n int) []float64 {
	d := make([]float64, max(n, 0))
	for k := range d {
		d[k] = dcgWeight(float64(k+1), 0)
	}
	return d
}

// IdealDCG returns the highest DCG that documents of these gains can have, Σ_k θ_k ρ_(k) with
// ρ_(1) ≥ ρ_(2) ≥ …, over as many ranks as there are discounts and documents. Discounts
// must not grow with the rank.
func IdealDCG(gains, discounts []float64) float64 {
	ideal := 0.0
	for k, d := range top(nil, gains, min(len(gains), len(discounts))) {
		ideal += discounts[k] * gains[d]
	}
	return ideal
}

// IdealAlphaDCG returns the α-DCG of the greedy best ranking of documents with these intents, see
// Queries.Intents, over as many ranks as there are discounts and documents: at each rank it takes the
// document of the most gain, where an intent that n documents above have is worth (1 − α)^n. The order
// of the documents does not matter: of several, it takes the one with the intent of the highest number.
func IdealAlphaDCG(sets []int, documents int, alpha float64, discounts []float64) float64 {
	return idealAlphaDCG(sets, documents, nil, alpha, discounts)
}

// idealAlphaDCG is IdealAlphaDCG which takes the last id of several documents, if there are ids.
func idealAlphaDCG(sets []int, documents int, ids []string, alpha float64, discounts []float64) float64 {
	ints := len(sets) / max(1, documents)
	later := func(d, best int) bool {
		if ids != nil {
			return ids[d] > ids[best]
		}
		for at := ints - 1; at >= 0; at-- {
			if a, b := sets[d*ints+at], sets[best*ints+at]; a != b {
				return a > b
			}
		}
		return false
	}
	left, worth := slices.Clone(sets), make([][bits.UintSize]float64, ints)
	for at := range worth {
		for i := range worth[at] {
			worth[at][i] = 1
		}
	}
	ideal := 0.0
	for _, discount := range discounts[:min(len(discounts), documents)] {
		best, most := 0, 0.0
		for d := range documents {
			gain := worthOf(left[d*ints:(d+1)*ints], worth)
			if gain > most || gain == most && later(d, best) {
				best, most = d, gain
			}
		}
		ideal += discount * most
		for at := range worth {
			for has := left[best*ints+at]; has != 0; has &= has - 1 {
				worth[at][bits.TrailingZeros(uint(has))] *= 1 - alpha
			}
			left[best*ints+at] = 0
		}
	}
	return ideal
}

// worthOf returns the sum over a set of intents.
func worthOf(set []int, worth [][bits.UintSize]float64) (sum float64) {
	for at, left := range set {
		w := &worth[at]
		for ; left != 0; left &= left - 1 {
			sum += w[bits.TrailingZeros(uint(left))]
		}
	}
	return sum
}
