package plackett

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// Cascade writes λ_d = dR/dm_d to lambda and returns the expected metric of a user who goes down the
// ranking and, below document d, goes on with the probability c_d, its continuation:
//
//	R = E_y[Σ_k θ_k a_{y_k} Π_{x<k} c_{y_x}].
//
// ERR has the rewards a = R_d, the continuations 1 − R_d and the discounts 1/k, the reciprocal rank
// a = rel and c = 1 − rel with 1/k, success a = rel and c = 1 − rel with 1, α-nDCG for each intent
// a = J, c = 1 − αJ and DCG's discounts. With continuations of 1 it is [Expectation.Gradient], with its bits.
// If lambda is nil, it computes R alone, in less time.
//
// A pair contributes to λ_i, with G_S(z, t) = Π_{j∈S} (e^{−w_j t} + c_j (1 − e^{−w_j t}) z),
//
//	∫ t f_i f_j Σ_k θ_k [z^{k−1}] (a_i (1 − c_j z) − a_j (1 − c_i z)) G_{−i,−j} dt.
//
// Tolerance and cost are as for [Expectation.Gradient] where c is a linear function of a, as in all
// of these metrics: a pair then has the factor (a_i − a_j)(1 − γz), for c = γ + s a. The cost is up to a
// quarter higher elsewhere. Cascade returns the errors of [Expectation.Gradient], and an error for a
// continuation that is not from 0 to 1.
func (e *Expectation) Cascade(scores, rewards, continuations, discounts, lambda []float64) (value float64, err error) {
	if err := cmp.Or(checkRewards(rewards, scores), checkContinuations(continuations, scores), checkLambda(lambda, scores)); err != nil {
		return 0, err
	}
	if !slices.ContainsFunc(continuations, func(c float64) bool { return c != 1 }) {
		return e.run(scores, rewards, discounts, lambda)
	}
	c := e.setCascade(cascade{continuations: continuations, first: 1})
	defer e.endCascade()
	if gamma, ok := linear(rewards, continuations); ok {
		c.next = -gamma
	} else {
		c.pairs = true
	}
	return e.run(scores, rewards, discounts, lambda)
}

// CascadeExposure writes the exposure of every document given the documents above it,
// E_d = E_y[Σ_k θ_k 1[y_k = d] Π_{x<k} c_{y_x}], the derivative of R of [Expectation.Cascade] by its
// reward. Its vector–Jacobian product is Cascade: for a function F of the exposures, dF/dm_d is λ_d with the
// rewards a_d = ∂F/∂E_d. CascadeExposure returns the errors of Cascade.
func (e *Expectation) CascadeExposure(scores, continuations, discounts, exposure []float64) error {
	if err := checkContinuations(continuations, scores); err != nil {
		return err
	}
	e.setCascade(cascade{continuations: continuations})
	defer e.endCascade()
	return e.Exposure(scores, discounts, exposure)
}

// AveragePrecision writes λ_d = dR/dm_d to lambda and returns the expected average precision,
//
//	R = E_y[Σ_{k≤cutoff} rel_{y_k}/k · (1 + Σ_{x<k} rel_{y_x})] / Σ_d rel_d,
//
// 0 if nothing is relevant. A cutoff of 0, or one beyond the list, is all ranks. rel is 1 for relevant
// documents and 0 for others; between the two it is the probability of being relevant, independently. If
// lambda is nil, it computes R alone.
//
// The relevant documents above are counted by a dual number: R is the metric of [Expectation.Cascade] with
// a = rel and c = 1 + ε rel plus its derivative by ε at 0. The errors of R and λ are at most Tolerance times
// Σ_{k≤cutoff} 1/k. It costs up to two and a half gradients. AveragePrecision returns the errors of
// [Expectation.Gradient], and an error for a negative cutoff and for a relevance that is not from 0 to 1.
func (e *Expectation) AveragePrecision(scores, relevant []float64, cutoff int, lambda []float64) (value float64, err error) {
	if cutoff < 0 {
		return 0, fmt.Errorf("the cutoff is %d: it must not be negative", cutoff)
	}
	err = cmp.Or(checkLength("relevant", len(relevant), len(scores)), checkShares("relevance", relevant), checkLambda(lambda, scores))
	if err != nil {
		return 0, err
	}
	if cutoff == 0 || cutoff > len(scores) {
		cutoff = len(scores)
	}
	e.discount = num.Sized(e.discount, cutoff)
	for k := range e.discount {
		e.discount[k] = 1 / float64(k+1)
	}
	e.setCascade(cascade{relevant: relevant, first: 1, next: -1})
	defer e.endCascade()
	value, err = e.run(scores, relevant, e.discount, lambda)
	_, total := magnitudes(relevant)
	if total == 0 {
		return 0, err
	}
	for d := range lambda {
		lambda[d] /= total
	}
	return value / total, err
}

