package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// Disparity returns the loss 1/(D(D−1)) Σ_{d,d'} (E_{d'} ρ_d − E_d ρ_{d'})², E the expected
// exposure (Oosterhuis, SIGIR 2021, §6).
//
// It is 0 where exposure is in proportion to gain, and for queries of one document or without gains.
// The weights of both documents multiply each term. It reads Gains, which may be negative but must be
// finite, and Discounts. Exposure and gradient are exact; [DisparityBy] estimates them. Whether
// float32 has room is checked for the square of the gains.
func Disparity(b Batch) (*G.Node, error) { return named("disparity", b) }

// disparity costs O(D): with c the exposure per gain that fits best, Σ E ρ / Σ ρ², the double sum
// is 2 Σ ρ² Σ (E − cρ)².
func disparity(b *batch) *G.Node {
	l, gains, exposure := b.Lists, b.finiteGains(), b.exposure()
	merit := total(l, b.times(square(gains)))
	c := mul(total(l, b.times(mul(exposure, gains))), inverse(merit))
	unearned := sub(exposure, mul(spread(l, c), gains))
	sum := mul(merit, total(l, b.times(square(unearned))))
	return scaled(mul(sum, inverse(orderedPairs(count(l)))), 2)
}

// DisparityBy returns the loss Disparity of sampled exposure, with its gradient by a loss for an
// expected metric.
//
// The loss is one of [plackett.Estimators] by its name, such as plrank2, placement-policy-gradient or
// lambdaloss, and is given the [DisparityGains] for gains; the value is that loss's. The exposure is
// estimated from rankings by Batch.Exposure. Another name makes the Func return an error.
func DisparityBy(loss string) Func { return withParameter("disparity", loss) }
func disparityBy(b *batch, loss builder) *G.Node {
	gains, weights := b.Gains, b.DocumentWeights
	defer func() { b.Gains, b.DocumentWeights = gains, weights }() // of the next terms of a sum
	b.Gains, b.DocumentWeights = b.disparityGains(b.exposure()), nil
	return loss(b)
}

// EEL returns the loss Σ_d (E_d − E*_d)², E the expected exposure, E* under the best policy (Diaz
// et al., CIKM 2020).
//
// The best policy ranks by gain and lets documents of equal gain share the discounts of
// their ranks equally. The weight of the document multiplies its term. A query of one document has
// the loss 0; in one without gains all documents are to share alike. It reads Gains and Discounts.
func EEL(b Batch) (*G.Node, error) { return named("ee-l", b) }

// EELByRB returns the loss EEL of sampled exposure, with the gradient by [PLRankRB].
//
// It reads Sampler, and Exposure for the second set of rankings.
func EELByRB(b Batch) (*G.Node, error) { return named("ee-l(plrank-rb)", b) }
func exposureLoss(b *batch) *G.Node {
	target := targetExposure(b.Lists, b.gains(), b.discounts())
	return total(b.Lists, b.times(square(sub(b.exposure(), target))))
}

// GroupExposure returns the loss: the mean of (X_g − X_h)² over pairs of groups, X the mean
// exposure of a document of the group (Singh & Joachims, KDD 2018).
//
// It is the paper's demographic parity: 0 asks for equal exposure of groups. Queries with fewer than
// two groups have 0. It reads Groups, int [rows], and Discounts; labels and weights of documents do
// not count.
func GroupExposure(b Batch) (*G.Node, error) { return named("group-exposure", b) }

// GroupExposureByRB returns the loss GroupExposure of sampled exposure, with the gradient by
// [PLRankRB], see [EELByRB].
func GroupExposureByRB(b Batch) (*G.Node, error) { return named("group-exposure(plrank-rb)", b) }
func groupExposure(b *batch) *G.Node {
	l, groups := b.Lists, b.groups()
	heads := groupHeads(l, groups)
	one := nonzero(spread(l, count(l)))
	size := sumOverGroups(l, groups, one)
	each := mul(sumOverGroups(l, groups, b.exposure()), inverse(size))
	return betweenGroups(l, heads, each)
}

// GroupTreatment returns the loss: the mean of (X_g − X_h)² over pairs of groups, X = Σ_{d∈g} E_d /
// Σ_{d∈g} ρ_d (Singh & Joachims, KDD 2018).
//
// It asks for exposure of groups in proportion to their merit, without the paper's disparate
// treatment. The weight of the document multiplies its term in both sums. Groups without gain in a
// query do not count in it. It reads Groups, int [rows], Discounts and Gains; a run with negative
// gains returns an error.
func GroupTreatment(b Batch) (*G.Node, error) { return named("group-treatment", b) }

// GroupTreatmentByRB returns the loss GroupTreatment of sampled exposure, with the gradient by
// [PLRankRB], see [EELByRB].
func GroupTreatmentByRB(b Batch) (*G.Node, error) { return named("group-treatment(plrank-rb)", b) }
func groupTreatment(b *batch) *G.Node {
	l, groups, gains := b.Lists, b.groups(), b.gainsFromZero()
	merit := sumOverGroups(l, groups, b.times(gains))
	heads := mul(groupHeads(l, groups), nonzero(merit))
	each := mul(sumOverGroups(l, groups, b.times(b.exposure())), inverse(merit))
	return betweenGroups(l, heads, each)
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
	f := op.ListFunc{Name: "losses: GroupHeads", Do: func(l *op.List) error {
		out, seen := l.Out(), map[int]bool{}
		for d, group := range l.Ints[1] {
			if group >= 0 && !seen[group] {
				seen[group] = true
				out[d] = 1
			}
		}
		return nil
	}}
	return G.Must(f.Apply(l, op.AnyRows("scores", l.Scores), op.RowInts("groups", groups)))
}
