package forest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
)

// A Config says how trees are grown. Zero values are the defaults that the comments name.
type Config struct {
	// Leaves is the largest number of leaves: the leaf with the largest gain is split next. 0: trees are symmetric, all nodes of a
	// level have the same split.
	Leaves int
	// Depth is the largest number of nodes above a leaf. 0: 6 if trees are symmetric, else as many as leaves allow.
	Depth int
	// L2 is added to the curvature of a leaf. 0: 1.
	L2 float64
	// MinWeight is the least curvature of a leaf with a value of its own; others have the value of the node above. 0: any, but more
	// than none.
	MinWeight float64
	// Rows and Columns are the parts of documents and columns by which a tree's splits are chosen. 0: 1, all.
	Rows, Columns float64
	// Monotone says by column whether scores never fall (1) or never rise (-1) with the feature; 0: either. nil: all 0.
	Monotone []int8
	// Interactions are sets of columns: all columns above a leaf are of one of them, or are one column. nil: any may be together.
	Interactions [][]int
	// Queries are the first documents of queries, ascending from 0. Where symmetric trees choose a set of more levels than bins, the
	// documents of a query do not count for each other. nil: each document is a query.
	Queries []int
	// Seed is the seed of what Rows and Columns draw.
	Seed uint64
	// Parts is the number of processes that grow the same trees on the same documents, and Part is the number of this one, from 0: each
	// accumulates the histograms of its part of the documents. 0 and 1: this process is alone.
	Parts, Part int
	// Sum adds to a histogram what the other processes have in theirs. It is needed if Parts is above 1; all processes call it in the
	// same order, with histograms of the same lengths.
	Sum func(histogram []uint64)
}

// MaxDepth is the largest depth of symmetric trees.
const MaxDepth = 12

const maxLeaves = 1 << 14

func (c Config) withDefaults() Config {
	c.Depth, c.L2 = cmp.Or(c.Depth, c.Leaves, 6), cmp.Or(c.L2, 1)
	c.Rows, c.Columns = cmp.Or(c.Rows, 1), cmp.Or(c.Columns, 1)
	c.Parts = max(1, c.Parts)
	return c
}

// check returns an error if a setting, defaults filled in, is out of range.
func (c Config) check(columns []column) error {
	if c.Depth < 1 || c.Leaves == 0 && c.Depth > MaxDepth {
		return fmt.Errorf("forest: Depth is %d, want 1 to %d", c.Depth, MaxDepth)
	}
	if c.Leaves != 0 && (c.Leaves < 2 || c.Leaves > maxLeaves) {
		return fmt.Errorf("forest: Leaves is %d, want 2 to %d, or 0 for symmetric trees", c.Leaves, maxLeaves)
	}
	for _, s := range []struct {
		name        string
		value, most float64
	}{{"L2", c.L2, math.MaxFloat64}, {"MinWeight", c.MinWeight, math.MaxFloat64}, {"Rows", c.Rows, 1}, {"Columns", c.Columns, 1}} {
		if !(s.value >= 0 && s.value <= s.most) {
			return fmt.Errorf("forest: %s is %v, want 0 to %v", s.name, s.value, s.most)
		}
	}
	if c.Part < 0 || c.Part >= c.Parts || c.Parts > 1 && c.Sum == nil {
		return fmt.Errorf("forest: Part %d of %d: want 0 to %d, and a Sum if there are several", c.Part, c.Parts, c.Parts-1)
	}
	if c.Monotone != nil && len(c.Monotone) != len(columns) {
		return fmt.Errorf("forest: Monotone has %d columns, want %d", len(c.Monotone), len(columns))
	}
	for _, set := range c.Interactions {
		for _, col := range set {
			if col < 0 || col >= len(columns) {
				return fmt.Errorf("forest: Interactions has column %d, want 0 to %d", col, len(columns)-1)
			}
		}
	}
	for col, m := range c.Monotone {
		if m < -1 || m > 1 || m != 0 && columns[col].categorical() {
			return fmt.Errorf("forest: Monotone of column %d is %d, want -1 to 1, and 0 if it has categories", col, m)
		}
	}
	return nil
}

