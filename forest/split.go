package forest

import (
	"cmp"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/parallel"
)

// A split divides the documents of leaves by the bins of a column.
type split struct {
	gain        float64 // twice what the objective gains, in units
	column      int
	bins        []uint32 // of values, in the order of the split: the first go to the left
	cut         int      // the number of bins that go to the left
	missingLeft bool
}

// ascending are the bins of numbers, in order.
var ascending = func() (bins [MaxBins]uint32) {
	for i := range bins {
		bins[i] = uint32(i + 1)
	}
	return bins
}()

// symmetric grows a tree in which all nodes of a level have the same split.
func (g *Grower) symmetric(root *leaf) (nodes []Node, leaves []*leaf) {
	leaves = []*leaf{root}
	g.histograms([]family{{small: root}})
	for depth := 1; ; depth++ {
		best := g.best([][]*leaf{leaves})[0]
		if best.gain <= 0 {
			break
		}
		node, by := g.node(leaves, &best), g.binsOf(best.column)
		families := make([]family, len(leaves))
		children := make([]*leaf, 2*len(leaves))
		parallel.For(len(leaves), parallel.Workers(len(leaves)), func(_, i int) {
			families[i] = g.divide(leaves[i], &best, by)
			children[2*i], children[2*i+1] = families[i].left, families[i].right
		})
		nodes = append(nodes, slices.Repeat([]Node{node}, len(leaves))...)
		leaves = children
		if depth == g.config.Depth {
			for _, f := range families {
				g.release(f.parent)
			}
			break
		}
		g.histograms(families)
	}
	t := Tree{Nodes: nodes}
	t.link()
	return t.Nodes, leaves
}

// link sets the child indices of a complete tree, whose nodes are listed level by level.
func (t *Tree) link() {
	for i := range t.Nodes {
		for side, child := range []*int{&t.Nodes[i].Left, &t.Nodes[i].Right} {
			if *child = 2*i + 1 + side; *child >= len(t.Nodes) {
				*child = ^(*child - len(t.Nodes))
			}
		}
	}
}

// leafWise grows a tree by always splitting the leaf with the largest gain.
func (g *Grower) leafWise(root *leaf) (nodes []Node, leaves []*leaf) {
	leaves = []*leaf{root}
	parents := []*int{new(int)} // of leaves: where their number is in nodes
	nodes = make([]Node, 0, g.config.Leaves-1)
	g.histograms([]family{{small: root}})
	root.best = g.best([][]*leaf{leaves})[0]
	keeps := g.keeps()
	if !keeps {
		g.release(root)
	}
	for len(leaves) < g.config.Leaves {
		at := 0
		for i, l := range leaves {
			if l.best.gain > leaves[at].best.gain {
				at = i
			}
		}
		l := leaves[at]
		if l.best.gain <= 0 {
			break
		}
		nodes = append(nodes, g.node(leaves[at:at+1], &l.best))
		n := &nodes[len(nodes)-1]
		*parents[at] = len(nodes) - 1
		n.Left, n.Right = ^at, ^len(leaves)
		f := g.divide(l, &l.best, g.binsOf(l.best.column))
		leaves[at], parents[at] = f.left, &n.Left
		leaves, parents = append(leaves, f.right), append(parents, &n.Right)
		if f.left.depth < g.config.Depth && len(leaves) < g.config.Leaves {
			families := []family{f}
			if !keeps {
				families = []family{{small: f.left}, {small: f.right}}
			}
			g.histograms(families)
			best := g.best([][]*leaf{{f.left}, {f.right}})
			f.left.best, f.right.best = best[0], best[1]
			if !keeps {
				g.release(f.left)
				g.release(f.right)
			}
		} else {
			g.release(l)
		}
	}
	return nodes, leaves
}

