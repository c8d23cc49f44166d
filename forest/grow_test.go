package forest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

var nan = float32(math.NaN())

// table is data of a few documents.
type table struct {
	rows                []float32
	width               int
	categories          map[int]int
	gradient, curvature []float32
}

// newTable returns numbers, some of which are missing or the same.
func newTable(random *rand.Rand, n int) *table {
	t := &table{width: 3}
	for range n {
		row := []float32{float32(random.IntN(9)), float32(random.NormFloat64()), float32(random.IntN(3))}
		if random.IntN(4) == 0 {
			row[random.IntN(2)] = nan
		}
		t.rows = append(t.rows, row...)
		t.gradient = append(t.gradient, float32(random.NormFloat64()))
		t.curvature = append(t.curvature, .1+random.Float32())
	}
	return t
}

// row returns the features of a document.
func (t *table) row(i int) []float32 { return t.rows[i*t.width:][:t.width] }

func (t *table) grower(tb testing.TB, c Config) *Grower {
	tb.Helper()
	b, err := Bin(t.rows, t.width, t.categories, MaxBins)
	if err != nil {
		tb.Fatal(err)
	}
	g, err := NewGrower(b, c)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// grow returns trees, each grown on the same derivatives, and what they add to scores.
func (t *table) grow(tb testing.TB, c Config, trees int) (f Forest, scores []float64) {
	tb.Helper()
	g := t.grower(tb, c)
	f.Inputs, scores = t.width, make([]float64, len(t.gradient))
	for range trees {
		tree, err := g.Grow(t.gradient, t.curvature, scores)
		if err != nil {
			tb.Fatal(err)
		}
		f.Trees = append(f.Trees, tree)
	}
	if err := f.Check(); err != nil {
		tb.Fatal(err)
	}
	return f, scores
}

// groups returns the documents in each leaf.
func (t *table) groups(tree Tree) [][]int {
	groups := make([][]int, len(tree.Leaves))
	for i := range t.gradient {
		l := tree.Leaf(t.row(i))
		groups[l] = append(groups[l], i)
	}
	return groups
}

// objective returns the sum of G²/(H + l2) over groups of documents.
func (t *table) objective(l2 float64, groups ...[]int) (sum float64) {
	for _, documents := range groups {
		var g, h float64
		for _, i := range documents {
			g += float64(t.gradient[i])
			h += float64(t.curvature[i])
		}
		sum += g * g / (h + l2)
	}
	return sum
}

// part returns the two sides of a group.
func (t *table) part(n *Node, documents []int) (left, right []int) {
	for _, i := range documents {
		if n.GoesLeft(t.row(i)[n.Column]) {
			left = append(left, i)
		} else {
			right = append(right, i)
		}
	}
	return left, right
}

// nodes returns a node for every way to part the documents by a column: numbers between any two values, categories
// in any set, missing values on either side.
func (t *table) nodes() (list []Node) {
	for c := range t.width {
		for _, missingLeft := range []bool{false, true} {
			if codes, ok := t.categories[c]; ok {
				for set := uint64(0); set < 1<<codes; set += 2 {
					list = append(list, Node{Column: c, Set: []uint64{set}, MissingLeft: missingLeft})
				}
				continue
			}
			list = append(list, Node{Column: c, Threshold: math.Inf(1), MissingLeft: missingLeft})
			for i := range t.gradient {
				if x := t.row(i)[c]; x == x {
					list = append(list, Node{Column: c, Threshold: float64(x), MissingLeft: missingLeft})
				}
			}
		}
	}
	return list
}

// bestSplits grows by trying every split of every leaf, or every one of all leaves.
func (t *table) bestSplits(c Config) float64 {
	all := make([]int, len(t.gradient))
	for i := range all {
		all[i] = i
	}
	groups := [][]int{all}
	splits := c.Leaves - 1
	if c.Leaves == 0 {
		splits = c.Depth
	}
	for range splits {
		best := groups
		try := func(candidate [][]int) {
			if t.objective(c.L2, candidate...) > t.objective(c.L2, best...) {
				best = candidate
			}
		}
		for _, n := range t.nodes() {
			var level [][]int
			for i, documents := range groups {
				left, right := t.part(&n, documents)
				level = append(level, left, right)
				if c.Leaves > 0 && len(left)*len(right) > 0 {
					try(append(slices.Delete(slices.Clone(groups), i, i+1), left, right))
				}
			}
			if c.Leaves == 0 {
				try(level)
			}
		}
		groups = best
	}
	return t.objective(c.L2, groups...)
}

func TestSplitsAreTheBestOfAll(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for trial := range 60 {
		data := newTable(random, 2+random.IntN(30))
		for _, c := range []Config{
			{Depth: 1, L2: .5}, {Depth: 3, L2: .5},
			{Leaves: 2, L2: .5}, {Leaves: 5, L2: .5},
		} {
			f, _ := data.grow(t, c, 1)
			got, want := data.objective(c.L2, data.groups(f.Trees[0])...), data.bestSplits(c)
			if math.Abs(got-want) > 1e-5*want {
				t.Errorf("trial %d, %+v: objective %v of %+v, best is %v", trial, c, got, f.Trees[0], want)
			}
		}
	}
}

// Categories in the order of their means have the best set among their first ones (Fisher 1958, "On grouping for maximum
// homogeneity"). This is so without l2, and in categories of the same size for any smoothing of the means.
func TestSetsAreTheBestOfAll(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	for trial := range 50 {
		const codes, each = 7, 4
		data := &table{width: 1, categories: map[int]int{0: codes}}
		for i := range codes * each {
			code := float32(i % codes)
			if code == 0 && trial%2 == 1 {
				code = nan
			}
			data.rows = append(data.rows, code)
			data.gradient = append(data.gradient, float32(random.NormFloat64()))
			data.curvature = append(data.curvature, 1)
		}
		c := Config{Leaves: 2, L2: 1e-9}
		f, _ := data.grow(t, c, 1)
		if f.Trees[0].Nodes[0].Set == nil {
			t.Fatal("the split is not by a set")
		}
		got, want := data.objective(c.L2, data.groups(f.Trees[0])...), data.bestSplits(c)
		if math.Abs(got-want) > 1e-5*want {
			t.Errorf("trial %d: objective %v of %+v, best is %v", trial, got, f.Trees[0], want)
		}
	}
}

func TestLeavesAreNewtonSteps(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for _, c := range []Config{{Depth: 4, L2: 2}, {Leaves: 7, L2: 2}} {
		data := newTable(random, 100)
		f, scores := data.grow(t, c, 1)
		for l, documents := range data.groups(f.Trees[0]) {
			if len(documents) == 0 {
				continue
			}
			var g, h float64
			for _, i := range documents {
				g += float64(data.gradient[i])
				h += float64(data.curvature[i])
			}
			if want := g / (h + 2); math.Abs(f.Trees[0].Leaves[l]-want) > 1e-12 {
				t.Errorf("%+v: leaf %d is %v, want %v", c, l, f.Trees[0].Leaves[l], want)
			}
			for _, i := range documents {
				if scores[i] != f.Trees[0].Leaves[l] {
					t.Errorf("%+v: score %v of document %d in leaf %v", c, scores[i], i, f.Trees[0].Leaves[l])
				}
			}
		}
	}
}

// The gains of a tree's nodes sum to what its leaves gain of the objective over a single one, noise or not.
func TestGainsSumToTheGainOfTheTree(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 1))
	for _, c := range []Config{{Depth: 4, L2: 2}, {Leaves: 7, L2: 2}, {Depth: 1, L2: 2}} {
		data := newTable(random, 200)
		f, _ := data.grow(t, c, 1)
		all := make([]int, len(data.gradient))
		for i := range all {
			all[i] = i
		}
		var got float64
		for _, n := range f.Trees[0].Nodes {
			got += float64(n.Gain)
		}
		if want := (data.objective(2, data.groups(f.Trees[0])...) - data.objective(2, all)) / 2; math.Abs(got-want) > 1e-5*want {
			t.Errorf("%+v: gains sum to %v, want %v", c, got, want)
		}
	}
}