// A cascade says how a document counts, given the documents above it.
type cascade struct {
	continuations []float64 // by document; nil: 1
	relevant      []float64 // of average precision
	pairs         bool      // have the factors 1 − c z
	first, next   float64   // pairs count by first·θ_k + next·θ_{k+1}
}

func (c *cascade) dual() bool { return c != nil && c.relevant != nil }

func (c *cascade) general() bool { return c != nil && c.pairs }

func (c *cascade) pair() (first, next float64) {
	if c == nil {
		return 1, -1
	}
	return c.first, c.next
}

// setCascade makes the calls up to endCascade compute a cascade.
func (e *Expectation) setCascade(c cascade) *cascade {
	e.ofCascade = c
	e.quadrature.cascade = &e.ofCascade
	return &e.ofCascade
}

func (e *Expectation) endCascade() { e.quadrature.cascade = nil }

// linear returns γ where all c = γ + s·a, up to rounding and with a γ that is not large.
func linear(a, c []float64) (gamma float64, ok bool) {
	if len(a) == 0 {
		return 0, true
	}
	low, high := 0, 0
	for d, x := range a {
		if x < a[low] {
			low = d
		}
		if x > a[high] {
			high = d
		}
	}
	slope := 0.0
	if a[low] < a[high] {
		slope = (c[high] - c[low]) / (a[high] - a[low])
	}
	gamma = c[low] - slope*a[low]
	if !(math.Abs(gamma) <= 2) {
		return 0, false
	}
	for d, x := range a {
		if !(math.Abs(c[d]-gamma-slope*x) <= 1e-15) {
			return 0, false
		}
	}
	return gamma, true
}

func checkRewards(rewards, scores []float64) error {
	return cmp.Or(checkLength("rewards", len(rewards), len(scores)), checkFinite("reward", rewards))
}

func checkContinuations(continuations, scores []float64) error {
	return cmp.Or(checkLength("continuations", len(continuations), len(scores)), checkShares("continuation", continuations))
}

// checkShares returns an error for the first number that is not from 0 to 1.
func checkShares(what string, numbers []float64) error {
	for i, x := range numbers {
		if !(x >= 0 && x <= 1) {
			return &NumberError{what, i, x, "from 0 to 1"}
		}
	}
	return nil
}

// prepareCascade sets the continuations and relevances in the order of the quadrature.
func (x *quadrature) prepareCascade() {
	c := cmp.Or(x.cascade, &cascade{})
	set := func(to *[]float64, from []float64, other float64) {
		*to = num.Sized(*to, len(x.gain))
		for i := range *to {
			(*to)[i] = other
			if from != nil {
				(*to)[i] = from[x.order[i]]
			}
		}
	}
	set(&x.continuation, c.continuations, 1)
	set(&x.relevant, c.relevant, 0)
}

// arrive counts the next document as one that has surely arrived.
func (x *quadrature) arrive() {
	x.kept *= x.continuation[x.arrivedEnd]
	x.found += x.relevant[x.arrivedEnd]
	x.arrivedEnd++
}

// derivedPairs sets the pairs of a pool with n coefficients, as sums with their derivatives. It returns what the derivative of a
// document's own factor adds: (−r)^j has the derivative j·rel·(−r)^j.
func (x *quadrature) derivedPairs(pairs []lanes.Pair, n int) []lanes.Pair {
	own, more := x.ownPairs[:len(pairs)], x.morePairs[:len(pairs)]
	copy(own, pairs)
	lanes.Correlate(pairs, x.backward, x.tapes[1].states[:n])
	lanes.Correlate(more, x.derived, x.tapes[0].states[:n])
	for j := range pairs {
		for l, t := range x.times {
			pairs[j].A[l] += more[j].A[l]
			pairs[j].B[l] += more[j].B[l]
			own[j].A[l] *= float64(j) * t
			own[j].B[l] *= float64(j) * t
		}
	}
	return own
}