// node returns the node of one of the leaves of a split, with its share of the gain and without children. If no value was
// missing, node chooses the side of missing values. Categories that share a bin go to the right.
func (g *Grower) node(leaves []*leaf, s *split) Node {
	c := &g.binned.columns[s.column]
	if !c.missing {
		left, all := 0., 0.
		for _, l := range leaves {
			_, w := parts(g.left(l, s))
			_, a := parts(l.pair)
			left, all = left+w, all+a
		}
		s.missingLeft = 2*left >= all
	}
	gain := s.gain / 2 / float64(len(leaves)) * g.units.gradient * g.units.gradient / g.units.curvature
	n := Node{Column: s.column, MissingLeft: s.missingLeft, Gain: float32(gain)}
	switch {
	case c.categorical():
		if slices.Contains(s.bins[:s.cut], 1) {
			slices.Reverse(s.bins)
			s.cut = len(s.bins) - s.cut
			s.missingLeft = !s.missingLeft
			n.MissingLeft = s.missingLeft
		}
		n.Set = []uint64{}
		for _, bin := range s.bins[:s.cut] {
			code := c.codes[bin-2]
			for code/64 >= len(n.Set) {
				n.Set = append(n.Set, 0)
			}
			n.Set[code/64] |= 1 << (code % 64)
		}
	case s.cut > len(c.cuts):
		n.Threshold = math.Inf(1)
	default:
		n.Threshold = c.cuts[s.cut-1]
	}
	return n
}

// left returns the sum over the documents of a leaf that a split sends to the left.
func (g *Grower) left(l *leaf, s *split) uint64 {
	h := g.histogram(l, s.column)
	var sum uint64
	if s.missingLeft {
		sum = h[0]
	}
	for _, bin := range s.bins[:s.cut] {
		sum += h[bin]
	}
	return sum
}

// A family is a divided leaf and its children; small is the child with fewer documents.
type family struct{ parent, left, right, small *leaf }

func (f *family) large() *leaf {
	if f.small == f.left {
		return f.right
	}
	return f.left
}

// divide divides the documents of a leaf, given the bins of the column.
func (g *Grower) divide(l *leaf, s *split, by rowBins) family {
	v := g.values(l, g.left(l, s), s.column)
	left := &leaf{depth: l.depth + 1, pair: v.pair, value: v.left, inherited: v.leftInherited, low: l.low, high: l.high}
	right := &leaf{depth: l.depth + 1, pair: l.pair - v.pair, value: v.right, inherited: v.rightInherited, low: l.low, high: l.high}
	left.path = g.config.below(l.path, s.column)
	right.path = left.path
	switch g.monotone(s.column) {
	case 1:
		left.high, right.low = v.between, v.between
	case -1:
		left.low, right.high = v.between, v.between
	}
	goes := make([]uint8, max(256, g.binned.columns[s.column].bins())) // 1 by bin: to the left
	if s.missingLeft {
		goes[0] = 1
	}
	for _, bin := range s.bins[:s.cut] {
		goes[bin] = 1
	}
	left.rows, right.rows = g.part(l.rows, by, goes)
	left.rest, right.rest = g.part(l.rest, by, goes)
	f := family{l, left, right, left}
	if len(right.rows) < len(left.rows) {
		f.small = right
	}
	return f
}

// part moves the documents that go to the left before the others. Both keep their order.
func (g *Grower) part(rows []uint32, by rowBins, goes []uint8) (left, right []uint32) {
	if len(rows) == 0 {
		return nil, nil
	}
	from := cap(g.order) - cap(rows) // where rows are in order
	moved := g.moved[from : from+len(rows)]
	n, others, bytes := 0, 0, (*[256]uint8)(goes)
	for _, i := range rows {
		rows[n], moved[others] = i, i // without a branch that nobody can predict
		left := 0
		if by.wide != nil {
			left = int(goes[by.wide[i]])
		} else {
			left = int(bytes[by.bins[int(i)*by.width+by.place]])
		}
		n += left
		others += 1 - left
	}
	copy(rows[n:], moved[:others])
	return rows[:n], rows[n:]
}