// A Grower grows the trees of a forest. It is not for concurrent use. It uses all cores, and the same seed gives the same bits
// for any GOMAXPROCS.
type Grower struct {
	binned *Binned
	config Config
	grown  uint64   // trees
	pairs  []uint64 // by document, of the tree at hand
	order  []uint32 // documents, of the sample and then others, each leaf by leaf
	moved  []uint32 // scratch of order
	active []int    // columns of the sample
	spare  [][]uint64

	rowBins []uint8 // scratch of binsOf
	fold    []uint8 // by document, if there are columns with levels
	units
}

// units are the sizes of 1: gradients and curvatures are rounded to whole numbers of units. Their sums are then exact, in any
// order, and the histogram of a leaf less the one of its left child is the one of its right child. A pair has a gradient in its
// upper 32 bits and a curvature in the lower, and one addition adds both. Units are large enough for sums over all documents to
// fit.
type units struct {
	gradient, curvature float64
	l2, minWeight       float64 // in units of curvature
}

func parts(pair uint64) (gradient, curvature float64) {
	return float64(int32(pair >> 32)), float64(uint32(pair))
}

// NewGrower returns a grower on binned features, or an error if a setting is out of range.
func NewGrower(b *Binned, c Config) (*Grower, error) {
	c = c.withDefaults()
	if err := c.check(b.columns); err != nil {
		return nil, err
	}
	return &Grower{binned: b, config: c, pairs: make([]uint64, b.rows), order: make([]uint32, b.rows), moved: make([]uint32, b.rows)}, nil
}

// Grow grows the next tree from the derivative and the curvature of an objective with respect to the score of each document. The
// objective, which is to be maximised, is approximated by Σ gradient × v − curvature × v²/2, v the value of the document's leaf.
// With L2, the value of a leaf is Σ gradient / (Σ curvature + L2). Grow adds the values to scores. It applies no learning rate:
// to use one, multiply the leaves and what is added. Gradients must be finite, and curvatures not negative.
func (g *Grower) Grow(gradient, curvature []float32, scores []float64) (Tree, error) {
	n := g.binned.rows
	if len(gradient) != n || len(curvature) != n || len(scores) != n {
		return Tree{}, fmt.Errorf("forest: %d gradients, %d curvatures and %d scores of %d documents",
			len(gradient), len(curvature), len(scores), n)
	}
	rows, rest := g.sample()
	g.setFolds()
	for i, x := range gradient {
		if !finite(float64(x)) || !finite(float64(curvature[i])) || curvature[i] < 0 {
			return Tree{}, fmt.Errorf("forest: document %d has gradient %v and curvature %v, want finite numbers, and curvatures of at least 0",
				i, x, curvature[i])
		}
	}
	g.quantise(rows, gradient, curvature)
	g.grown++
	root := &leaf{rows: rows, rest: rest, low: math.Inf(-1), high: math.Inf(1)}
	for _, i := range rows {
		root.pair += g.pairs[i]
	}
	sum, weight := parts(root.pair)
	root.value = sum / (weight + g.l2)
	var t Tree
	var leaves []*leaf
	if g.config.Leaves == 0 {
		t.Nodes, leaves = g.symmetric(root)
	} else {
		t.Nodes, leaves = g.leafWise(root)
	}
	t.Leaves = make([]float64, len(leaves))
	parallel.For(len(leaves), parallel.Workers(len(leaves)), func(_, i int) {
		t.Leaves[i] = g.exact(leaves[i], gradient, curvature)
		for _, rows := range [][]uint32{leaves[i].rows, leaves[i].rest} {
			for _, row := range rows {
				scores[row] += t.Leaves[i]
			}
		}
	})
	for _, l := range leaves {
		g.release(l)
	}
	return t, nil
}