func TestSizesAreBounded(t *testing.T) {
	data := newTable(rand.New(rand.NewPCG(4, 1)), 300)
	for _, c := range []Config{{Depth: 5}, {Leaves: 12}, {Leaves: 100, Depth: 3}, {Leaves: 30, MinWeight: 9}} {
		f, _ := data.grow(t, c, 3)
		for _, tree := range f.Trees {
			if c.Leaves > 0 && len(tree.Leaves) > c.Leaves {
				t.Errorf("%+v: %d leaves", c, len(tree.Leaves))
			}
			if c.Depth > 0 && len(tree.Leaves) > 1<<c.Depth {
				t.Errorf("%+v: %d leaves", c, len(tree.Leaves))
			}
			for l, documents := range data.groups(tree) {
				weight := 0.
				for _, i := range documents {
					weight += float64(data.curvature[i])
				}
				if weight < c.MinWeight-1e-3 {
					t.Errorf("%+v: leaf %d has curvature %v", c, l, weight)
				}
			}
		}
	}
}

// Symmetric trees have to split leaves with little weight too, which then are worth what the node above is.
func TestLightLeavesOfSymmetricTreesInherit(t *testing.T) {
	data := &table{width: 2, rows: []float32{0, 0, 0, 1, 1, 0, 1, 1, 1, 1}, gradient: []float32{-4, -8, 5, 9, 9}, curvature: []float32{1, 1, .1, 1, 1}}
	f, _ := data.grow(t, Config{Depth: 2, L2: 1e-9, MinWeight: .5}, 1)
	got := make([]float64, 5)
	f.Compile().Score(got, data.rows)
	for i, want := range []float64{-4, -8, 23 / 2.1, 9, 9} {
		if math.Abs(got[i]-want) > 1e-6*math.Abs(want) {
			t.Errorf("scores %v, want %v of document %d", got, want, i)
		}
	}
}

