package plackett

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/num"
)

// Curvature writes λ_d, as [Expectation.Gradient] does, and returns R. To curvature it writes, with W of
// [Expectation],
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
	if err := checkGains(gains, scores); err != nil {
		return 0, err
	}
	return e.curvature(scores, gains, lambda, curvature, func(lambda []float64) (float64, error) {
		return e.Gradient(scores, gains, discounts, lambda)
	}, func(exposure []float64) error { return e.Exposure(scores, discounts, exposure) })
}

// CascadeCurvature is [Expectation.Curvature] for [Expectation.Cascade]: λ, R, and
//
//	c_d = Σ_j ∫ t f_d f_j Σ_k θ_k [z^{k−1}] (a_d (1 − c_j z) + a_j (1 − c_d z)) G_{−d,−j} dt,
//
// 2 a_d dE_d/dm_d − λ_d with E of [Expectation.CascadeExposure]. Rewards must not be negative. CascadeCurvature
// returns the errors of Cascade.
func (e *Expectation) CascadeCurvature(scores, rewards, continuations, discounts, lambda, curvature []float64) (value float64, err error) {
	if err := checkRewards(rewards, scores); err != nil {
		return 0, err
	}
	return e.curvature(scores, rewards, lambda, curvature, func(lambda []float64) (float64, error) {
		return e.Cascade(scores, rewards, continuations, discounts, lambda)
	}, func(exposure []float64) error { return e.CascadeExposure(scores, continuations, discounts, exposure) })
}

// curvature is Curvature given what computes λ and the exposures.
func (e *Expectation) curvature(scores, gains, lambda, curvature []float64, gradient func(lambda []float64) (float64, error),
	exposures func(exposure []float64) error) (value float64, err error) {
	if err := cmp.Or(checkLength("lambda", len(lambda), len(scores)), checkLength("curvature", len(curvature), len(scores))); err != nil {
		return 0, err
	}
	if d := slices.IndexFunc(gains, func(g float64) bool { return g < 0 }); d >= 0 {
		return 0, fmt.Errorf("the gain of document %d is %v: gains must not be negative for a curvature", d, gains[d])
	}
	if value, err = gradient(lambda); err != nil {
		return 0, err
	}
	err = e.lessMoments(curvature, exposures)
	for d, weight := range curvature {
		curvature[d] = max(0, 2*gains[d]*weight-lambda[d])
	}
	return value, err
}

// lessMoments writes to out what f writes, λ or the exposures, less the same integrals with the factor w_d t.
func (e *Expectation) lessMoments(out []float64, f func(out []float64) error) error {
	if err := f(out); err != nil {
		return err
	}
	e.moments = num.Sized(e.moments, len(out))
	e.quadrature.moment = true
	err := f(e.moments)
	e.quadrature.moment = false
	for d, moment := range e.moments {
		out[d] -= moment
	}
	return err
}
