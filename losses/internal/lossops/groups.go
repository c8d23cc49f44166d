package lossops

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// SumOverGroups gives every document the sum of x, [rows], over the documents of its
// query that are in its group. groups is int [rows]: a negative number stands for no
// group, and gets 0, as padding does. It is differentiable in x.
func SumOverGroups(l ops.Lists, groups, x *G.Node) (*G.Node, error) {
	const name = "losses: SumOverGroups"
	sum := func(l *op.List, in []op.Tensor, result op.Tensor) error {
		x, groups, sums := in[0], in[1].Int, map[int]float64{}
		if len(in) > 2 { // the gradient that comes in
			x = in[2]
		}
		for row := l.From; row < l.To; row++ {
			if groups[row] >= 0 {
				sums[groups[row]] += x.At(row)
			}
		}
		for row := l.From; row < l.To; row++ {
			result.Set(row, sums[groups[row]])
		}
		return nil
	}
	// A document gives to others what they give to it: the function is its own adjoint.
	f := op.ListFunc{Name: name, Do: sum, VJP: &op.ListFunc{Name: name + "VJP", Do: sum}}
	return f.ApplyTo(op.Rows("x", x), l, op.RowInts("groups", groups))
}

// GroupHeads is 1 for the first document of every group in every query and 0 for all
// others: with it as weights, a sum over documents is one over groups. A node [rows]
// of the dtype of the scores, not differentiable; groups are as in [SumOverGroups].
func GroupHeads(l ops.Lists, groups *G.Node) (*G.Node, error) {
	f := op.ListFunc{Name: "losses: GroupHeads", Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
		groups, seen := in[1].Int, map[int]bool{}
		for row := l.From; row < l.To; row++ {
			if group := groups[row]; group >= 0 && !seen[group] {
				seen[group] = true
				result.Set(row, 1)
			}
		}
		return nil
	}}
	return f.Apply(l, op.RowInts("groups", groups))
}
