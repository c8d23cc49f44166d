package metrics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// Objective is a sum over ranks that a model can be trained for, Σ_k θ_k ρ_{y_k}.
type Objective struct {
	Discounts []float64 // θ, as many as the cutoff
	// Metric is the name of the metric that the sum is, given the metric's gains: "" for
	// discounts that no metric has.
	Metric string

	bySum bool // normalized gains are divided by their sum
}

// objectives are the sums with a name, that of their metric.
var objectives = []struct {
	name  string
	param param
	theta func(k, cutoff, param float64) float64
	bySum bool
}{
	{name: "dcg", theta: func(k, _, _ float64) float64 { return dcgDiscount(k) }},
	{name: "precision", theta: func(_, cutoff, _ float64) float64 { return 1 / cutoff }},
	{name: "arp", theta: func(k, cutoff, _ float64) float64 { return cutoff + 1 - k }, bySum: true},
	{name: "rbp", theta: func(k, _, p float64) float64 { return rbpDiscount(p, k) }, param: persistence},
}

// ParseObjective reads discounts for that many ranks:
//
//   - dcg: θ_k = 1/log2(k+1), for gains 2^label − 1; with [Objective.Norm], NDCG;
//   - precision: θ_k = 1/cutoff, for binary gains;
//   - rbp, of persistence 0.8, or rbp(0.95): θ_k = (1 − p) p^(k−1), for binary gains;
//   - arp: θ_k = cutoff + 1 − k, for linear gains divided by Objective.Norm: the sum
//     is then cutoff + 1 − ARP@cutoff;
//   - or numbers such as "1, 0.5, 0.25", as many as the cutoff, not all 0.
func ParseObjective(text string, cutoff int) (Objective, error) {
	text = strings.TrimSpace(text)
	if cutoff < 1 {
		return Objective{}, fmt.Errorf("metrics: discounts for a cutoff of %d: want 1 or more", cutoff)
	}
	fault := func(format string, args ...any) (Objective, error) {
		return Objective{}, fmt.Errorf("metrics: discounts %q: %s", text, fmt.Sprintf(format, args...))
	}
	name := strings.ToLower(text)
	base, _, _ := strings.Cut(name, "(")
	for _, row := range objectives {
		if row.name != base {
			continue
		}
		c, isCall, _ := parseCall(name)
		p, err := row.param.parse(c)
		switch {
		case isCall && err == nil && c.cutoff == 0:
			theta := func(k float64) float64 { return row.theta(k, float64(cutoff), p) }
			return Objective{discounts(cutoff, theta), row.param.format(row.name, p, cutoff), row.bySum}, nil
		case row.param.name == "":
			return fault("%s has no parameter", row.name)
		}
		return fault("want %s, such as %s(0.95)", row.param.want, row.name)
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
	case len(given) != cutoff:
		return fault("%d numbers for a cutoff of %d: want one for every rank that counts", len(given), cutoff)
	case !slices.ContainsFunc(given, func(v float64) bool { return v != 0 }):
		return fault("all are 0: nothing is left to learn from")
	}
	return Objective{Discounts: given}, nil
}

// CheckNorm returns an error for discounts that are negative or rise from rank to rank:
// gains cannot be normalized by them.
func (o Objective) CheckNorm() error {
	for k, v := range o.Discounts {
		if v < 0 || k > 0 && v > o.Discounts[k-1] {
			return fmt.Errorf("rank %d: gains are only normalized by discounts that are 0 or more and do not rise", k+1)
		}
	}
	return nil
}

// Norm is what normalized gains of a query are divided by: the highest value that the sum
// can have, or for arp the sum of the gains.
func (o Objective) Norm(gains []float64) float64 {
	if o.bySum {
		return floats.Sum(gains)
	}
	return IdealDCG(gains, o.Discounts)
}
