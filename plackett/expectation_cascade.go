package plackett

import (
	"cmp"
	"fmt"
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
// Tolerance and cost are as for [Expectation.Gradient]. Cascade returns its errors, and an error for a
// continuation that is not from 0 to 1.
func (e *Expectation) Cascade(scores, rewards, continuations, discounts, lambda []float64) (value float64, err error) {
	if err := cmp.Or(checkRewards(rewards, scores), checkContinuations(continuations, scores), checkLambda(lambda, scores)); err != nil {
		return 0, err
	}
	if !slices.ContainsFunc(continuations, func(c float64) bool { return c != 1 }) {
		return e.run(scores, rewards, discounts, lambda)
	}
	e.quadrature.cascade = cascade{continuations: continuations, pairs: true}
	defer e.endCascade()
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
	e.quadrature.cascade = cascade{continuations: continuations}
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
	e.quadrature.cascade = cascade{relevant: relevant}
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
	pairs         bool      // have the factors 1 − c z and count by θ_k, else by θ_k − θ_{k+1}
}

// dual reports whether the sums are dual numbers.
func (c *cascade) dual() bool { return c.relevant != nil }

// endCascade makes the next calls compute no cascade.
func (e *Expectation) endCascade() { e.quadrature.cascade = cascade{} }

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
	set := func(to *[]float64, from []float64, other float64) {
		*to = num.Sized(*to, len(x.gain))
		for i := range *to {
			(*to)[i] = other
			if from != nil {
				(*to)[i] = from[x.order[i]]
			}
		}
	}
	set(&x.continuation, x.cascade.continuations, 1)
	set(&x.relevant, x.cascade.relevant, 0)
	set(&x.paired, nil, 0)
	if x.cascade.pairs {
		copy(x.paired, x.continuation)
	}
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
	own, more := x.ownPairs[:len(pairs)], x.morePairs[:min(len(pairs), n)]
	copy(own, pairs)
	lanes.Correlate(pairs[:len(more)], x.backward, x.tapes[1].states[:n])
	lanes.Correlate(more, x.derived, x.tapes[0].states[:n])
	for j := range more {
		for l, t := range x.times {
			pairs[j].A[l] += more[j].A[l]
			pairs[j].B[l] += more[j].B[l]
			own[j].A[l] *= float64(j) * t
			own[j].B[l] *= float64(j) * t
		}
	}
	return own
}
