package foreign

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/forest"
)

// randomForest returns a forest of numbers with thresholds by draw.
func randomForest(r *rand.Rand, inputs int, draw func() float64) *forest.Forest {
	m := &Model{Forest: &forest.Forest{Inputs: inputs, Bias: r.NormFloat64()}}
	for range 1 + r.IntN(5) {
		grow(m, 1, 4, func(depth int) (forest.Node, []int, error) {
			if depth == 0 || r.IntN(5) == 0 {
				return forest.Node{Threshold: r.NormFloat64()}, nil, nil
			}
			return forest.Node{Column: r.IntN(inputs), Threshold: draw(), MissingLeft: r.IntN(2) == 0}, []int{depth - 1, depth - 1}, nil
		})
	}
	return m.Forest
}

// engineScores are the scores by definition: the largest float32 at most a threshold goes to the left, and sums are float32.
func engineScores(f *forest.Forest, whole []bool, rows []float32) (scores []float64) {
	for row := range slices.Chunk(rows, f.Inputs) {
		sum := float32(f.Bias)
		for _, t := range f.Trees {
			at := min(0, len(t.Nodes)-1)
			for at >= 0 && len(t.Nodes) > 0 {
				n := t.Nodes[at]
				x := row[n.Column]
				left := float64(x) <= n.Threshold
				if x != x {
					if left = n.MissingLeft; whole[n.Column] {
						left = 0 <= n.Threshold
					}
				}
				if at = n.Right; left {
					at = n.Left
				}
			}
			sum += float32(t.Leaves[^at])
		}
		scores = append(scores, float64(sum))
	}
	return scores
}

// What is written reads back with the scores of the forest in float32, to the bit, also at thresholds and for missing values.
func TestExportsScoreAsTheForest(t *testing.T) {
	const inputs = 4
	r := rand.New(rand.NewPCG(5, 8))
	for range 200 {
		draw := func() float64 { // which Solr has exactly, see TestSolrThresholdsAreThoseWanted
			return float64(math.Ldexp(1+r.Float64(), r.IntN(20)-9))
		}
		f := randomForest(r, inputs, draw)
		e := Export{"m", f, []string{"a b", `"`, "ü", "f7"}, []bool{true, false, r.IntN(2) == 0, r.IntN(2) == 0}}
		rows := []float32{nan, nan, nan, nan, 0, 0, 0, 0}
		for _, tree := range f.Trees {
			for _, n := range tree.Nodes {
				at := float32(n.Threshold)
				for _, x := range []float32{at, math.Nextafter32(at, 1e9), math.Nextafter32(at, -1e9), nan} {
					row := []float32{draw32(draw), draw32(draw), nan, draw32(draw)}
					row[n.Column] = x
					rows = append(rows, row...)
				}
			}
		}
		want := engineScores(f, e.Whole, rows)
		for name, encode := range map[string]func(Export) ([]byte, error){"Solr": Export.Solr, "Elasticsearch": Export.Elasticsearch} {
			text, err := encode(e)
			if err != nil && strings.Contains(err.Error(), "no tree asks") && len(rows) == 2*inputs {
				continue
			}
			if err != nil {
				t.Fatal(name, err)
			}
			m, err := Read(text)
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			columns := make([]float32, 0, len(rows))
			for row := range slices.Chunk(rows, inputs) {
				for _, feature := range m.Names {
					columns = append(columns, row[slices.Index(e.Features, feature)])
				}
			}
			got := make([]float64, len(want))
			if m.Score(got, columns); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v\n%s", name, got, want, text)
			}
		}
	}
}

func draw32(draw func() float64) float32 { return float32(draw()) }

