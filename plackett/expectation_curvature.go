package plackett

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/num"
)

// SecondDerivatives writes d²R/dm_d² of every document to out, the diagonal of the Hessian. In the
// notation of [Expectation] it is
//
//	d²R/dm_d² = Σ_j (ρ_d − ρ_j) ∫ (1 − w_d t) t f_d(t) f_j(t) Σ_k Δ_k P(N_{−d,−j}(t) = k−1) dt,
//
// λ_d with every time counted 1 − w_d t times, as f_d is the only factor that depends on m_d, and
// df_d/dm_d = (1 − w_d t) f_d. It can have either sign: R is neither convex nor concave. Its error is
// relative to the scale of λ_d. It costs as much as two gradients. SecondDerivatives returns the errors
// of [Expectation.Gradient].
func (e *Expectation) SecondDerivatives(scores, gains, discounts, out []float64) error {
	if err := checkLength("second derivatives", len(out), len(scores)); err != nil {
		return err
	}
	if _, err := e.Gradient(scores, gains, discounts, out); err != nil {
		return err
	}
	return e.lessMoments(scores, gains, discounts, out)
}

// Curvature writes λ_d, as [Expectation.Gradient] does, and returns R. To curvature it writes, with W of
// [Expectation.PairWeights],
//
//	c_d = Σ_{j≠d} (ρ_d + ρ_j) W_dj,
//
// which serves as a positive second derivative: boosted trees, and other methods that take a gradient
// and a second derivative for each document, take −λ and c for the loss −R. Gains must not be negative.
// A c_d below 0, which rising discounts can cause, becomes 0.
//
// Where neither discounts nor their drops Δ_k rise from rank to rank, as for DCG and RBP at every rank
// and for the first rank alone, c_d is at least |d²R/dm_d²|. The derivative of W_dj by m_d is then at most
// W_dj in size: the derivative of log W_dj is 1 − E[w_d t], where t has a density in proportion to
// w_d t e^{−w_d t} times a falling function, so that E[w_d t] ≤ 2, as for the gamma distribution. With
// another cutoff c_d may be less.
//
// It costs as much as a gradient and two exposures, as Σ_j W_dj is dE_d/dm_d. Curvature returns the
// errors of [Expectation.Gradient].
func (e *Expectation) Curvature(scores, gains, discounts, lambda, curvature []float64) (value float64, err error) {
	if err := cmp.Or(checkLength("lambda", len(lambda), len(scores)), checkLength("curvature", len(curvature), len(scores))); err != nil {
		return 0, err
	}
	if d := slices.IndexFunc(gains, func(g float64) bool { return g < 0 }); d >= 0 {
		return 0, fmt.Errorf("the gain of document %d is %v: gains must not be negative for a curvature", d, gains[d])
	}
	if value, err = e.Gradient(scores, gains, discounts, lambda); err != nil {
		return 0, err
	}
	err = cmp.Or(e.Exposure(scores, discounts, curvature), e.lessMoments(scores, nil, discounts, curvature))
	for d, weight := range curvature {
		curvature[d] = max(0, 2*gains[d]*weight-lambda[d])
	}
	return value, err
}

// lessMoments subtracts from out, which has λ or without gains the exposures, the same integrals with
// the factor w_d t.
func (e *Expectation) lessMoments(scores, gains, discounts, out []float64) error {
	e.column = num.Sized(e.column, len(scores))
	e.quadrature.moment = true
	_, err := e.run(scores, gains, discounts, e.column)
	e.quadrature.moment = false
	for d, moment := range e.column {
		out[d] -= moment
	}
	return err
}
