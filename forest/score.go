package forest

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// A Scorer evaluates a forest. It is safe for concurrent use.
//
// A plane has a byte for each of 64 documents, and a node compares bytes: documents whose byte is above the cut go to the right.
// The byte of a number counts the thresholds below it; the byte of a category is 1 outside of a set.
type Scorer struct {
	inputs  int
	bias    float64
	single  bool // a run is one tree
	planes  []plane
	runs    []run
	splits  []uint64 // of symmetric trees, one for each level: the offset of the plane, and four times the cut; of small trees more
	depths  []uint8  // of symmetric trees; the number of nodes of other small trees
	nodes   []byteNode
	leaves  []float64
	tables  []uint8   // of small trees: the first bytes of 64 leaves, the second, …
	scratch sync.Pool // of *[]uint8, planes
	walker  *walker   // nil: all trees are symmetric, whose planes are faster for one document, too
}

// few is the number of documents that a walker scores in less time than planes do: see BenchmarkScore.
const few = 3

// together is the number of documents that are scored at a time.
const together = 64

type plane struct {
	Node                   // its Threshold is unused
	thresholds []float32   // at most mostThresholds, ascending
	right      *[128]uint8 // of sets of categories below mostCodes: 1 for byte codes that go to the right
}

// mostThresholds leaves 255, which is missing on the right.
const mostThresholds = 254

// A byteNode is a node of another tree.
type byteNode struct {
	plane uint32 // offset
	cut   int32
	next  [2]int32 // left and right; negative: ^i is leaf i
}

// A run is a sequence of trees, either all symmetric or none, and either all small or none. Trees that are neither have a run
// each.
type run struct {
	symmetric, small                    bool
	trees                               int // 0: a tree that is one leaf
	split, depth, nodes, leaves, tables int // first ones
}

// maxByteDepth is the largest depth at which a byte can number the leaves of a symmetric tree. Small trees have at most
// smallLeaves.
const (
	maxByteDepth = 8
	smallLeaves  = 64
)

// Compile returns the scorer of a forest that [Forest.Check] accepts.
func (f *Forest) Compile() *Scorer {
	s := &Scorer{inputs: f.Inputs, bias: f.Bias, single: f.Single}
	at := s.makePlanes(f.Trees)
	for i := range f.Trees {
		s.compile(&f.Trees[i], at)
	}
	if slices.ContainsFunc(s.runs, func(r run) bool { return !r.symmetric }) {
		s.walker = new(walker)
		for i := range f.Trees {
			s.walker.compile(&f.Trees[i])
		}
	}
	s.scratch.New = func() any { b := make([]uint8, len(s.planes)*together); return &b }
	return s
}

// compile adds a tree, to the last run if its trees are of the same kind. at finds the plane and the cut of a node.
func (s *Scorer) compile(t *Tree, at func(n *Node) (plane, cut int)) {
	levels, order := t.levels()
	symmetric := len(levels) > 0 && len(levels) <= maxByteDepth
	small := bytewise && len(t.Nodes) > 0 && len(t.Leaves) <= smallLeaves
	if n := len(s.runs); n == 0 || s.single || s.runs[n-1].symmetric != symmetric || s.runs[n-1].small != small || !symmetric && !small {
		s.runs = append(s.runs, run{symmetric, small, 0, len(s.splits), len(s.depths), len(s.nodes), len(s.leaves), len(s.tables)})
	}
	s.runs[len(s.runs)-1].trees += min(1, len(t.Nodes))
	split := func(n *Node) {
		plane, cut := at(n)
		s.splits = append(s.splits, uint64(plane*together)|uint64(cut)*0x01010101<<32)
	}
	leaves := t.Leaves
	switch {
	case symmetric:
		for _, n := range levels {
			split(n)
		}
		s.depths = append(s.depths, uint8(len(levels)))
		leaves = make([]float64, len(order))
		for j, leaf := range order {
			leaves[j] = t.Leaves[leaf]
		}
	case small:
		s.compileSmall(t, split)
	default:
		for j := range t.Nodes {
			n := &t.Nodes[j]
			plane, cut := at(n)
			s.nodes = append(s.nodes, byteNode{uint32(plane * together), int32(cut), [2]int32{int32(n.Left), int32(n.Right)}})
		}
	}
	if !small {
		s.leaves = append(s.leaves, leaves...)
		return
	}
	table := make([]uint8, 8*smallLeaves)
	for j, v := range leaves {
		for b := range 8 {
			table[b*smallLeaves+j] = uint8(math.Float64bits(v) >> (8 * b))
		}
	}
	s.tables = append(s.tables, table...)
}