// histograms computes the histograms of children: of the smaller one from its documents, and of the other as the parent's less
// the smaller one's.
func (g *Grower) histograms(families []family) {
	b := g.binned
	size := b.histogramSize()
	for i := range families {
		f := &families[i]
		if len(g.spare) > 0 {
			f.small.histogram = g.spare[len(g.spare)-1]
			g.spare = g.spare[:len(g.spare)-1]
		} else {
			f.small.histogram = make([]uint64, size)
		}
		if f.parent != nil {
			f.large().histogram, f.parent.histogram = f.parent.histogram, nil
		}
	}
	part, parts := g.config.Part, g.config.Parts
	panels := max(1, len(b.panels))
	n := len(families) * panels
	parallel.For(n, parallel.Workers(n), func(_, i int) {
		f := &families[i/panels]
		rows := f.small.rows[len(f.small.rows)*part/parts : len(f.small.rows)*(part+1)/parts]
		if b.sparse != nil {
			clear(f.small.histogram)
			b.sparse.accumulate(f.small.histogram, rows, g.pairs)
			return
		}
		p := &b.panels[i%panels]
		h := f.small.histogram[p.first<<b.shift : (p.first+p.width)<<b.shift]
		clear(h)
		accumulate(h, p.bins, p.width, b.shift, rows, g.pairs)
	})
	for i := 0; parts > 1 && i < len(families); i++ {
		g.config.Sum(families[i].small.histogram)
	}
	parallel.For(len(families), parallel.Workers(len(families)), func(_, i int) {
		f := &families[i]
		if b.sparse != nil {
			b.sparse.addZeros(f.small.histogram, f.small.pair)
		}
		if f.parent != nil {
			large := f.large()
			for j, pair := range f.small.histogram {
				large.histogram[j] -= pair
			}
		}
	})
}

// release lets other leaves have the histogram of a leaf.
func (g *Grower) release(l *leaf) {
	if l.histogram != nil {
		g.spare = append(g.spare, l.histogram)
		l.histogram = nil
	}
}

// accumulatePlain adds the pairs of documents to the histograms of the columns of a panel.
func accumulatePlain(h []uint64, bins []uint8, width, shift int, rows []uint32, pairs []uint64) {
	for _, i := range rows {
		pair := pairs[i]
		for c, bin := range bins[int(i)*width:][:width] {
			h[c<<shift|int(bin)] += pair
		}
	}
}

// best returns the best split of each group of leaves. All leaves of a group have the same split.
func (g *Grower) best(groups [][]*leaf) []split {
	together := 1
	if g.binned.sparse != nil {
		together = 512 // columns with few bins each
	}
	chunks := (len(g.active) + together - 1) / together
	found := make([]split, chunks*len(groups))
	parallel.For(len(found), parallel.Workers(len(found)), func(_, i int) {
		group, first := groups[i/chunks], i%chunks*together
		s := g.newSearch(group)
		for _, column := range g.active[first:min(first+together, len(g.active))] {
			if !g.config.allowed(group[0].path, column) { // which all leaves of a level share
				continue
			}
			for j, l := range group {
				if g.binned.columns[column].wide == nil {
					s.histograms[j] = g.histogram(l, column)
				}
			}
			if best := g.bestOf(s, column); best.gain > found[i].gain {
				found[i] = best
			}
		}
	})
	best := make([]split, len(groups))
	for i, s := range found {
		if s.gain > best[i/chunks].gain {
			best[i/chunks] = s
		}
	}
	return best
}

