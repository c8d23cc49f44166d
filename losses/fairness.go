package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

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

func disparityBy(b *batch, loss builder) *G.Node {
	gains, weights := b.Gains, b.DocumentWeights
	defer func() { b.Gains, b.DocumentWeights = gains, weights }() // of the next terms of a sum
	b.Gains, b.DocumentWeights = b.disparityGains(b.exposure()), nil
	return loss(b)
}

func eel(b *batch) *G.Node {
	target := b.target()
	return total(b.Lists, b.times(square(sub(b.exposure(), target))))
}

func (b *batch) target() *G.Node {
	if b.cascade {
		return b.targetOnCascade()
	}
	return targetExposure(b.Lists, b.gains(), b.discounts())
}

func groupExposure(b *batch) *G.Node {
	l, groups := b.Lists, b.groups()
	heads := groupHeads(l, groups)
	one := nonzero(spread(l, count(l)))
	size := sumOverGroups(l, groups, one)
	each := mul(sumOverGroups(l, groups, b.exposure()), inverse(size))
	return betweenGroups(l, heads, each)
}

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
