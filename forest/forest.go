// Package forest grows and evaluates sums of decision trees, on plain slices: no graph, no files.
//
// [Bin] sorts raw features into bins, a [Grower] grows trees on the derivatives and curvatures of any objective, and a
// [Scorer] adds up a [Forest] of such trees, or of those that another library has grown.
package forest

import (
	"fmt"
	"math"
)

// A Forest is a sum of trees over raw features. NaN is a missing value; categories are the codes 1, 2, … that package
// datasets gives texts, and 0 is a text that was not seen in training.
type Forest struct {
	Inputs int // raw features of a document
	Trees  []Tree
	Bias   float64 // added to every score
	Single bool    // sums are rounded to float32 after each tree, as XGBoost does
}

// A Tree has inner nodes, the root first, and leaves. A tree without nodes is a single leaf.
type Tree struct {
	Nodes  []Node
	Leaves []float64
}

// A Node sends a document to the left if its value is at most Threshold or, with a Set, if its category is in the set. Other
// values, also negative and fractional ones, go to the right.
type Node struct {
	Column      int
	Threshold   float64  // not NaN
	Set         []uint64 // bits by category; nil: by Threshold
	MissingLeft bool     // where NaN goes
	ZeroMissing bool     // 0 goes where NaN goes
	Gain        float32  // what the split adds to the objective, 0 if unknown; scores do not depend on it
	Left, Right int      // nodes; negative: ^i is leaf i
}

// GoesLeft reports whether a document with that value goes to the left.
func (n *Node) GoesLeft(x float32) bool {
	switch {
	case x != x || x == 0 && n.ZeroMissing:
		return n.MissingLeft
	case n.Set == nil:
		return float64(x) <= n.Threshold
	default:
		return x >= 0 && x < float32(64*len(n.Set)) && x == float32(int(x)) && n.Set[int(x)/64]>>(int(x)%64)&1 == 1
	}
}

// Leaf returns the number of the leaf that a document reaches.
func (t *Tree) Leaf(row []float32) int {
	if len(t.Nodes) == 0 {
		return 0
	}
	for at := 0; ; {
		n := &t.Nodes[at]
		if at = n.Right; n.GoesLeft(row[n.Column]) {
			at = n.Left
		}
		if at < 0 {
			return ^at
		}
	}
}

// Depth returns the largest number of nodes above a leaf, of a tree that [Forest.Check] accepts.
func (t *Tree) Depth() (depth int) {
	if len(t.Nodes) == 0 {
		return 0
	}
	for level := []int{0}; len(level) > 0; depth++ {
		var below []int
		for _, i := range level {
			for _, child := range []int{t.Nodes[i].Left, t.Nodes[i].Right} {
				if child >= 0 {
					below = append(below, child)
				}
			}
		}
		level = below
	}
	return depth
}

// Breaks returns a column by which the tree breaks Monotone or Interactions of a configuration, or -1 if it breaks none. At each node
// of a column that scores may not fall or rise with, no leaf on one side may be on the wrong side of a leaf on the other, as in trees
// of a [Grower] with the constraint.
func (t *Tree) Breaks(c Config) (column int) {
	column = -1
	var bounds func(at int, path []int) (low, high float64) // of leaves
	bounds = func(at int, path []int) (low, high float64) {
		if at < 0 {
			return t.Leaves[^at], t.Leaves[^at]
		}
		n := &t.Nodes[at]
		allowed, below := c.allowed(path, n.Column), c.below(path, n.Column)
		leftLow, leftHigh := bounds(n.Left, below)
		rightLow, rightHigh := bounds(n.Right, below)
		sign := int8(0)
		if c.Monotone != nil {
			sign = c.Monotone[n.Column]
		}
		if !allowed || sign > 0 && leftHigh > rightLow || sign < 0 && leftLow < rightHigh {
			column = n.Column
		}
		return min(leftLow, rightLow), max(leftHigh, rightHigh)
	}
	if len(t.Nodes) > 0 {
		bounds(0, nil)
	}
	return column
}

// Check returns an error if the forest cannot be scored. Exactly one way must lead from the root of a tree to each node and leaf,
// columns must be inputs, no threshold may be NaN, and leaves and bias must be finite.
func (f *Forest) Check() error {
	if f.Inputs < 0 {
		return fmt.Errorf("forest: %d inputs, want 0 or more", f.Inputs)
	}
	if !finite(f.Bias) {
		return fmt.Errorf("forest: the bias is %v, want a finite number", f.Bias)
	}
	for i := range f.Trees {
		if err := f.Trees[i].check(f.Inputs); err != nil {
			return fmt.Errorf("forest: tree %d: %w", i, err)
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func (t *Tree) check(inputs int) error {
	if len(t.Leaves) != len(t.Nodes)+1 {
		return fmt.Errorf("%d nodes and %d leaves, want one leaf more than nodes", len(t.Nodes), len(t.Leaves))
	}
	for i, v := range t.Leaves {
		if !finite(v) {
			return fmt.Errorf("leaf %d is %v, want a finite number", i, v)
		}
	}
	if len(t.Nodes) == 0 {
		return nil
	}
	// With a leaf more than nodes, all are reached exactly once if all nodes are reached, and nothing twice.
	nodes, leaves, reached := make([]bool, len(t.Nodes)), make([]bool, len(t.Leaves)), 0
	for open := []int{0}; len(open) > 0; reached++ {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		n := &t.Nodes[i]
		if inputs == 0 {
			return fmt.Errorf("node %d: column %d of a forest without features: want a single leaf", i, n.Column)
		}
		if n.Column < 0 || n.Column >= inputs {
			return fmt.Errorf("node %d: column %d, want 0 to %d", i, n.Column, inputs-1)
		}
		if n.Set == nil && math.IsNaN(n.Threshold) {
			return fmt.Errorf("node %d: the threshold is NaN", i)
		}
		for _, child := range []int{n.Left, n.Right} {
			seen, number := nodes, child
			if child < 0 {
				seen, number = leaves, ^child
			}
			if number >= len(seen) {
				return fmt.Errorf("node %d: a child of number %d, of %d", i, number, len(seen))
			}
			if seen[number] || child == 0 {
				return fmt.Errorf("node %d: a child that another has too, or is the root, number %d", i, number)
			}
			if seen[number] = true; child > 0 {
				open = append(open, child)
			}
		}
	}
	if reached < len(t.Nodes) {
		return fmt.Errorf("%d of %d nodes are not reached from the root", len(t.Nodes)-reached, len(t.Nodes))
	}
	return nil
}