// histogram returns the histogram of a column in a leaf.
func (g *Grower) histogram(l *leaf, column int) []uint64 {
	n, wide := g.binned.columns[column].bins(), g.binned.columns[column].wide
	switch {
	case wide != nil:
		h := make([]uint64, n)
		for _, row := range l.rows {
			h[wide[row]] += g.pairs[row]
		}
		return h
	case l.histogram == nil:
		h, by := make([]uint64, n), g.binsOf(column)
		for _, row := range l.rows {
			h[by.bins[row]] += g.pairs[row]
		}
		return h
	case g.binned.sparse != nil:
		return l.histogram[g.binned.sparse.offsets[column]:][:n]
	}
	return l.histogram[column<<g.binned.shift:][:n]
}

// histogramSize returns the length of the histogram of a leaf.
func (b *Binned) histogramSize() int {
	if b.sparse != nil {
		return b.sparse.offsets[b.width]
	}
	last := &b.panels[len(b.panels)-1]
	return (last.first + last.width) << b.shift
}

// mostKeptBins is the number of bins, of 8 bytes, that the histograms of all leaves of a tree by leaves may have. Beyond, the
// histograms of sparse documents are made anew for each leaf. It is changed by tests alone.
var mostKeptBins = 1 << 25

// keeps reports whether leaves keep their histograms, from which the ones of their children are made.
func (g *Grower) keeps() bool {
	return g.binned.sparse == nil || g.binned.histogramSize()*g.config.Leaves <= mostKeptBins
}

// below returns the columns above the children of a leaf that a column splits, if Interactions are given.
func (c *Config) below(path []int, column int) []int {
	if c.Interactions == nil || slices.Contains(path, column) {
		return path
	}
	return append(slices.Clip(path), column)
}

// allowed reports whether a column may be asked below others.
func (c *Config) allowed(path []int, column int) bool {
	return c.Interactions == nil || len(path) == 0 || slices.Contains(path, column) && len(path) == 1 ||
		slices.ContainsFunc(c.Interactions, func(set []int) bool {
			return slices.Contains(set, column) && !slices.ContainsFunc(path, func(above int) bool { return !slices.Contains(set, above) })
		})
}

// A search finds the best split of leaves by a column.
type search struct {
	best       split
	leaves     []*leaf
	histograms [][]uint64 // of the column, by leaf
	bases      []float64  // what each leaf adds to the objective undivided, and all
	base       float64
	documents  int      // of the leaves
	sums       []uint64 // of what goes to the left, by leaf
}

// newSearch returns a search for splits of leaves. Its histograms are to be set.
func (g *Grower) newSearch(leaves []*leaf) *search {
	m := len(leaves)
	s := &search{leaves: leaves, histograms: make([][]uint64, m), bases: make([]float64, m), sums: make([]uint64, m)}
	for i, l := range leaves {
		s.bases[i] = g.score(l.pair, l.value, l.inherited)
		s.base += s.bases[i]
		s.documents += len(l.rows)
	}
	return s
}

// bestOf returns the best split by a column, whose histograms the search has.
func (g *Grower) bestOf(s *search, column int) split {
	c := &g.binned.columns[column]
	n := c.bins()
	clear(s.sums)
	var levels []uint32
	var ends []int
	if c.wide != nil {
		levels, ends = g.merge(s, c)
		n = 1 + len(ends)
	}
	s.best = split{column: column, bins: ascending[:n-1]}
	if c.categorical() && c.wide == nil {
		s.best.bins = g.ordered(s.histograms, s.documents)
	}
	last := n - 2
	if c.missing {
		g.scan(s, n-1, false) // the last cut is all values against the missing ones
		for i, h := range s.histograms {
			s.sums[i] = h[0]
		}
	}
	g.scan(s, last, c.missing)
	if s.best.gain < 1e-12*s.base { // rounding
		s.best.gain = 0
	}
	if c.wide != nil && s.best.cut > 0 {
		s.best.bins, s.best.cut = levels, ends[s.best.cut-1]
		if g.config.Leaves == 0 && s.best.gain < g.seeming(s)/4 {
			s.best.gain = 0
		}
	}
	return s.best
}

