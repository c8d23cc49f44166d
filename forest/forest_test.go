package forest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainScore walks down the trees.
func plainScore(f *Forest, row []float32) float64 {
	sum := f.Bias
	for i := range f.Trees {
		if sum += f.Trees[i].Leaves[f.Trees[i].Leaf(row)]; f.Single {
			sum = float64(float32(sum))
		}
	}
	return sum
}

// randomForest has trees of all kinds, some symmetric, and thresholds that values meet or miss closely.
func randomForest(random *rand.Rand, inputs, trees int) *Forest {
	f := &Forest{Inputs: inputs, Bias: random.NormFloat64()}
	node := func() Node {
		n := Node{Column: random.IntN(inputs), MissingLeft: random.IntN(2) == 0, ZeroMissing: random.IntN(4) == 0}
		switch random.IntN(8) {
		case 0:
			n.Set = make([]uint64, random.IntN(3))
			for i := range n.Set {
				n.Set[i] = random.Uint64()
			}
		case 1:
			n.Threshold = []float64{math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 0, math.Copysign(0, -1), 1e-310, math.MaxFloat32}[random.IntN(8)]
		case 2:
			n.Threshold = float64(float32(random.NormFloat64()))
		case 3:
			n.Threshold = float64(random.IntN(9))
		default:
			n.Threshold = random.NormFloat64()
		}
		return n
	}
	for range trees {
		t := Tree{Leaves: make([]float64, 1)}
		if random.IntN(2) == 0 {
			for range random.IntN(10) {
				t.Nodes = append(t.Nodes, slices.Repeat([]Node{node()}, len(t.Nodes)+1)...)
			}
			t.link()
		} else {
			parents := []*int{new(int)}
			t.Nodes = make([]Node, 0, 40)
			for range random.IntN(40) {
				at := random.IntN(len(parents))
				*parents[at] = len(t.Nodes)
				t.Nodes = append(t.Nodes, node())
				n := &t.Nodes[len(t.Nodes)-1]
				n.Left, n.Right = ^at, ^len(parents)
				parents[at] = &n.Left
				parents = append(parents, &n.Right)
			}
		}
		t.Leaves = nil
		for range len(t.Nodes) + 1 {
			t.Leaves = append(t.Leaves, random.NormFloat64())
		}
		f.Trees = append(f.Trees, t)
	}
	return f
}

func randomRows(random *rand.Rand, n int) []float32 {
	rows := make([]float32, n)
	for i := range rows {
		switch random.IntN(5) {
		case 0:
			rows[i] = []float32{nan, float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, 1e-40, 0, -1, 2.5, 1e9, float32(math.Copysign(0, -1))}[random.IntN(10)]
		case 1:
			rows[i] = float32(random.IntN(140))
		default:
			rows[i] = float32(random.NormFloat64())
		}
	}
	return rows
}

func checkScores(t rapid.TB, f *Forest, rows []float32) {
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	defer func(w, b bool) { wide, bytewise = w, b }(wide, bytewise)
	for bytewise || wide {
		checkSameScores(t, f, rows)
		wide, bytewise = bytewise, false
	}
	checkSameScores(t, f, rows)
}

func checkSameScores(t rapid.TB, f *Forest, rows []float32) {
	got, inParts := make([]float64, len(rows)/f.Inputs), make([]float64, len(rows)/f.Inputs)
	s := f.Compile()
	s.Score(got, rows)
	for d, want := range got { // a document alone has the bits that it has among others, also as the last of few
		alone, last := make([]float64, 1), make([]float64, min(d+1, few))
		s.Score(alone, rows[d*f.Inputs:(d+1)*f.Inputs])
		if s.Score(last, rows[(d+1-len(last))*f.Inputs:(d+1)*f.Inputs]); alone[0] != want || last[len(last)-1] != want {
			t.Fatalf("document %d: %v alone and %v of %d, want %v by forest %+v", d, alone[0], last[len(last)-1], len(last), want, f)
		}
	}
	for i := range inParts {
		inParts[i] = f.Bias
	}
	for half := range slices.Chunk(f.Trees, len(f.Trees)/2+1) {
		(&Forest{Inputs: f.Inputs, Trees: half, Single: f.Single}).Compile().Add(inParts, rows)
	}
	if !slices.Equal(got, inParts) {
		t.Fatalf("scores %v, in parts %v by forest %+v", got, inParts, f)
	}
	for d := range got {
		row := rows[d*f.Inputs:][:f.Inputs]
		if want := plainScore(f, row); got[d] != want {
			t.Fatalf("score %v of %v, want %v by forest %+v", got[d], row, want, f)
		}
	}
}

func TestScorerHasTheBitsOfPlainWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		f := randomForest(random, 1+random.IntN(4), random.IntN(6))
		f.Single = random.IntN(4) == 0
		checkScores(t, f, randomRows(random, f.Inputs*random.IntN(90)))
	})
}

func TestManyThresholdsOfAColumn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var f Forest
	for f.Inputs = 1; len(f.Trees) < 1000; {
		f.Trees = append(f.Trees, Tree{[]Node{{Threshold: random.NormFloat64(), MissingLeft: random.IntN(9) == 0, Left: -1, Right: -2}}, []float64{0, random.NormFloat64()}})
	}
	checkScores(t, &f, randomRows(random, 100))
}

