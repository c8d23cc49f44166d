package losses

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/plrank/plrank/metrics"
)

// DCGDiscounts are those of DCG@cutoff, θ_k = 1/log2(k+1) (Järvelin & Kekäläinen, TOIS
// 2002; Burges et al., ICML 2005), for gains 2^label − 1; for NDCG@cutoff with
// [NormalizedGains]. They are [metrics.Discounts].
func DCGDiscounts(cutoff int) []float64 {
	return metrics.Discounts(cutoff)
}

// PrecisionDiscounts are those of precision@cutoff, θ_k = 1/cutoff, for gains of 1 for
// relevant documents and 0 for others.
func PrecisionDiscounts(cutoff int) []float64 {
	return discounts(cutoff, func(float64) float64 { return 1 / float64(cutoff) })
}

// ARPDiscounts are those of the average relevance position (Wang et al., CIKM 2018),
// θ_k = cutoff + 1 − k, for gains that are the labels divided by the sum of the labels
// of their query: the metric is then cutoff + 1 − ARP@cutoff, in which documents
// after the cutoff count as if they stood right behind it.
func ARPDiscounts(cutoff int) []float64 {
	return discounts(cutoff, func(k float64) float64 { return float64(cutoff) + 1 - k })
}

// RBPDiscounts are those of rank-biased precision@cutoff (Moffat & Zobel, TOIS 2008),
// θ_k = (1 − p) p^(k−1) for a persistence p between 0 and 1, for gains as for
// [PrecisionDiscounts].
func RBPDiscounts(cutoff int, persistence float64) []float64 {
	return discounts(cutoff, func(k float64) float64 { return (1 - persistence) * math.Pow(persistence, k-1) })
}

func discounts(cutoff int, theta func(k float64) float64) []float64 {
	d := make([]float64, cutoff)
	for k := range d {
		d[k] = theta(float64(k + 1))
	}
	return d
}

// ParseDiscounts reads discounts for so many ranks: dcg, precision, arp, rbp (of
// persistence 0.8), rbp(0.95), or numbers of one's own, "1, 0.5, 0.25", which must be
// as many as the cutoff.
func ParseDiscounts(text string, cutoff int) ([]float64, error) {
	if cutoff < 1 {
		return nil, fmt.Errorf("losses: discounts for a cutoff of %d: want 1 or more", cutoff)
	}
	switch text = strings.TrimSpace(text); text {
	case "dcg":
		return DCGDiscounts(cutoff), nil
	case "precision":
		return PrecisionDiscounts(cutoff), nil
	case "arp":
		return ARPDiscounts(cutoff), nil
	case "rbp":
		return RBPDiscounts(cutoff, 0.8), nil
	}
	if inner, ok := strings.CutPrefix(text, "rbp("); ok {
		p, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(inner, ")")), 64)
		if err != nil || !strings.HasSuffix(inner, ")") || !(p > 0 && p < 1) {
			return nil, fmt.Errorf("losses: discounts %q: want a persistence between 0 and 1, such as rbp(0.95)", text)
		}
		return RBPDiscounts(cutoff, p), nil
	}
	var own []float64
	for i, number := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || v-v != 0 {
			return nil, fmt.Errorf("losses: discounts %q: number %d, %q: want dcg, precision, arp, rbp, rbp(persistence), or finite numbers with commas between", text, i+1, number)
		}
		own = append(own, v)
	}
	if len(own) != cutoff {
		return nil, fmt.Errorf("losses: discounts %q: %d numbers for a cutoff of %d: want one for every rank that counts", text, len(own), cutoff)
	}
	return own, nil
}
