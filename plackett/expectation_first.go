package plackett

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/num"
)

// Deviation returns the mean and the standard deviation, over rankings, of the discount θ at the rank of the first relevant
// document: of the reciprocal rank for θ_k = 1/k, and of success for θ_k = 1. Without a relevant document at a rank with a discount
// it is 0. To lambda, if it is not nil, Deviation writes the derivatives of the deviation; they are 0 where that is below 1e-8.
//
// The variance of what is all but certain is small beside errors of probabilities: so the tolerance is 1e-13, whatever Tolerance
// says. Deviation returns the errors of [Expectation.FirstRelevant] and of [Expectation.Cascade].
func (e *Expectation) Deviation(scores, relevant, discounts, lambda []float64) (mean, deviation float64, err error) {
	defer func(tolerance float64) { e.Tolerance = tolerance }(e.Tolerance)
	e.Tolerance = smallestTolerance
	if err := cmp.Or(checkDiscounts(discounts), checkLambda(lambda, scores)); err != nil {
		return 0, 0, err
	}
	ranks := len(discounts)
	if len(scores) <= 64 { // then the probability of no relevant document among them is a sum, too
		ranks = max(ranks, len(scores))
	}
	law := num.Sized(e.law, ranks)
	e.law = law
	if err := e.FirstRelevant(scores, relevant, law); err != nil {
		return 0, 0, err
	}
	none := floats.Sum(law[len(discounts):])
	if ranks < len(scores) {
		none = max(0, 1-floats.Sum(law))
	}
	mean = floats.Dot(law[:len(discounts)], discounts)
	variance := none * mean * mean
	for k, theta := range discounts {
		variance += law[k] * (theta - mean) * (theta - mean)
	}
	deviation = math.Sqrt(variance)
	largest, _ := magnitudes(discounts)
	if lambda == nil || deviation <= 1e-8*largest { // the derivatives are about as small, and rounding errors over it are not
		clear(lambda)
		return mean, deviation, nil
	}
	// The derivative of E[(θ − μ)²] with a constant μ: the derivative of the mean has no part in it.
	squares := slices.Clone(discounts)
	for k, theta := range discounts {
		squares[k] = theta * (theta - 2*mean)
	}
	_, err = e.Cascade(scores, relevant, others(relevant), squares, lambda)
	floats.Scale(1/(2*deviation), lambda)
	return mean, deviation, err
}

// FirstRelevant writes P(the first relevant document is at rank k) to law[k−1], for as many ranks as law has: this is the law of what
// a reader is paid who stops there. What is missing from 1 is the probability that no relevant document is at one of these ranks.
// relevant is 1 for relevant documents and 0 for others. FirstRelevant returns the errors of [Expectation.Cascade], and an error for
// a relevance other than 0 and 1.
func (e *Expectation) FirstRelevant(scores, relevant, law []float64) error {
	if err := checkLength("relevant", len(relevant), len(scores)); err != nil {
		return err
	}
	if d := slices.IndexFunc(relevant, func(rel float64) bool { return rel != 0 && rel != 1 }); d >= 0 {
		return fmt.Errorf("the relevance of document %d is %v: it must be 0 or 1", d, relevant[d])
	}
	e.discount = num.Sized(e.discount, len(law))
	for k := range e.discount {
		e.discount[k] = 1
	}
	clear(law)
	e.quadrature.byRank = law
	defer func() { e.quadrature.byRank = nil }()
	_, err := e.Cascade(scores, relevant, others(relevant), e.discount, nil)
	possible := 1 + len(relevant) - int(floats.Sum(relevant)) // ranks
	for k := range law {
		if law[k] = max(0, law[k]); k >= possible { // of rounding errors
			law[k] = 0
		}
	}
	return err
}

// others returns 1 minus the shares.
func others(shares []float64) []float64 {
	rest := make([]float64, len(shares))
	for d, x := range shares {
		rest[d] = 1 - x
	}
	return rest
}

// Quantile returns the smallest discount at the rank of the first relevant document that is not exceeded with at least the probability p,
// given the law of the rank, as [Expectation.FirstRelevant] writes it: 0 if there is none with that probability.
func Quantile(law, discounts []float64, p float64) float64 {
	order := num.DescendingOrder(nil, discounts[:min(len(law), len(discounts))])
	above := 0.0 // the probability of more than a discount
	for i, k := range order {
		if above += law[k]; above > 1-p && (i+1 == len(order) || discounts[order[i+1]] < discounts[k]) {
			return discounts[k]
		}
	}
	return 0
}