// compileSmall adds the nodes of a small tree that is not symmetric, parents before children.
func (s *Scorer) compileSmall(t *Tree, split func(n *Node)) {
	s.depths = append(s.depths, uint8(len(t.Nodes)))
	number := 1
	next := func(i int) uint64 {
		if i < 0 {
			return uint64(len(t.Nodes) + ^i)
		}
		number++
		return uint64(number - 1)
	}
	for open := []int{0}; len(open) > 0; open = open[1:] {
		n := &t.Nodes[open[0]]
		split(n)
		left := next(n.Left)
		s.splits = append(s.splits, left|next(n.Right)<<32)
		for _, child := range []int{n.Left, n.Right} {
			if child >= 0 {
				open = append(open, child)
			}
		}
	}
}

// levels returns a node of each level of a symmetric tree, and its leaves from left to right; nothing for other trees.
func (t *Tree) levels() (levels []*Node, leaves []int) {
	if len(t.Nodes) == 0 {
		return nil, nil
	}
	for level := []int{0}; ; {
		var below []int
		for _, i := range level {
			if i < 0 {
				return nil, nil
			}
			n := &t.Nodes[i]
			if n.compare(&t.Nodes[level[0]]) != 0 {
				return nil, nil
			}
			below = append(below, n.Left, n.Right)
		}
		levels = append(levels, &t.Nodes[level[0]])
		if level = below; !slices.ContainsFunc(level, func(i int) bool { return i >= 0 }) {
			for _, i := range level {
				leaves = append(leaves, ^i)
			}
			return levels, leaves
		}
	}
}

// compare orders nodes so that the nodes of a plane follow each other.
func (n *Node) compare(other *Node) int {
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(n.Column-other.Column, flag(n.MissingLeft)-flag(other.MissingLeft), flag(n.ZeroMissing)-flag(other.ZeroMissing),
		flag(n.Set == nil)-flag(other.Set == nil), slices.Compare(n.Set, other.Set), cmp.Compare(n.Threshold, other.Threshold))
}

// makePlanes makes the planes of all nodes, and returns a function that finds the plane and the cut of a node.
func (s *Scorer) makePlanes(trees []Tree) func(n *Node) (plane, cut int) {
	var all []*Node
	for i := range trees {
		for j := range trees[i].Nodes {
			all = append(all, &trees[i].Nodes[j])
		}
	}
	slices.SortFunc(all, (*Node).compare)
	all = slices.CompactFunc(all, func(a, b *Node) bool { return a.compare(b) == 0 })
	type place struct{ plane, cut int }
	places := make([]place, len(all))
	for i, n := range all {
		var p *plane
		if last := len(s.planes) - 1; last >= 0 {
			key := s.planes[last].Node
			key.Threshold = n.Threshold
			if n.Set == nil && key.compare(n) == 0 {
				p = &s.planes[last]
			}
		}
		t := floor32(n.Threshold)
		old := p != nil && p.thresholds[len(p.thresholds)-1] == t // two thresholds without a float32 between them
		if p == nil || !old && len(p.thresholds) == mostThresholds {
			s.planes = append(s.planes, plane{Node: *n, right: n.table()})
			p = &s.planes[len(s.planes)-1]
		}
		if n.Set == nil && !old {
			p.thresholds = append(p.thresholds, t)
		}
		places[i] = place{len(s.planes) - 1, max(0, len(p.thresholds)-1)}
	}
	return func(n *Node) (int, int) {
		i, _ := slices.BinarySearchFunc(all, n, (*Node).compare)
		return places[i].plane, places[i].cut
	}
}

// Score sets dst to the scores of len(dst) documents, whose raw features are rows, one document after another. It
// panics if rows has another length than len(dst) × Inputs.
func (s *Scorer) Score(dst []float64, rows []float32) {
	for d := range dst {
		dst[d] = s.bias
	}
	s.Add(dst, rows)
}

// Add adds the trees to dst one after another, without the bias: a forest that is added in parts gives the bits of a whole one.
// Otherwise it is like [Scorer.Score].
func (s *Scorer) Add(dst []float64, rows []float32) {
	if len(rows) != len(dst)*s.inputs {
		panic("forest: slice length mismatch")
	}
	if len(dst) <= few && s.walker != nil {
		for d := range dst {
			dst[d] = s.walker.add(dst[d], rows[d*s.inputs:(d+1)*s.inputs], s.single)
		}
		return
	}
	scratch := s.scratch.Get().(*[]uint8)
	defer s.scratch.Put(scratch)
	for len(dst) > 0 {
		var sums [together]float64
		n := copy(sums[:], dst)
		s.fill(*scratch, rows[:n*s.inputs], n)
		for i := range s.runs {
			s.add(&sums, n, *scratch, &s.runs[i])
			if s.single {
				for d, sum := range sums {
					sums[d] = float64(float32(sum))
				}
			}
		}
		copy(dst, sums[:n])
		dst, rows = dst[n:], rows[n*s.inputs:]
	}
}

