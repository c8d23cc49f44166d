package ranker

import (
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/transforms"
)

// Products of the same two vectors are one in explanations: of a linear model, and of a tree in which they interact.
func TestProductsOfTwoVectorsAreExplainedAsOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.npz")
	testkit.LinearModel(t, path, 1, 10, 100)
	linear, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	vectored := func(f File) *Model {
		f.FeatureNames = []string{"f", "cosine(q,d)", "dot(d,q)"}
		f.Vectors = []transforms.Vector{{Name: "q", Dimension: 2}, {Name: "d", Dimension: 2}}
		f.Products = []transforms.Product{{Name: "cosine(q,d)"}, {Name: "dot(d,q)"}}
		m, err := New(&f)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := vectored(*linear.File())
	if !slices.Equal(m.Block(2), []int{1, 2}) || !slices.Equal(m.Block(0), []int{0}) || m.BlockName(1) != "cosine(q,d), dot(d,q)" {
		t.Errorf("blocks %v and %v, %q", m.Block(2), m.Block(0), m.BlockName(1))
	}
	features := []float32{3, .5, 2, 1, .25, 1}
	c := Comparison{Document: 0, Other: 1, Permutations: 4}
	e, err := m.Explain(t.Context(), features, nil, c)
	if err != nil || math.Abs(e.Values[0]-2) > 1e-4 || math.Abs(e.Values[1]-10*.25-100) > 1e-4 || e.Values[2] != 0 {
		t.Errorf("%+v, error %v", e, err)
	}
	if want := [][]int{{1, 2}}; !reflect.DeepEqual(e.Blocks, want) {
		t.Errorf("blocks %v, want %v", e.Blocks, want)
	}
	if w := m.ExplainWork(features, c); w != (Work{0, 2, 2, 8}) { // two orders of two players, a pair after each
		t.Errorf("work %+v", w)
	}
	// 6 if the cosine and the inner product are high, and 0 elsewhere.
	f := *m.File()
	f.Kind, f.Settings, f.Arrays = ForestKind, nil, nil
	tree := forest.Tree{Nodes: []forest.Node{{Column: 1, Threshold: .3, Left: ^0, Right: 1}, {Column: 2, Threshold: 1.5, Left: ^1, Right: ^2}}, Leaves: []float64{0, 0, 6}}
	if err := f.SetForest(&forest.Forest{Inputs: 3, Trees: []forest.Tree{tree}}); err != nil {
		t.Fatal(err)
	}
	e, err = vectored(f).Explain(t.Context(), features, nil, Comparison{Document: 0, Other: 1, Interactions: true})
	if err != nil || !slices.Equal(e.Values, []float64{0, 6, 0}) || len(e.Interactions) > 0 {
		t.Errorf("%+v, error %v", e, err)
	}
}