// scan tries the first cuts. sums must have what goes to the left before any of them.
func (g *Grower) scan(s *search, cuts int, missingLeft bool) {
	alone := len(s.leaves) == 1
	for cut, bin := range s.best.bins[:cuts] {
		if alone && s.histograms[0][bin] == 0 {
			continue // divides the documents as the cut before does
		}
		sum, real := -s.base, false
		for i, h := range s.histograms {
			s.sums[i] += h[bin]
			if s.sums[i] == 0 || s.sums[i] == s.leaves[i].pair { // nothing on one side
				sum += s.bases[i]
				continue
			}
			a, b := parts(s.sums[i])
			c, d := parts(s.leaves[i].pair - s.sums[i])
			if g.config.Monotone == nil && b >= g.minWeight && d >= g.minWeight { // values, in short
				sum += a*a/(b+g.l2) + c*c/(d+g.l2)
				real = true
				continue
			}
			if alone && g.config.Monotone == nil {
				break
			}
			v := g.values(s.leaves[i], s.sums[i], s.best.column)
			sum += g.score(v.pair, v.left, v.leftInherited) + g.score(s.leaves[i].pair-v.pair, v.right, v.rightInherited)
			real = real || v.real
		}
		if sum > s.best.gain && real {
			s.best.gain, s.best.cut, s.best.missingLeft = sum, cut+1, missingLeft
		}
	}
}

// smooth is the number of documents without a gradient that are added to each category where categories are sorted.
const smooth = 10

// ordered returns the bins of categories in the order of the values that they would have as leaves.
func (g *Grower) ordered(histograms [][]uint64, documents int) []uint32 {
	n := len(histograms[0])
	sums := make([]uint64, n)
	var all uint64
	for _, h := range histograms {
		for bin, pair := range h {
			sums[bin] += pair
			all += pair
		}
	}
	_, weight := parts(all)
	value := make([]float64, n)
	for bin, pair := range sums {
		s, w := parts(pair)
		value[bin] = s / (w + g.l2 + smooth*weight/float64(documents))
	}
	bins := slices.Clone(ascending[:n-1])
	slices.SortStableFunc(bins, func(a, b uint32) int { return cmp.Compare(value[a], value[b]) })
	return bins
}

// score returns twice what documents with that sum add to the objective if they have a value, less l2 unless the value is
// inherited.
func (g *Grower) score(pair uint64, value float64, inherited bool) float64 {
	s, w := parts(pair)
	if !inherited {
		w += g.l2
	}
	return value * (2*s - w*value)
}

func (g *Grower) monotone(column int) int8 {
	if g.config.Monotone == nil {
		return 0
	}
	return g.config.Monotone[column]
}

// values are the values of the two sides of a leaf.
type values struct {
	pair                          uint64 // sum of the left side
	left, right                   float64
	between                       float64 // a bound of both, from a monotone constraint
	leftInherited, rightInherited bool
	real                          bool // both sides have enough weight, and their values obey the constraint
}

// values returns the values of the two sides of a leaf, given the sum of the left one.
func (g *Grower) values(l *leaf, pair uint64, column int) values {
	a, b := parts(pair)
	c, d := parts(l.pair - pair)
	v := values{pair: pair, leftInherited: b < g.minWeight, rightInherited: d < g.minWeight}
	clip := func(x float64) float64 { return min(max(x, l.low), l.high) }
	v.left, v.right = clip(a/(b+g.l2)), clip(c/(d+g.l2))
	if v.leftInherited {
		v.left = l.value
	}
	if v.rightInherited {
		v.right = l.value
	}
	v.real = !v.leftInherited && !v.rightInherited
	if m := float64(g.monotone(column)); m != 0 {
		v.between = (v.left + v.right) / 2
		if m*(v.right-v.left) < 0 {
			v.between, v.real = l.value, false
			v.left, v.right = m*min(m*v.left, m*l.value), m*max(m*v.right, m*l.value)
		}
	}
	return v
}
