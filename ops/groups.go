package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SumOverGroups gives every document the sum of x, [rows], over the documents of its
// query that are in its group. groups is int [rows]: a negative number stands for no
// group, and gets 0, as padding does. It is differentiable in x.
func SumOverGroups(l Lists, groups, x *G.Node) (*G.Node, error) {
	if err := l.checkedGroups("SumOverGroups", groups); err != nil {
		return nil, err
	}
	if err := l.checkedRows("SumOverGroups", "x", x); err != nil {
		return nil, err
	}
	sum := func(l list, in vectors, out numbers) error {
		x, sums := in.last(), map[int]float64{}
		for row := l.from; row < l.to; row++ {
			if group := in.ints[row]; group >= 0 {
				sums[group] += x.at(row)
			}
		}
		for row := l.from; row < l.to; row++ {
			out.set(row, sums[in.ints[row]])
		}
		return nil
	}
	// A document gives to others what they give to it: the function is its own adjoint.
	f := &listFunc{name: "SumOverGroups", do: sum, back: &listFunc{name: "SumOverGroupsDiff", do: sum}}
	return f.apply(Lists{Scores: x, Offsets: l.Offsets}, groups)
}

// GroupHeads is 1 for the first document of every group in every query and 0 for all
// others: with it as weights, a sum over documents is one over groups. A node [rows]
// of the dtype of the scores, not differentiable; groups are as in [SumOverGroups].
func GroupHeads(l Lists, groups *G.Node) (*G.Node, error) {
	if err := l.checkedGroups("GroupHeads", groups); err != nil {
		return nil, err
	}
	f := &listFunc{name: "GroupHeads", do: func(l list, in vectors, out numbers) error {
		seen := map[int]bool{}
		for row := l.from; row < l.to; row++ {
			if group := in.ints[row]; group >= 0 && !seen[group] {
				seen[group] = true
				out.set(row, 1)
			}
		}
		return nil
	}}
	return f.apply(l, groups)
}

func (l Lists) checkedGroups(name string, groups *G.Node) error {
	err := l.check()
	if err == nil {
		err = checkNode("groups", groups, 1, tensor.Int)
	}
	if err == nil && groups.Shape()[0] != l.rows() {
		err = fmt.Errorf("groups have %d rows, scores have %d", groups.Shape()[0], l.rows())
	}
	if err != nil {
		return fmt.Errorf("ops: %s: %w", name, err)
	}
	return nil
}
