package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// disparity is that of the PL-Rank paper (Oosterhuis, SIGIR 2021, §6),
//
//	1/(D(D−1)) Σ_{d,d'} (E_{d'} ρ_d − E_d ρ_{d'})²
//
// with the weights of both documents as factors, if there are any:
// 0 where exposure is in proportion to gain, and for queries of one document or
// without gains. [DisparityGains] has its derivative. It costs O(D): with c the exposure per
// gain that fits best, Σ E ρ / Σ ρ², the double sum is 2 Σ ρ² Σ (E − cρ)².
func disparity(b *batch) *G.Node {
	l, gains, exposure := b.Lists, b.finiteGains(), b.exposure()
	merit := total(l, b.times(square(gains)))
	c := mul(total(l, b.times(mul(exposure, gains))), inverse(merit))
	unearned := sub(exposure, mul(spread(l, c), gains))
	sum := mul(merit, total(l, b.times(square(unearned))))
	return scaled(mul(sum, inverse(orderedPairs(count(l)))), 2)
}

// disparityBy is the disparity of sampled exposure, with the gradient by another loss for
// an expected metric. Its value is that loss's.
func disparityBy(b *batch, loss builder) *G.Node {
	gains, weights := b.Gains, b.DocumentWeights
	defer func() { b.Gains, b.DocumentWeights = gains, weights }() // of the next terms of a sum
	b.Gains, b.DocumentWeights = b.disparityGains(b.exposure()), nil
	return loss(b)
}

// exposureLoss is the expected-exposure loss of Diaz et al. (CIKM 2020),
//
//	‖E − E*‖² = Σ_d (E_d − E*_d)²,
//
// each term times the weight of the document,
// where E* is the exposure under the policy that is best for relevance and lets
// documents of equal gain share the discounts of their ranks equally. A query of one
// document has 0; in one without gains all documents are to share alike.
func exposureLoss(b *batch) *G.Node {
	target := targetExposure(b.Lists, b.gains(), b.discounts())
	return total(b.Lists, b.times(square(sub(b.exposure(), target))))
}

// groupExposure asks for equal exposure of groups of documents, the demographic
// parity of Singh & Joachims (KDD 2018): with X_g the mean exposure of the documents
// of group g in a query, it is
//
//	the mean over pairs of groups of (X_g − X_h)²,
//
// 0 for queries with fewer than two groups.
func groupExposure(b *batch) *G.Node {
	l, groups := b.Lists, b.groups()
	heads := groupHeads(l, groups)
	one := nonzero(spread(l, count(l)))
	size := sumOverGroups(l, groups, one)
	each := mul(sumOverGroups(l, groups, b.exposure()), inverse(size))
	return betweenGroups(l, heads, each)
}

// groupTreatment asks for exposure of groups of documents in proportion to their
// merit, without the disparate treatment of Singh & Joachims (KDD 2018): it is
// groupExposure with X_g the exposure of a group divided by its gain,
//
//	X_g = Σ_{d∈g} E_d / Σ_{d∈g} ρ_d,
//
// each term times the weight of the document.
// Groups without gain in a query do not count in it. Gains must not be negative.
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