// fill sets the bytes of n documents.
func (s *Scorer) fill(planes []uint8, rows []float32, n int) {
	var values, zeroMissing [together]float32
	var codes [together]uint32
	var byteCodes [together]uint8
	for i := range s.planes {
		p := &s.planes[i]
		if i == 0 || p.Column != s.planes[i-1].Column {
			for d := range n {
				values[d] = rows[d*s.inputs+p.Column]
				codes[d] = codeOf(values[d])
				byteCodes[d] = byteCodeOf(codes[d])
			}
		}
		bytes := (*[together]uint8)(planes[i*together:])
		switch {
		case p.right != nil: // a forest may have a set for each of its trees
			if bytewise {
				lookUpVBMI(&bytes[0], &byteCodes[0], &p.right[0])
				continue
			}
			for d, code := range byteCodes {
				bytes[d] = p.right[code&127]
			}
			continue
		case p.Set != nil:
			for d, code := range codes {
				bytes[d] = 1
				if code == missingCode || code == 0 && p.ZeroMissing {
					if p.MissingLeft {
						bytes[d] = 0
					}
				} else if word := int(code / 64); word < len(p.Set) {
					bytes[d] = uint8(^p.Set[word]>>(code%64)) & 1
				}
			}
			continue
		}
		x := &values
		if p.ZeroMissing {
			x, zeroMissing = &zeroMissing, values
			for d := range x {
				if x[d] == 0 {
					x[d] = float32(math.NaN())
				}
			}
		}
		missing := uint8(255)
		if p.MissingLeft {
			missing = 0
		}
		count(bytes[:], x[:], p.thresholds, 0, missing)
	}
}

// The codes of values that are not categories, and of missing ones. No set has them.
const (
	noCode      = math.MaxUint32 - 1
	missingCode = math.MaxUint32
)

// codeOf returns the category of a value.
func codeOf(x float32) uint32 {
	switch {
	case x != x:
		return missingCode
	case x >= 0 && x < 1<<31 && x == float32(uint32(x)):
		return uint32(x)
	}
	return noCode
}

// mostCodes is the number of categories with a byte code. All others share one with values that are not categories.
const mostCodes = 126

// byteCodeOf returns the byte code of a code, at most 127.
func byteCodeOf(code uint32) uint8 {
	if code == missingCode {
		return mostCodes + 1
	}
	return uint8(min(code, mostCodes))
}

// table returns the right of a node's plane, nil if the node has no set or its set has a category without a byte code.
func (n *Node) table() *[128]uint8 {
	if n.Set == nil {
		return nil
	}
	for word, set := range n.Set {
		if set != 0 && 64*word+bits.Len64(set) > mostCodes {
			return nil
		}
	}
	t := new([128]uint8)
	for code := range t {
		x := float32(code)
		switch code {
		case mostCodes:
			x = -1
		case mostCodes + 1:
			x = float32(math.NaN())
		}
		if !n.GoesLeft(x) {
			t[code] = 1
		}
	}
	return t
}

// add adds the trees of a run to the sums of n documents. The sums after these are undefined.
func (s *Scorer) add(sums *[together]float64, n int, planes []uint8, r *run) {
	leaves := s.leaves[r.leaves:]
	switch {
	case r.trees == 0:
		for d := range sums {
			sums[d] += leaves[0]
		}
	case r.symmetric && r.small:
		addTreesVBMI(&sums[0], &planes[0], &s.splits[r.split], &s.depths[r.depth], r.trees, &s.tables[r.tables])
	case r.small:
		addTreesMasked(&sums[0], &planes[0], &s.splits[r.split], &s.depths[r.depth], r.trees, &s.tables[r.tables])
	case !r.symmetric:
		addTree(sums[:n], planes, s.nodes[r.nodes:], leaves)
	case wide:
		addTreesAVX512(&sums[0], &planes[0], &s.splits[r.split], &s.depths[r.depth], r.trees, &leaves[0])
	default:
		addTrees(sums, planes, s.splits[r.split:], s.depths[r.depth:][:r.trees], leaves)
	}
}

// addTrees adds symmetric trees.
func addTrees(sums *[together]float64, planes []uint8, splits []uint64, depths []uint8, leaves []float64) {
	for _, depth := range depths {
		var at [together]uint8
		for _, split := range splits[:depth] {
			cut := uint32(uint8(split >> 32))
			for d, b := range (*[together]uint8)(planes[uint32(split):]) {
				at[d] = at[d]<<1 | uint8((cut-uint32(b))>>31) // without a branch that nobody can predict
			}
		}
		for d, leaf := range at {
			sums[d] += leaves[leaf]
		}
		splits, leaves = splits[depth:], leaves[1<<depth:]
	}
}

// addTree adds a tree that is not symmetric.
func addTree(sums []float64, planes []uint8, nodes []byteNode, leaves []float64) {
	for d := range sums {
		at := int32(0)
		for at >= 0 {
			n := &nodes[at]
			at = n.next[uint32(n.cut-int32(planes[n.plane+uint32(d)]))>>31]
		}
		sums[d] += leaves[^at]
	}
}
