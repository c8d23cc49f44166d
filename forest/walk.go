package forest

// A walker scores one document at a time: for few of them that is faster than a plane of each threshold.
type walker struct {
	nodes  []walkNode
	odd    []Node // with sets, or where 0 is missing
	roots  []int32
	leaves []float64
}

// A walkNode is a node of one of the trees.
type walkNode struct {
	column    int32   // twice the column, and 1 if missing values go to the left; negative: ^i is odd node i
	threshold float32 // the largest float32 that is at most the threshold of the node
	next      [2]int32
}

// compile adds a tree.
func (w *walker) compile(t *Tree) {
	first, leaf := int32(len(w.nodes)), int32(len(w.leaves))
	at := func(i int) int32 {
		if i < 0 {
			return ^(leaf + int32(^i))
		}
		return first + int32(i)
	}
	root := at(0)
	if len(t.Nodes) == 0 {
		root = at(^0)
	}
	w.roots, w.leaves = append(w.roots, root), append(w.leaves, t.Leaves...)
	for _, n := range t.Nodes {
		node := walkNode{int32(2 * n.Column), 0, [2]int32{at(n.Left), at(n.Right)}}
		if n.Set != nil || n.ZeroMissing {
			node.column = ^int32(len(w.odd))
			w.odd = append(w.odd, n)
		} else {
			if n.MissingLeft {
				node.column++
			}
			node.threshold = floor32(n.Threshold)
		}
		w.nodes = append(w.nodes, node)
	}
}

// add returns the sum with the trees added for a document, rounded after each if single is true.
func (w *walker) add(sum float64, row []float32, single bool) float64 {
	for _, at := range w.roots {
		for at >= 0 {
			n := &w.nodes[at]
			right := uint8(0) // without a branch that nobody can predict
			if n.column < 0 {
				if odd := &w.odd[^n.column]; !odd.GoesLeft(row[odd.Column]) {
					right = 1
				}
			} else if x := row[n.column>>1]; x == x {
				if x > n.threshold {
					right = 1
				}
			} else {
				right = uint8(^n.column & 1)
			}
			at = n.next[right]
		}
		if sum += w.leaves[^at]; single {
			sum = float64(float32(sum))
		}
	}
	return sum
}
