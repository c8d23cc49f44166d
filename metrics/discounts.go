package metrics

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// Discounts are DCG's rank discounts θ_k = 1/log2(k+1) for ranks k = 1 … n
// (Burges et al. 2005); for n below 1 there are none, which is an error to all that
// takes discounts. [ParseObjective] has others.
func Discounts(n int) []float64 {
	return discounts(n, func(k float64) float64 { return 1 / math.Log2(k+1) })
}

func discounts(n int, theta func(rank float64) float64) []float64 {
	d := make([]float64, max(n, 0))
	for k := range d {
		d[k] = theta(float64(k + 1))
	}
	return d
}

// IdealDCG is the highest DCG that documents of these gains can reach,
// Σ_k θ_k ρ_(k) with ρ_(1) ≥ ρ_(2) ≥ …, over as many ranks as there are
// discounts and documents. Discounts must not grow with the rank.
func IdealDCG(gains, discounts []float64) float64 {
	ideal := 0.0
	for k, d := range top(nil, gains, min(len(gains), len(discounts))) {
		ideal += discounts[k] * gains[d]
	}
	return ideal
}

// Objective is a sum over ranks that a model can be trained for, Σ_k θ_k ρ_{y_k}.
type Objective struct {
	Discounts []float64 // θ, as many as the cutoff
	// Metric is the name of the metric that the sum is, given its gains: "" where it
	// has none, as for discounts of one's own.
	Metric string

	ofSum bool // the gains are to be divided by their sum
}

// ParseObjective reads discounts for so many ranks:
//
//   - dcg: θ_k = 1/log2(k+1), for gains 2^label − 1; with [Objective.Norm], NDCG;
//   - precision: θ_k = 1/cutoff, for binary gains;
//   - rbp, of persistence 0.8, or rbp(0.95): θ_k = (1 − p) p^(k−1), for binary gains;
//   - arp: θ_k = cutoff + 1 − k, for linear gains divided by Objective.Norm: the sum
//     is then cutoff + 1 − ARP@cutoff;
//   - or numbers of one's own, "1, 0.5, 0.25", as many as the cutoff, not all 0.
func ParseObjective(text string, cutoff int) (Objective, error) {
	text = strings.TrimSpace(text)
	if cutoff < 1 {
		return Objective{}, fmt.Errorf("metrics: discounts for a cutoff of %d: want 1 or more", cutoff)
	}
	fault := func(format string, args ...any) (Objective, error) {
		return Objective{}, fmt.Errorf("metrics: discounts %q: %s", text, fmt.Sprintf(format, args...))
	}
	at := metric{cutoff: cutoff}
	var theta func(k float64) float64
	name := strings.ToLower(text)
	c, isCall, _ := parseCall(name)
	switch {
	case name == "dcg":
		at.kind, theta = dcg, func(k float64) float64 { return 1 / math.Log2(k+1) }
	case name == "precision":
		at.kind, theta = precision, func(float64) float64 { return 1 / float64(cutoff) }
	case name == "arp":
		at.kind, theta = averageRelevancePosition, func(k float64) float64 { return float64(cutoff) + 1 - k }
	case strings.HasPrefix(name, "rbp"):
		p, err := persistence.parse(c)
		if !isCall || c.name != "rbp" || c.cutoff != 0 || err != nil {
			return fault("want a persistence between 0 and 1, such as rbp(0.95)")
		}
		at.kind, at.param, theta = rankBiasedPrecision, p, func(k float64) float64 { return (1 - p) * math.Pow(p, k-1) }
	}
	if theta != nil {
		return Objective{Discounts: discounts(cutoff, theta), Metric: at.String(), ofSum: name == "arp"}, nil
	}
	var own []float64
	for i, number := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || v-v != 0 {
			return fault("number %d, %q: want dcg, precision, arp, rbp, rbp(persistence), or finite numbers with commas between", i+1, number)
		}
		own = append(own, v)
	}
	switch {
	case len(own) != cutoff:
		return fault("%d numbers for a cutoff of %d: want one for every rank that counts", len(own), cutoff)
	case floats.Norm(own, math.Inf(1)) == 0:
		return fault("all are 0: nothing is left to learn from")
	}
	return Objective{Discounts: own}, nil
}

// CheckNorm is an error where gains cannot be normalized, for discounts that are
// negative or rise from rank to rank.
func (o Objective) CheckNorm() error {
	for k, v := range o.Discounts {
		if v < 0 || k > 0 && v > o.Discounts[k-1] {
			return fmt.Errorf("rank %d: gains are only normalized by discounts that are 0 or more and do not rise", k+1)
		}
	}
	return nil
}

// Norm is what the gains of a query are divided by where they are normalized: the
// highest value that the sum can have, or for arp the sum of the gains.
func (o Objective) Norm(gains []float64) float64 {
	if o.ofSum {
		return floats.Sum(gains)
	}
	return IdealDCG(gains, o.Discounts)
}