func TestSplitsOfValues(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		node        Node
		left, right []float32
	}{
		{Node{Threshold: 1}, []float32{1, 0, -1, -inf}, []float32{nan, 1.5, inf}},
		{Node{Threshold: 1, MissingLeft: true, ZeroMissing: true}, []float32{nan, 1, 0, -1}, []float32{2}},
		{Node{Threshold: 1, ZeroMissing: true}, []float32{1, -1}, []float32{0, float32(math.Copysign(0, -1)), nan}},
		{Node{Set: []uint64{1<<3 | 1, 1 << 1}}, []float32{0, 3, 65}, []float32{1, 2, 64, 3.5, -3, 128, 1e30, inf, -inf, nan}},
		{Node{Set: []uint64{}, MissingLeft: true, ZeroMissing: true}, []float32{nan, 0}, []float32{1}},
	} {
		for _, x := range c.left {
			if !c.node.GoesLeft(x) {
				t.Errorf("%v goes to the right of %+v", x, c.node)
			}
		}
		for _, x := range c.right {
			if c.node.GoesLeft(x) {
				t.Errorf("%v goes to the left of %+v", x, c.node)
			}
		}
	}
}

func TestCraftedForestsAreErrors(t *testing.T) {
	leaf := func(n int) []float64 { return make([]float64, n) }
	for want, f := range map[string]Forest{
		"inputs":                {Inputs: -1},
		"bias":                  {Bias: math.NaN()},
		"one leaf more":         {Trees: []Tree{{}}},
		"leaf 0 is +Inf":        {Trees: []Tree{{nil, []float64{math.Inf(1)}}}},
		"column 1":              {Inputs: 1, Trees: []Tree{{[]Node{{Column: 1, Left: -1, Right: -2}}, leaf(2)}}},
		"column -1":             {Inputs: 1, Trees: []Tree{{[]Node{{Column: -1, Left: -1, Right: -2}}, leaf(2)}}},
		"NaN":                   {Inputs: 1, Trees: []Tree{{[]Node{{Threshold: math.NaN(), Left: -1, Right: -2}}, leaf(2)}}},
		"is the root, number 0": {Inputs: 1, Trees: []Tree{{[]Node{{Left: 0, Right: -2}}, leaf(2)}}},
		"number 5, of 1":        {Inputs: 1, Trees: []Tree{{[]Node{{Left: 5, Right: -2}}, leaf(2)}}},
		"number 2, of 2":        {Inputs: 1, Trees: []Tree{{[]Node{{Left: -1, Right: -3}}, leaf(2)}}},
		"number 1":              {Inputs: 1, Trees: []Tree{{[]Node{{Left: -2, Right: -2}}, leaf(2)}}},
		"are not reached":       {Inputs: 1, Trees: []Tree{{[]Node{{Left: -1, Right: -2}, {Left: 2, Right: -3}, {Left: 1, Right: -4}}, leaf(4)}}},
		"of number 92233720":    {Inputs: 1, Trees: []Tree{{[]Node{{Left: math.MinInt, Right: -2}}, leaf(2)}}},
	} {
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one with %q", f, err, want)
		}
	}
}

func TestPanicsOnOtherNumberOfFeatures(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	(&Forest{Inputs: 2}).Compile().Score(make([]float64, 2), make([]float32, 3))
}

func ExampleGrower() {
	rows := []float32{0, 1, 2, 3, 4, 5} // documents of one feature
	targets := []float64{1, 1, 1, 4, 4, 4}
	binned, err := Bin(rows, 1, nil, 0)
	if err != nil {
		panic(err)
	}
	grower, err := NewGrower(binned, Config{Depth: 1, L2: 1e-9})
	if err != nil {
		panic(err)
	}
	scores := make([]float64, len(targets))
	gradient, curvature := make([]float32, len(targets)), make([]float32, len(targets))
	for i := range targets { // of −(target − score)²/2
		gradient[i], curvature[i] = float32(targets[i]-scores[i]), 1
	}
	tree, err := grower.Grow(gradient, curvature, scores)
	if err != nil {
		panic(err)
	}
	forest := Forest{Inputs: 1, Trees: []Tree{tree}}
	fmt.Printf("%.0f if the feature is at most %v, else %.0f\n", tree.Leaves[0], tree.Nodes[0].Threshold, tree.Leaves[1])
	forest.Compile().Score(scores, rows)
	fmt.Printf("%.0f\n", scores)
	// Output:
	// 1 if the feature is at most 2.5, else 4
	// [1 1 1 4 4 4]
}

// Column 0 is asked again below column 1: each pair of leaves on the two sides counts, of the same parent or not.
func TestBrokenConstraintsAreFound(t *testing.T) {
	tree := func(leaves ...float64) *Tree {
		return &Tree{Nodes: []Node{{Column: 0, Left: 1, Right: 2}, {Column: 1, Left: ^0, Right: ^1}, {Column: 0, Left: ^2, Right: ^3}}, Leaves: leaves}
	}
	for i, c := range []struct {
		tree     *Tree
		monotone []int8
		want     int
	}{
		{tree(0, 1, 1, 2), []int8{1, 1}, -1},
		{tree(0, 2, 1, 3), []int8{1, 0}, 0}, // 2 on the left of 1
		{tree(1, 0, 2, 3), []int8{1, 1}, 1},
		{tree(1, 0, 2, 3), []int8{1, 0}, -1},
		{tree(0, 1, 3, 2), []int8{1, 0}, 0},
		{tree(3, 2, 1, 0), []int8{-1, -1}, -1},
		{tree(3, 0, 1, 0), []int8{-1, 0}, 0},
		{&Tree{Leaves: []float64{1}}, []int8{1, 1}, -1},
	} {
		if got := c.tree.Breaks(Config{Monotone: c.monotone}); got != c.want {
			t.Errorf("case %d: column %d, want %d", i, got, c.want)
		}
	}
	for want, sets := range map[int][][]int{-1: {{0, 1}}, 1: {{0}, {1}}} {
		if got := tree(0, 0, 0, 0).Breaks(Config{Interactions: sets}); got != want {
			t.Errorf("sets %v: column %d, want %d", sets, got, want)
		}
	}
}