// A document that comes to a leaf without documents of training is worth what the node above is, whatever L2 is.
func TestEmptyLeavesInherit(t *testing.T) {
	for _, c := range []Config{{Depth: 2, L2: 1e-300}, {Depth: 2, L2: 1e-300, MinWeight: .5}} {
		data := &table{width: 2, rows: []float32{0, 0, 0, 0, 1, 0, 1, 1}, gradient: []float32{-4, -8, 5, 9}, curvature: []float32{1, 1, 1, 1}}
		f, _ := data.grow(t, c, 1)
		got := make([]float64, 3)
		f.Compile().Score(got, []float32{0, 1, 1, 0, 1, 1})
		for i, want := range []float64{-6, 5, 9} {
			if math.Abs(got[i]-want) > 1e-6 {
				t.Errorf("%+v: scores %v, want %v of document %d", c, got, want, i)
			}
		}
	}
}

func TestMonotoneTransformOfFeatureGivesSameTrees(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	data := newTable(random, 500)
	other := *data
	other.rows = slices.Clone(data.rows)
	for i, x := range data.rows {
		other.rows[i] = float32(math.Exp(float64(x))) + x
	}
	for _, c := range []Config{{}, {Leaves: 31}, {Rows: .5, Columns: .5, Seed: 3, Leaves: 31}} {
		a, scores := data.grow(t, c, 4)
		b, others := other.grow(t, c, 4)
		if !slices.Equal(scores, others) {
			t.Errorf("%+v: other scores", c)
		}
		for i := range a.Trees {
			if !slices.Equal(a.Trees[i].Leaves, b.Trees[i].Leaves) {
				t.Errorf("%+v: tree %d is %v and %v", c, i, a.Trees[i], b.Trees[i])
			}
		}
	}
}

func TestMonotoneConstraintsHold(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 1))
	used := 0
	for trial := range 12 {
		data := newTable(random, 200)
		for i := range data.gradient { // so that splits by the column are worth while, of which many are against the constraint
			if x := float64(data.row(i)[1]); x == x {
				data.gradient[i] += float32(math.Sin(3 * x))
			}
		}
		for _, c := range []Config{{}, {Leaves: 20}, {MinWeight: 3}} {
			c.Monotone = []int8{0, int8(1 - trial%2*2), 0}
			f, _ := data.grow(t, c, 2)
			if slices.ContainsFunc(f.Trees[0].Nodes, func(n Node) bool { return n.Column == 1 }) {
				used++
			}
			s := f.Compile()
			for range 20 {
				row := data.row(random.IntN(200))
				var rows []float32
				for x := float32(-3); x < 3; x += .1 {
					rows = append(rows, row[0], x*float32(c.Monotone[1]), row[2])
				}
				scores := make([]float64, len(rows)/3)
				s.Score(scores, rows)
				if !slices.IsSorted(scores) {
					t.Fatalf("trial %d, %+v: scores %v fall", trial, c, scores)
				}
			}
		}
	}
	if used < 24 {
		t.Errorf("%d of 36 trees split the column", used)
	}
}

