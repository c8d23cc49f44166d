package plackett

import (
	"cmp"
	"fmt"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// Expectation computes expectations under a Plackett–Luce policy exactly, without
// sampling.
//
// Documents arrive independently, document d at a time that is exponential with rate
// w_d = exp(m_d): the order of arrival is a Plackett–Luce ranking. With
// f_d(t) = w_d e^{−w_d t}, N_S(t) the number of documents of S that have arrived by t,
// and Δ_k = θ_k − θ_{k+1},
//
//	E_d  = ∫ f_d(t) Σ_k θ_k P(N_{−d}(t) = k−1) dt
//	R    = Σ_d ρ_d E_d
//	λ_d  = dR/dm_d = Σ_j (ρ_d − ρ_j) W_dj
//	W_dj = ∫ t f_d(t) f_j(t) Σ_k Δ_k P(N_{−d,−j}(t) = k−1) dt
//
// A quadrature computes the integrals. Its error is bounded beforehand, for any scores; docs/exact.md has the derivation. The
// cost is O(D·K) for each of 16 nodes or more: about as long as a few dozen to a few hundred sampled rankings. If discounts count
// at every rank of a list of 32 documents or more, and a short sum of geometric sequences approximates them well enough (DCG,
// RBP, 1/k, 1/√k), the cost is O(D) for each node and term of the sum. The Expectation finds these sums itself, which takes some
// milliseconds, and keeps them.
//
// Scores, gains and discounts may be any finite numbers, with max |ρ|, Σ|θ| and their product
// up to 1e300. Discounts beyond the number of documents have no effect. The same input gives the
// same output, bit for bit, on a machine. An Expectation allocates only while its scratch space
// grows. It is not for concurrent use.
type Expectation struct {
	// Tolerance bounds the errors of E_d relative to max |θ|, and of R and λ_d relative to
	// max |ρ| · Σ|θ|. Zero means 1e-7. The smallest is 1e-13.
	Tolerance float64
	// Check, if it is not nil, is called repeatedly while the quadrature runs, at most some
	// milliseconds apart for lists of 10,000 documents. If it returns an error, the computation
	// ends with that error, and its results are undefined. See [context.Context.Err].
	Check func() error

	quadrature       quadrature
	sum              *geometricSum // of the last call, nil for sweeps
	column, discount []float64     // for one document or one rank at a time
	moments          []float64
	ofSimilarity     similarity
	law              []float64
}

const (
	defaultTolerance  = 1e-7
	smallestTolerance = 1e-13
)

// Gradient writes λ_d = dR/dm_d to lambda and returns R = E_y[Σ_k θ_k ρ_{y_k}]. A λ below
// 1e-20·max|ρ|·Σ|θ| is 0. If lambda is nil, it computes R alone, in less time.
//
// Gradient is also the vector–Jacobian product of [Expectation.Exposure]: for a function F of
// the exposures, dF/dm_d is λ_d with the gains ρ_d = ∂F/∂E_d.
//
// Gradient returns a [*NumberError] or a [*LengthError], or an error for a tolerance, gains or
// discounts out of range.
func (e *Expectation) Gradient(scores, gains, discounts, lambda []float64) (value float64, err error) {
	if err := cmp.Or(checkGains(gains, scores), checkLambda(lambda, scores)); err != nil {
		return 0, err
	}
	return e.run(scores, gains, discounts, lambda)
}

// Exposure writes the expected exposure of every document, E_d = E_y[Σ_k θ_k 1[y_k = d]].
// One below 1e-20·Σ|θ| is 0. Exposures stay between the least and the highest discount or 0 in
// spite of rounding: with discounts of 1 they are probabilities.
// Exposure returns the errors of [Expectation.Gradient].
func (e *Expectation) Exposure(scores, discounts, exposure []float64) error {
	if err := checkLength("exposure", len(exposure), len(scores)); err != nil {
		return err
	}
	if _, err := e.run(scores, nil, discounts, exposure); err != nil {
		return err
	}
	if e.quadrature.moment {
		return nil // has no such bounds
	}
	least, most := 0., 0.
	for _, theta := range discounts[:min(len(discounts), len(scores))] {
		least, most = min(least, theta), max(most, theta)
	}
	for d, x := range exposure {
		exposure[d] = min(max(x, least), most)
	}
	return nil
}

// Placements writes P(y_k = d), the probability that document d is at rank k, to
// out[d·cutoff + k−1]. Ranks beyond the number of documents have probability 0. It costs as much
// as cutoff exposures. Placements returns the errors of [Expectation.Gradient], and an error for a
// negative cutoff.
func (e *Expectation) Placements(scores []float64, cutoff int, out []float64) error {
	if cutoff < 0 {
		return fmt.Errorf("the cutoff is %d: it must not be negative", cutoff)
	}
	if err := checkLength("out", len(out), len(scores)*cutoff); err != nil {
		return err
	}
	e.discount, e.column = num.Sized(e.discount, cutoff), num.Sized(e.column, len(scores))
	clear(e.discount)
	for k := range cutoff {
		e.discount[k] = 1
		if err := e.Exposure(scores, e.discount[:k+1], e.column); err != nil {
			return err
		}
		e.discount[k] = 0
		for d, p := range e.column {
			out[d*cutoff+k] = p
		}
	}
	return nil
}

// Nodes returns the number of nodes of the quadrature in the last call.
func (e *Expectation) Nodes() int { return e.quadrature.blocks * lanes.Width }

// Terms returns the number of geometric sequences whose sum approximated the discounts in the last
// call, 0 for sweeps.
func (e *Expectation) Terms() int {
	if e.sum == nil {
		return 0
	}
	return len(e.sum.c)
}

// run checks the arguments that all methods share and computes the gradient, or, without gains, the
// exposure. If out is nil, it computes the value alone.
func (e *Expectation) run(scores, gains, discounts, out []float64) (float64, error) {
	tolerance, err := e.begin(scores)
	if err := cmp.Or(err, checkDiscounts(discounts)); err != nil {
		return 0, err
	}
	scale, err := scaleOf(gains, discounts[:min(len(discounts), len(scores))])
	if err != nil {
		return 0, err
	}
	x := &e.quadrature
	clear(out)
	cutoff := min(len(discounts), len(scores))
	for cutoff > 0 && discounts[cutoff-1] == 0 {
		cutoff--
	}
	if cutoff == 0 {
		return 0, nil
	}
	x.discounts = discounts[:cutoff]
	if x.byRank == nil {
		e.sum = x.geometric(tolerance, len(scores), discounts)
	}
	value := x.run(e.sum, tolerance, scale, scores, gains, out)
	return value, x.err
}

// begin checks the tolerance and the scores, and resets what the last call left.
func (e *Expectation) begin(scores []float64) (tolerance float64, err error) {
	e.sum = nil
	e.quadrature.check, e.quadrature.err, e.quadrature.blocks = e.Check, nil, 0
	tolerance = cmp.Or(e.Tolerance, defaultTolerance)
	if !(tolerance >= smallestTolerance && tolerance < 1) {
		return 0, fmt.Errorf("the tolerance is %v: it must be from %v to 1, or 0 for %v",
			e.Tolerance, smallestTolerance, defaultTolerance)
	}
	return tolerance, checkFinite("score", scores)
}