// random returns a number that depends on the seed, the tree and the arguments.
func (g *Grower) random(what ...uint64) uint64 {
	z := num.SplitMixNext(g.config.Seed ^ num.SplitMixNext(g.grown))
	for _, w := range what {
		z = num.SplitMixNext(z ^ num.SplitMixNext(w))
	}
	return z
}

// Streams of random numbers.
const (
	ofRows = iota
	ofColumns
	ofFolds
)

// sample sets the columns of the next tree, and returns the documents to grow it on, and the others.
func (g *Grower) sample() (rows, rest []uint32) {
	stream := g.random(ofRows)
	n, others := 0, g.moved[:0]
	for i := range g.order {
		if g.config.Rows == 1 || float64(num.SplitMixNext(stream+uint64(i)*num.SplitMixGamma)>>11) < g.config.Rows*(1<<53) {
			g.order[n] = uint32(i)
			n++
		} else {
			others = append(others, uint32(i))
		}
	}
	copy(g.order[n:], others)
	g.active = g.active[:0]
	for c := range g.binned.columns {
		if g.binned.columns[c].divides() {
			g.active = append(g.active, c)
		}
	}
	if g.config.Columns < 1 && len(g.active) > 0 {
		slices.SortFunc(g.active, func(a, b int) int {
			return cmp.Compare(g.random(ofColumns, uint64(a)), g.random(ofColumns, uint64(b)))
		})
		g.active = g.active[:max(1, int(math.Round(g.config.Columns*float64(len(g.active)))))]
		slices.Sort(g.active)
	}
	return g.order[:n], g.order[n:]
}

// quantise sets pairs and units.
func (g *Grower) quantise(rows []uint32, gradient, curvature []float32) {
	var sumG, sumH float64
	for _, i := range rows {
		sumG += math.Abs(float64(gradient[i]))
		sumH += float64(curvature[i])
	}
	n := float64(len(rows))
	g.units = units{gradient: sumG / (1<<31 - n - 2), curvature: sumH / (1<<32 - n - 2)}
	g.units.gradient = cmp.Or(g.units.gradient, 1)
	g.units.curvature = cmp.Or(g.units.curvature, 1)
	g.l2 = max(g.config.L2/g.units.curvature, 1e-300)
	if g.minWeight = g.config.MinWeight / g.units.curvature; sumH > 0 {
		g.minWeight = max(g.minWeight, .5) // more than nothing
	}
	perG, perH := 1/g.units.gradient, 1/g.units.curvature
	const together = 1 << 14
	chunks := (len(rows) + together - 1) / together
	parallel.For(chunks, parallel.Workers(chunks), func(_, chunk int) {
		for _, i := range rows[chunk*together : min((chunk+1)*together, len(rows))] {
			q := int64(math.RoundToEven(float64(gradient[i]) * perG))
			h := int64(math.RoundToEven(float64(curvature[i]) * perH))
			g.pairs[i] = uint64(q)<<32 + uint64(h)
		}
	})
}

// A leaf of the tree that grows.
type leaf struct {
	rows, rest []uint32 // documents of the sample, and others
	depth      int      // nodes above
	path       []int    // their columns, if Interactions are given
	pair       uint64   // sum
	histogram  []uint64 // by column and bin; nil: not needed
	value      float64  // in units
	inherited  bool     // the value comes from a node above, as there is too little weight
	low, high  float64  // bounds of the values below, from monotone constraints
	best       split
}

// exact returns the value of a leaf from the gradients before rounding, of all its documents: a sample has more noise.
func (g *Grower) exact(l *leaf, gradient, curvature []float32) float64 {
	unit := g.units.gradient / g.units.curvature
	if l.inherited {
		return l.value * unit
	}
	var sum, weight float64
	for _, rows := range [][]uint32{l.rows, l.rest} {
		for _, i := range rows {
			sum += float64(gradient[i])
			weight += float64(curvature[i])
		}
	}
	return min(max(sum/(weight+g.config.L2), l.low*unit), l.high*unit)
}