func TestSameSeedSameBits(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	data := newTable(random, 5000)
	for _, c := range []Config{{}, {Leaves: 31}, {Rows: .5, Columns: .5, Seed: 3}, {Rows: .3, Columns: .7, Leaves: 31}} {
		_, want := data.grow(t, c, 3)
		before := runtime.GOMAXPROCS(5)
		_, got := data.grow(t, c, 3)
		runtime.GOMAXPROCS(before)
		if !slices.Equal(got, want) {
			t.Errorf("%+v: other bits by five threads", c)
		}
		c.Seed++
		if _, other := data.grow(t, c, 3); slices.Equal(other, want) != (c.Rows == 0) {
			t.Errorf("%+v: the seed has no effect, or one where nothing is random", c)
		}
	}
}

// Documents and columns outside of the sample have no part in the choice of splits. The values of leaves are by all documents.
func TestSampleAloneChoosesSplits(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 1))
	data := newTable(random, 2000)
	c := Config{Rows: .25, Columns: .34, Leaves: 8}
	g := data.grower(t, c)
	in, _ := g.sample()
	in = slices.Clone(in)
	if len(in) < 400 || len(in) > 600 {
		t.Errorf("%d of 2000 documents", len(in))
	}
	f, scores := data.grow(t, c, 1)
	got := make([]float64, len(scores))
	f.Compile().Score(got, data.rows)
	if !slices.Equal(got, scores) {
		t.Error("scores differ")
	}
	for _, n := range f.Trees[0].Nodes {
		if n.Column != f.Trees[0].Nodes[0].Column {
			t.Errorf("splits by columns %d and %d, want one of three", n.Column, f.Trees[0].Nodes[0].Column)
		}
	}
	for i := range data.gradient {
		if !slices.Contains(in, uint32(i)) {
			data.gradient[i] += 1000
		}
	}
	again, after := data.grow(t, c, 1)
	if !reflect.DeepEqual(again.Trees[0].Nodes, f.Trees[0].Nodes) {
		t.Error("documents outside of the sample change the splits")
	}
	sums, weights := map[float64]float64{}, map[float64]float64{} // of leaves, by their values
	for i, s := range after {
		sums[s] += float64(data.gradient[i])
		weights[s] += float64(data.curvature[i])
	}
	for value, sum := range sums {
		if want := sum / (weights[value] + 1); math.Abs(value-want) > 1e-9*math.Abs(want) {
			t.Errorf("a leaf has the value %v, want %v", value, want)
		}
	}
}

func TestGrowingAddsWhatTheForestScores(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 1))
	for _, c := range []Config{{}, {Leaves: 31}, {Rows: .6, Leaves: 31}, {Rows: .6, MinWeight: 5}, {Monotone: []int8{1, -1, 1, 0}, Leaves: 31}} {
		data := newTable(random, 1000)
		var rows []float32
		for i := range data.gradient {
			code := float32(int(random.ExpFloat64() * 200)) // many of them rare
			if code > 900 {
				code = nan
			}
			rows = append(append(rows, data.row(i)...), code)
			data.gradient[i] += float32(int(code)%3) / 2
		}
		data.rows, data.width, data.categories = rows, 4, map[int]int{3: 1000}
		f, scores := data.grow(t, c, 20)
		got := make([]float64, len(scores))
		f.Compile().Score(got, rows)
		if !slices.Equal(got, scores) {
			t.Errorf("%+v: scores differ", c)
		}
		if !slices.ContainsFunc(f.Trees, func(t Tree) bool { return slices.ContainsFunc(t.Nodes, func(n Node) bool { return n.Set != nil }) }) {
			t.Errorf("%+v: no categories", c)
		}
	}
}

func TestMissingGoesToHeavierSideIfNoneWasSeen(t *testing.T) {
	data := &table{width: 1, rows: []float32{1, 2, 3}, gradient: []float32{-1, 1, 1}, curvature: []float32{1, 1, 1}}
	for _, sign := range []float32{1, -1} {
		for i := range data.rows {
			data.rows[i] *= sign
		}
		f, _ := data.grow(t, Config{Leaves: 2}, 1)
		if n := f.Trees[0].Nodes[0]; n.MissingLeft != (sign < 0) || math.Abs(n.Threshold) != 1.5 {
			t.Errorf("%v: node %+v", data.rows, n)
		}
	}
}

