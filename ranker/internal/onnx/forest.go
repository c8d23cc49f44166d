package onnx

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/transforms"
)

const treeEnsemble = "TreeEnsembleRegressor"

// forest adds the scores [documents, 1] of a forest, in double precision, which has inputs and thresholds as they are. The
// sums of a TreeEnsembleRegressor are doubles as well, but are given in float32. So leaves are sums of two numbers, and
// the sums of the first ones are exact in float32.
func (g *graph) forest(f *forest.Forest, t *transforms.Transform) string {
	x := g.inputs(t, func(_ int, codes string) string { return g.to(Double, codes) })
	x, place := g.decisions(x, f)
	trees := append(slices.Clone(f.Trees), forest.Tree{Leaves: []float64{f.Bias}})
	bound := 0.0 // of a score
	for _, t := range trees {
		bound += max(slices.Max(t.Leaves), -slices.Min(t.Leaves))
	}
	_, exponent := math.Frexp(bound)
	unit := math.Ldexp(1, exponent-23)

	ints := map[string][]int{} // attributes
	add := func(name string, values ...int) { ints[name] = append(ints[name], values...) }
	var modes []string
	var thresholds, weights []float64
	node := func(tree, id, column int, mode string, threshold float64, missingLeft bool, left, right int) {
		add("nodes_treeids", tree)
		add("nodes_nodeids", id)
		add("nodes_featureids", column)
		add("nodes_truenodeids", left)
		add("nodes_falsenodeids", right)
		missing := 0
		if missingLeft {
			missing = 1
		}
		add("nodes_missing_value_tracks_true", missing)
		modes, thresholds = append(modes, mode), append(thresholds, threshold)
	}
	for i, t := range trees {
		idOf := func(child int) int { // leaves follow nodes
			if child < 0 {
				return len(t.Nodes) + ^child
			}
			return child
		}
		for id := range t.Nodes {
			n := &t.Nodes[id]
			column, threshold := place(n)
			node(i, id, column, "BRANCH_LEQ", threshold, n.MissingLeft, idOf(n.Left), idOf(n.Right))
		}
		for l, leaf := range t.Leaves {
			id := idOf(^l)
			node(i, id, 0, "LEAF", 0, false, 0, 0)
			add("target_treeids", i, i)
			add("target_nodeids", id, id)
			add("target_ids", 0, 1)
			whole := unit * math.RoundToEven(leaf/unit)
			weights = append(weights, whole, leaf-whole)
		}
	}
	with := attributes{
		"n_targets": 2, "nodes_modes": modes, "nodes_values_as_tensor": tensor("", Double, thresholds, len(thresholds)),
		"target_weights_as_tensor": tensor("", Double, weights, len(weights)),
	}
	for name, values := range ints {
		with[name] = values
	}
	return g.nodeWith("ReduceSum", attributes{"keepdims": 1}, g.to(Double, g.nodeWith(treeEnsemble, with, x)), g.ints(1))
}

// decisions adds columns to the inputs of a forest for nodes that are more than a comparison. It returns all columns, and which
// column and threshold a node has. For a set there is a column of 0, for documents that go to the left, and 1: ONNX has
// had sets since 2024, but versions of ONNX Runtime take time and memory without bound to read them.
func (g *graph) decisions(x string, f *forest.Forest) (columns string, place func(n *forest.Node) (column int, threshold float64)) {
	inputs, width := []string{x}, f.Inputs
	var zerosMissing int              // where the inputs begin with 0 for missing
	nodes := map[int][]*forest.Node{} // by column, a node for each set
	places := map[string]int{}        // of sets
	key := func(n *forest.Node) string { return fmt.Sprint(n.Column, n.Set, n.MissingLeft, n.ZeroMissing) }
	for _, t := range f.Trees {
		for i := range t.Nodes {
			n := &t.Nodes[i]
			switch {
			case n.Set == nil && n.ZeroMissing && zerosMissing == 0:
				inputs = append(inputs, g.node("Where", g.node("Equal", x, g.double(0)), g.double(math.NaN()), x))
				zerosMissing, width = width, 2*width
			case n.Set != nil && places[key(n)] == 0:
				places[key(n)] = 1 // more follows
				nodes[n.Column] = append(nodes[n.Column], n)
			}
		}
	}
	for _, column := range slices.Sorted(maps.Keys(nodes)) {
		sets := nodes[column]
		inputs = append(inputs, g.sets(g.nodeWith("Gather", attributes{"axis": 1}, x, g.ints(column)), sets))
		for _, n := range sets {
			places[key(n)] = width
			width++
		}
	}
	return g.sideBySide(inputs), func(n *forest.Node) (column int, threshold float64) {
		switch {
		case n.Set != nil:
			return places[key(n)], 0
		case n.ZeroMissing:
			return zerosMissing + n.Column, n.Threshold
		}
		return n.Column, n.Threshold
	}
}

// sets adds, for the values [documents, 1] of a column, what each of its nodes decides. Values that all nodes treat alike
// have a row of a table.
func (g *graph) sets(x string, nodes []*forest.Node) string {
	codes := 0
	for _, n := range nodes {
		codes = max(codes, 64*len(n.Set))
	}
	other, missing := codes, codes+1
	var rowOf, table []float64
	rows, row := map[string]int{}, make([]byte, len(nodes))
	for code := range codes + 2 {
		value := float32(code)
		switch code {
		case other:
			value = -1
		case missing:
			value = float32(math.NaN())
		}
		for i, n := range nodes {
			if row[i] = 1; n.GoesLeft(value) {
				row[i] = 0
			}
		}
		at, known := rows[string(row)]
		if !known {
			at = len(rows)
			rows[string(row)] = at
			for _, right := range row {
				table = append(table, float64(right))
			}
		}
		rowOf = append(rowOf, float64(at))
	}
	whole := g.node("And", g.node("Equal", x, g.node("Floor", x)), g.node("And", g.node("GreaterOrEqual", x, g.double(0)),
		g.node("Less", x, g.double(float64(codes)))))
	code := g.node("Where", whole, x, g.node("Where", g.node("IsNaN", x), g.double(float64(missing)), g.double(float64(other))))
	at := g.node("Gather", g.constant(int64s, rowOf, len(rowOf)), g.node("Squeeze", g.to(int64s, code), g.ints(1)))
	return g.to(Double, g.node("Gather", g.constant(uint8s, table, len(rows), len(nodes)), at))
}