// Models of XGBoost without categories keep their scores in Elasticsearch to the bit, those of others to 1e-6.
func TestForeignForestsCanBeExported(t *testing.T) {
	exported := 0
	for _, path := range append(models(t), modelsIn(t, engines)...) {
		m := open(t, path)
		f, err := m.Plain()
		if err != nil || m.Weights != nil {
			continue
		}
		e := Export{Name: "m", Forest: f, Features: m.Names, Whole: make([]bool, f.Inputs)}
		for c := range f.Inputs {
			if m.Names == nil {
				e.Features = append(e.Features, fmt.Sprint(m.IDs[c]))
			}
		}
		rows, want := rowsOf(t, path, m)
		for name, encode := range map[string]func(Export) ([]byte, error){"Solr": Export.Solr, "Elasticsearch": Export.Elasticsearch} {
			text, err := encode(e)
			if err != nil {
				if !strings.Contains(err.Error(), "categories of") && !strings.Contains(err.Error(), "no tree asks") {
					t.Errorf("%s: %s: %v", path, name, err)
				}
				continue
			}
			exported++
			again, err := Read(text)
			if err != nil {
				t.Fatal(path, name, err)
			}
			var columns []float32
			for row := range slices.Chunk(rows, f.Inputs) {
				for c, id := range again.IDs {
					at := slices.Index(m.IDs, id)
					if again.Names != nil {
						at = slices.Index(m.Names, again.Names[c])
					}
					columns = append(columns, row[at])
				}
			}
			got := make([]float64, len(want))
			again.Score(got, columns)
			for i := range got {
				exact := m.Library == "XGBoost" && name == "Elasticsearch"
				if exact && got[i] != want[i] || math.Abs(got[i]-want[i]) > 1e-6*max(1, math.Abs(want[i])) {
					t.Errorf("%s: %s: row %d: %v, want %v", path, name, i, got[i], want[i])
				}
			}
		}
	}
	if exported < 10 {
		t.Errorf("%d exports", exported)
	}
}

// Solr computes threshold + 1e-6 in float32: that is what is wanted for nearly all that are not tiny, and within a millionth for all.
func TestSolrThresholdsAreThoseWanted(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 100_000 {
		want := float32(math.Ldexp(1+r.Float64(), r.IntN(40)-18)) // 4e-6 and more
		for _, want := range []float32{want, -want} {
			got, err := solrThreshold(want)
			if sum := got + solrSlack; err != nil || math.Abs(float64(sum-want)) > 1e-6*math.Abs(float64(want)) || want > 0 && sum != want {
				t.Fatalf("%v: %v gives %v, error %v", want, got, sum, err)
			}
		}
	}
	for want, sum := range map[float32]float32{0: 0, float32(math.Copysign(0, -1)): 0, 1e-35: 0, math.MaxFloat32: math.MaxFloat32,
		-math.MaxFloat32: -math.MaxFloat32} {
		if got, err := solrThreshold(want); got+solrSlack != sum || err != nil {
			t.Errorf("%v: %v gives %v, error %v", want, got, got+solrSlack, err)
		}
	}
	if got, err := solrThreshold(-1e-35); !(got+solrSlack < 0 && got+solrSlack > -1e-12) || err != nil { // 0 goes to the right
		t.Error(got, err)
	}
	for _, small := range []float32{1e-12, -1e-12, 3e-14} {
		if got, err := solrThreshold(small); err == nil || !strings.Contains(err.Error(), "another unit") {
			t.Errorf("%v: %v, %v", small, got, err)
		}
	}
}

func TestWhatEnginesCannotExpressIsRefused(t *testing.T) {
	leaves := []float64{1, 2}
	node := forest.Node{Left: ^0, Right: ^1}
	set, zero, tiny := node, node, node
	var deep forest.Tree
	for i := range 1_000_000 {
		deep.Nodes = append(deep.Nodes, forest.Node{Left: i + 1, Right: ^i})
	}
	deep.Nodes[len(deep.Nodes)-1].Left = ^len(deep.Nodes)
	deep.Leaves = make([]float64, len(deep.Nodes)+1)
	set.Set, zero.ZeroMissing, tiny.Threshold = []uint64{1}, true, 1e-12
	for _, c := range []struct {
		tree forest.Tree
		want string
		solr bool
	}{
		{forest.Tree{Nodes: []forest.Node{set}, Leaves: leaves}, `tree 0: it splits by categories of "price"`, false},
		{forest.Tree{Nodes: []forest.Node{zero}, Leaves: leaves}, `tree 0: it takes 0 of "price" for a missing value`, false},
		{forest.Tree{Nodes: []forest.Node{node}, Leaves: []float64{1, 1e39}}, "tree 0: leaf 1 is 1e+39", false},
		{deep, "tree 0: it is more than 400 nodes deep", false},
		{forest.Tree{Nodes: []forest.Node{tiny}, Leaves: leaves}, `tree 0: feature "price": the threshold 1e-12`, true},
	} {
		e := Export{"m", &forest.Forest{Inputs: 1, Trees: []forest.Tree{c.tree}}, []string{"price"}, []bool{false}}
		if _, err := e.Solr(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Solr: %v, want %q", err, c.want)
		}
		if _, err := e.Elasticsearch(); (err == nil) != c.solr || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("Elasticsearch: %v, want %q", err, c.want)
		}
	}
}
