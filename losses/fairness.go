package losses

import (
	"errors"
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// Exposure selects the expected exposure E of the documents that a loss of fairness is about, and how it is computed.
type Exposure int

const (
	// ExactExposure is E[θ at the rank of the document], exactly. It reads Discounts.
	ExactExposure Exposure = iota
	// SampledExposure is its estimate from the rankings of Batch.Exposure, with the gradient by PL-Rank-RB from the rankings of Sampler or
	// Rankings: plrank-rb by name, as in ee-l(plrank-rb).
	SampledExposure
	// CascadeExposure is the exposure to a reader who stops at document d with the probability R_d of [ERR], exactly,
	// E_d = E[Σ_k θ_k 1[y_k = d] Π_{x<k} (1 − R_{y_x})]: cascade by name. It reads Labels and HighestGrade, too. The measure that
	// training reports is for readers who do not stop.
	CascadeExposure
)

// fair completes a loss with its graph by an exposure.
func fair(e Exposure, o Objective, graph func(b *batch, e Exposure) *G.Node) Objective {
	o.graph = func(b *batch) *G.Node { return graph(b, e) }
	switch {
	case e == SampledExposure:
		exact := fair(ExactExposure, o, graph)
		o.Sampled, o.exact = true, &exact
	case e < 0 || e > CascadeExposure:
		o.err = fmt.Errorf("invalid exposure %d: want ExactExposure, SampledExposure or CascadeExposure", int(e))
	}
	return o
}

// Disparity returns the loss 1/(D(D−1)) Σ_{d,d'} (E_{d'} ρ_d − E_d ρ_{d'})², E the expected
// exposure (Oosterhuis, SIGIR 2021, §6).
//
// It is 0 where exposure is in proportion to gain, and for queries of one document or without gains.
// The weights of both documents multiply each term. It reads Gains, which may be negative but must be
// finite, and what the exposure needs. Whether float32 has room is checked for the square of the gains.
func Disparity(e Exposure) Objective {
	return fair(e, Objective{weights: ofPairs, degree: 2, Measure: "disparity"}, disparity)
}

// disparity costs O(D): with c the exposure per gain that fits best, Σ E ρ / Σ ρ², the double sum
// is 2 Σ ρ² Σ (E − cρ)².
func disparity(b *batch, e Exposure) *G.Node {
	l, gains, exposure := b.Lists, b.finiteGains(), b.exposure(e)
	merit := total(l, b.times(square(gains)))
	c := mul(total(l, b.times(mul(exposure, gains))), inverse(merit))
	unearned := sub(exposure, mul(spread(l, c), gains))
	sum := mul(merit, total(l, b.times(square(unearned))))
	return scaled(mul(sum, inverse(orderedPairs(count(l)))), 2)
}

// DisparityBy returns the loss Disparity of sampled exposure, with its gradient by a loss for an
// expected metric: disparity(plrank2) for Expected(DCG, Sampled(plackett.PLRank2)).
//
// The loss, also [PlacementPolicyGradient]'s or lambdaloss, is given the [DisparityGains] for gains; the value is that loss's. The
// exposure is estimated from rankings by Batch.Exposure.
func DisparityBy(loss Objective) Objective {
	exact := Disparity(ExactExposure)
	o := exact
	o.Sampled, o.exact = true, &exact
	if loss.err != nil {
		o.err = fmt.Errorf("DisparityBy, %w", loss.err)
	} else if loss.labels || loss.degree != 1 || loss.LoggedScores {
		o.err = errors.New("DisparityBy: want a loss for losses.DCG, such as losses.Expected of it, or lambdaloss")
	}
	o.graph = func(b *batch) *G.Node {
		gains, weights := b.Gains, b.DocumentWeights
		defer func() { b.Gains, b.DocumentWeights = gains, weights }() // of the next terms of a sum
		b.Gains, b.DocumentWeights = b.disparityGains(b.exposure(SampledExposure)), nil
		return loss.graph(b)
	}
	return o
}

// EEL returns the loss Σ_d (E_d − E*_d)², E the expected exposure, E* under the best policy (Diaz
// et al., CIKM 2020).
//
// The best policy ranks by gain and lets documents of equal gain share the discounts of
// their ranks equally. The weight of the document multiplies its term. A query of one document has
// the loss 0; in one without gains all documents are to share alike. It reads Gains, Discounts and what the exposure needs.
func EEL(e Exposure) Objective {
	return fair(e, Objective{LabelFree: true, weights: ofTerms, Measure: "ee-l"}, func(b *batch, e Exposure) *G.Node {
		return total(b.Lists, b.times(square(sub(b.exposure(e), b.targetOf(e)))))
	})
}

// targetOf is the exposure by the best policy.
func (b *batch) targetOf(e Exposure) *G.Node {
	if e == CascadeExposure {
		return b.targetOnCascade()
	}
	return targetExposure(b.Lists, b.gains(), b.discounts())
}

// GroupExposure returns the loss: the mean of (X_g − X_h)² over pairs of groups, X the mean
// exposure of a document of the group (Singh & Joachims, KDD 2018).
//
// It is the paper's demographic parity: 0 asks for equal exposure of groups. Queries with fewer than
// two groups have 0. It reads Groups, int [rows], and what the exposure needs; labels and weights of documents do
// not count.
func GroupExposure(e Exposure) Objective {
	o := Objective{LabelFree: true, labels: true, weights: unweighted, Measure: "exposure-ratio"}
	return fair(e, o, func(b *batch, e Exposure) *G.Node {
		l, groups := b.Lists, b.groups()
		heads := groupHeads(l, groups)
		one := nonzero(spread(l, count(l)))
		size := sumOverGroups(l, groups, one)
		each := mul(sumOverGroups(l, groups, b.exposure(e)), inverse(size))
		return betweenGroups(l, heads, each)
	})
}

// GroupTreatment returns the loss: the mean of (X_g − X_h)² over pairs of groups, X = Σ_{d∈g} E_d /
// Σ_{d∈g} ρ_d (Singh & Joachims, KDD 2018).
//
// It asks for exposure of groups in proportion to their merit, without the paper's disparate
// treatment. The weight of the document multiplies its term in both sums. Groups without gain in a
// query do not count in it. It reads Groups, int [rows], Gains and what the exposure needs; a run with negative
// gains returns an error.
func GroupTreatment(e Exposure) Objective {
	return fair(e, Objective{weights: ofTerms, degree: -2, Measure: "treatment-ratio"}, func(b *batch, e Exposure) *G.Node {
		l, groups, gains := b.Lists, b.groups(), b.gainsFromZero()
		merit := sumOverGroups(l, groups, b.times(gains))
		heads := mul(groupHeads(l, groups), nonzero(merit))
		each := mul(sumOverGroups(l, groups, b.times(b.exposure(e))), inverse(merit))
		return betweenGroups(l, heads, each)
	})
}

// betweenGroups is the mean over pairs of groups of the squared difference, which is
// 2n/(n(n−1)) times the squares around the mean. each is the value of the group of every
// document; heads is 1 for one document of each group that counts, 0 for all others.
func betweenGroups(l ops.Lists, heads, each *G.Node) *G.Node {
	n := total(l, heads)
	average := mul(total(l, mul(heads, each)), inverse(n))
	squares := total(l, mul(heads, square(sub(each, spread(l, average)))))
	return scaled(mul(squares, mul(n, inverse(orderedPairs(n)))), 2)
}

// sumOverGroups gives every document the sum of x over the documents of its query that are
// in its group. groups is int [rows]: a negative number stands for no group, and gets 0. It
// is differentiable in x.
func sumOverGroups(l ops.Lists, groups, x *G.Node) *G.Node {
	sum := func(l *op.List) error {
		out, groups, sums := l.Out(), l.Ints[1], map[int]float64{}
		x := l.X[0]
		if len(l.X) > 2 { // the incoming gradient
			x = l.Last()
		}
		for d, g := range groups {
			if g >= 0 {
				sums[g] += x[d]
			}
		}
		for d, g := range groups {
			out[d] = sums[g]
		}
		return nil
	}
	// A document gives to others what they give to it: the function is its own adjoint.
	f := op.ListFunc{Name: "losses: SumOverGroups", Do: sum, VJP: sum}
	return G.Must(f.Apply(l, op.AnyRows("x", x), op.RowInts("groups", groups)))
}

// groupHeads is 1 for the first document of every group in every query and 0 for all
// others: with it as weights, a sum over documents is one over groups. Not differentiable.
func groupHeads(l ops.Lists, groups *G.Node) *G.Node {
	return fixed("losses: GroupHeads", op.PerRow, func(l *op.List, out []float64) {
		seen := map[int]bool{}
		for d, group := range l.Ints[1] {
			if group >= 0 && !seen[group] {
				seen[group] = true
				out[d] = 1
			}
		}
	}, l, op.AnyRows("scores", l.Scores), op.RowInts("groups", groups))
}
