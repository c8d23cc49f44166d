package forest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/sparse"
	"github.com/plrank/plrank/internal/testkit"
)

// sparseTable returns documents of which most values are 0, with a column that is never 0, one that is missing in part, one that is
// always 0, and columns of which a document has one at most.
func sparseTable(n, width int) (*table, *sparse.Rows) {
	random := rand.New(rand.NewPCG(7, 7))
	t, rows := &table{width: width}, &sparse.Rows{}
	for range n {
		row := make([]float32, width)
		row[0] = float32(random.NormFloat64())
		for c := 1; c < width-10; c++ {
			if random.IntN(1+c) == 0 {
				row[c] = float32(random.IntN(9) - 2)
			}
		}
		if random.IntN(5) == 0 {
			row[3] = nan
		}
		row[width-9+random.IntN(9)] = 1
		var columns []int32
		var values []float32
		for c, v := range row {
			if v != 0 || c == 5 { // a 0 may be there
				columns, values = append(columns, int32(c)), append(values, v)
			}
		}
		rows.Append(columns, values)
		t.rows = append(t.rows, row...)
		t.gradient = append(t.gradient, row[0]*row[2]+row[width-1]+float32(random.NormFloat64()))
		t.curvature = append(t.curvature, .1+random.Float32())
	}
	return t, rows
}

func TestSparseDocumentsGrowTheTreesOfDenseOnes(t *testing.T) {
	const n, width, trees = 1500, 700, 4
	dense, rows := sparseTable(n, width)
	if err := rows.Check(width); err != nil {
		t.Fatal(err)
	}
	monotone := make([]int8, width)
	monotone[0], monotone[2] = 1, -1
	for name, c := range map[string]Config{
		"symmetric": {}, "leaves": {Leaves: 31}, "some documents": {Rows: .5, Leaves: 12}, "some columns": {Columns: .3, Depth: 4},
		"monotone": {Monotone: monotone, Leaves: 20}, "interactions": {Interactions: [][]int{{0, 2}, {2, 3, width - 1}}, Leaves: 20},
		"weight": {MinWeight: 20},
	} {
		for _, bins := range []int{0, 8, MaxBins} {
			var forests [2]Forest
			var scores [2][]float64
			for i, bin := range []func() (*Binned, error){
				func() (*Binned, error) { return Bin(dense.rows, width, nil, bins) },
				func() (*Binned, error) { return BinSparse(rows, width, bins) },
			} {
				b, err := bin()
				if err != nil {
					t.Fatal(err)
				}
				g, err := NewGrower(b, c)
				if err != nil {
					t.Fatal(err)
				}
				forests[i].Inputs, scores[i] = width, make([]float64, n)
				for range trees {
					tree, err := g.Grow(dense.gradient, dense.curvature, scores[i])
					if err != nil {
						t.Fatal(err)
					}
					forests[i].Trees = append(forests[i].Trees, tree)
				}
			}
			if len(forests[0].Trees[0].Nodes) < 3 || !reflect.DeepEqual(forests[0], forests[1]) || !reflect.DeepEqual(scores[0], scores[1]) {
				t.Errorf("%s, %d bins: trees of sparse documents differ", name, bins)
			}
			compact, columns := forests[1].Compact()
			x, got, want := make([]float32, n*len(columns)), make([]float64, n), make([]float64, n)
			rows.Dense(x, len(columns), sparse.Places(columns, width))
			compact.Compile().Score(got, x)
			forests[0].Compile().Score(want, dense.rows)
			if len(columns) >= width || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %d bins: %d columns give other scores", name, bins, len(columns))
			}
		}
	}
}

func TestProcessesShareSparseDocuments(t *testing.T) {
	const n, width = 400, 700
	dense, rows := sparseTable(n, width)
	grow := func(c Config) (trees []Tree, err error) {
		b, err := BinSparse(rows, width, 8)
		if err != nil {
			return nil, err
		}
		g, err := NewGrower(b, c)
		for range 3 {
			var tree Tree
			if err == nil {
				tree, err = g.Grow(dense.gradient, dense.curvature, make([]float64, n))
			}
			trees = append(trees, tree)
		}
		return trees, err
	}
	for _, c := range []Config{{Leaves: 12}, {Depth: 4}} {
		want, err := grow(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, parts := range []int{2, 5} {
			for _, err := range testkit.OnRanks(parts, func(g mpi.Group) error {
				c := c
				c.Part, c.Parts, c.Sum = g.Rank(), parts, func(h []uint64) { mpi.Sum(g, h) }
				if got, err := grow(c); err != nil || !reflect.DeepEqual(got, want) {
					return fmt.Errorf("rank %d of %d grows other trees: %w", g.Rank(), parts, err)
				}
				return nil
			}) {
				if err != nil {
					t.Error(err)
				}
			}
		}
		c.Part, c.Parts, c.Sum = 1, 2, func([]uint64) {} // alone, it sees its own documents
		if got, err := grow(c); err != nil || reflect.DeepEqual(got, want) {
			t.Errorf("%v, %v", got[0].Nodes, err)
		}
	}
}

// Leaves without a histogram of their own have the splits of others.
func TestHistogramsBeyondTheirRoomAreMadeAnew(t *testing.T) {
	const n, width = 800, 300
	dense, rows := sparseTable(n, width)
	b, err := BinSparse(rows, width, 8)
	if err != nil {
		t.Fatal(err)
	}
	grow := func() Tree {
		g, err := NewGrower(b, Config{Leaves: 20})
		if err != nil {
			t.Fatal(err)
		}
		tree, err := g.Grow(dense.gradient, dense.curvature, make([]float64, n))
		if err != nil || g.keeps() != (mostKeptBins > 0) {
			t.Fatal(g.keeps(), err)
		}
		return tree
	}
	want := grow()
	defer func(most int) { mostKeptBins = most }(mostKeptBins)
	mostKeptBins = 0
	if got := grow(); len(want.Leaves) != 20 || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The histograms of dense rows would take 8 bytes × 64 bins × a million columns.
func TestManyColumnsTakeTimeByValues(t *testing.T) {
	const n, width = 300, 1 << 20
	random, rows := rand.New(rand.NewPCG(8, 8)), &sparse.Rows{}
	var gradient, curvature []float32
	for range n {
		x := float32(random.IntN(2))
		rows.Append([]int32{int32(random.IntN(width - 1)), width - 1}, []float32{1, x})
		gradient, curvature = append(gradient, x-.5), append(curvature, 1)
	}
	b, err := BinSparse(rows, width, 0)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGrower(b, Config{Leaves: 8})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := g.Grow(gradient, curvature, make([]float64, n))
	if err != nil || tree.Nodes[0].Column != width-1 {
		t.Error(tree, err)
	}
}