func TestNothingToGainIsOneLeaf(t *testing.T) {
	for _, data := range []*table{
		{width: 1, rows: []float32{1, 1, 1}, gradient: []float32{1, 2, 3}, curvature: []float32{1, 1, 1}},
		{width: 1, rows: []float32{1, 2, 3}, gradient: []float32{0, 0, 0}, curvature: []float32{1, 1, 1}},
		{width: 1, rows: []float32{1, 2, 3}, gradient: []float32{0, 0, 0}, curvature: []float32{0, 0, 0}},
		{width: 1},
	} {
		for _, leaves := range []int{0, 31} {
			f, _ := data.grow(t, Config{Leaves: leaves}, 2)
			if len(f.Trees[0].Leaves) != 1 {
				t.Errorf("%+v: tree %+v", data, f.Trees[0])
			}
		}
	}
}

func TestWrongSettingsAndDerivativesAreErrors(t *testing.T) {
	b, err := Bin([]float32{1, 2, 3, 4}, 2, map[int]int{1: 5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{{Depth: -1}, {Parts: 2}, {Part: 1}, {Depth: 40}, {Leaves: 1}, {Leaves: 1 << 30}, {L2: math.NaN()}, {MinWeight: math.Inf(1)},
		{Rows: 1.1}, {Columns: -.1}, {Monotone: []int8{1}}, {Monotone: []int8{0, 1}}, {Monotone: []int8{2, 0}}} {
		if _, err := NewGrower(b, c); err == nil {
			t.Errorf("%+v is no error", c)
		}
	}
	g, err := NewGrower(b, Config{})
	if err != nil {
		t.Fatal(err)
	}
	inf := float32(math.Inf(1))
	for _, v := range [][4]float32{{nan, 1, 1, 1}, {inf, 1, 1, 1}, {1, 1, 1, nan}, {1, 1, inf, 1}, {1, 1, -1, 1}} {
		if _, err := g.Grow(v[:2], v[2:], make([]float64, 2)); err == nil {
			t.Errorf("%v is no error", v)
		}
	}
	if _, err := g.Grow(make([]float32, 1), make([]float32, 2), make([]float64, 2)); err == nil {
		t.Error("a gradient too few is no error")
	}
	if _, err := g.Grow([]float32{1, math.MaxFloat32}, []float32{0, math.MaxFloat32}, make([]float64, 2)); err != nil {
		t.Error(err)
	}
}

// Labels depend on products of all columns. Above each leaf are columns of one set, or one column that is in none, in symmetric and
// other trees; without the constraint some leaf has more.
func TestInteractionsAreOfOneSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n, width = 2000, 4
	rows, gradient, curvature := make([]float32, n*width), make([]float32, n), make([]float32, n)
	for i := range n {
		gradient[i], curvature[i] = 1, 1
		for c := range width {
			rows[i*width+c] = float32(random.NormFloat64())
			gradient[i] *= 1 + rows[i*width+c]
		}
	}
	binned, err := Bin(rows, width, nil, 16)
	if err != nil {
		t.Fatal(err)
	}
	for _, leaves := range []int{0, 20} {
		for _, sets := range [][][]int{nil, {{0, 1}, {1, 2}}} {
			g, err := NewGrower(binned, Config{Leaves: leaves, Interactions: sets})
			if err != nil {
				t.Fatal(err)
			}
			scores, paths := make([]float64, n), map[string]bool{}
			for range 20 {
				up := make([]float32, n)
				for i := range up {
					up[i] = gradient[i] - float32(scores[i])
				}
				tree, err := g.Grow(up, curvature, scores)
				if err != nil {
					t.Fatal(err)
				}
				addPaths(paths, &tree, 0, nil)
			}
			broken := false
			for path := range paths {
				broken = broken || !slices.Contains([]string{"[]", "[0]", "[1]", "[2]", "[3]", "[0 1]", "[1 2]"}, path)
			}
			if broken != (sets == nil) || !paths["[0 1]"] && sets != nil {
				t.Errorf("%d leaves, sets %v: columns above leaves are %v", leaves, sets, paths)
			}
		}
	}
	if _, err := NewGrower(binned, Config{Interactions: [][]int{{4}}}); err == nil || err.Error() != "forest: Interactions has column 4, want 0 to 3" {
		t.Error(err)
	}
}

// addPaths adds the columns above each leaf below a node.
func addPaths(paths map[string]bool, t *Tree, at int, above []int) {
	if at < 0 || len(t.Nodes) == 0 {
		slices.Sort(above)
		paths[fmt.Sprint(slices.Compact(above))] = true
		return
	}
	n := &t.Nodes[at]
	addPaths(paths, t, n.Left, append(slices.Clone(above), n.Column))
	addPaths(paths, t, n.Right, append(slices.Clone(above), n.Column))
}
