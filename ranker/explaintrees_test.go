package ranker

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/transforms"
)

// explainedForests are all models of other libraries of at most eight features, with categories, zeros that are missing, and sums
// in float32, and a mixture of forests of ours whose transforms leave features out.
func explainedForests(t *testing.T) map[string]*Model {
	models := map[string]*Model{}
	var files []string
	for _, pattern := range []string{"*.txt", "*.json", "*.ubj", "shop/*.txt", "shop/*.json", "shop/*.ubj"} {
		found, err := filepath.Glob(filepath.Join("../forest/foreign/testdata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := read(file, data); err == nil && m.exact && m.file.Transform.Inputs <= 8 {
			models[file] = m
		}
	}
	if len(models) < 10 {
		t.Fatalf("%d models of other libraries, want 10 at least", len(models))
	}
	random := rand.New(rand.NewPCG(1, 2))
	parts := []*Model{}
	for _, columns := range [][]int{{0, 1, 3}, {1, 2, 3, 4}} {
		f := &File{Transform: &transforms.Transform{Spec: "raw", Inputs: 5, Columns: columns, Parts: []transforms.Part{{Name: "raw"}}},
			FeatureIDs: []int{1, 2, 3, 4, 5}, Gain: "exp2"}
		var grown forest.Forest
		grown.Inputs = len(columns)
		for range 4 {
			node := func(left, right int) forest.Node {
				return forest.Node{Column: random.IntN(len(columns)), Threshold: random.NormFloat64(), MissingLeft: random.IntN(2) == 0, Left: left, Right: right}
			}
			grown.Trees = append(grown.Trees, forest.Tree{
				Nodes:  []forest.Node{node(1, 2), node(^0, ^1), node(^2, ^3)},
				Leaves: []float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64(), random.NormFloat64()},
			})
		}
		if err := f.SetForest(&grown); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, reopen(t, f))
	}
	mixed, err := Mix([]float64{.5, -2}, parts...)
	if err != nil {
		t.Fatal(err)
	}
	models["mixture"] = reopen(t, mixed)
	return models
}

// randomQuery has codes of categories, zeros and missing values.
func randomQuery(random *rand.Rand, documents, width int) []float32 {
	x := make([]float32, documents*width)
	for i := range x {
		switch random.IntN(4) {
		case 0:
			x[i] = []float32{0, float32(math.NaN()), -1, 1.5}[random.IntN(4)]
		case 1:
			x[i] = float32(random.NormFloat64())
		default:
			x[i] = float32(random.IntN(6))
		}
	}
	return x
}

// Explanations of forests are Shapley values by all sets of features, against another document and against the mean of the query.
func TestExplanationsOfForestsAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for name, m := range explainedForests(t) {
		width := m.file.Transform.Inputs
		x := randomQuery(random, 3, width)
		mean := make([]float64, width)
		for other := range 3 {
			want := make([]float64, width)
			if other != 1 {
				want = shapley(t, m, x, 1, other)
			}
			checkExact(t, name, m, x, Comparison{Document: 1, Other: other}, want)
			for i, v := range want {
				mean[i] += v / 3
			}
		}
		checkExact(t, name, m, x, Comparison{Document: 1, Other: MeanOfQuery}, mean)
	}
}

func checkExact(t *testing.T, name string, m *Model, x []float32, c Comparison, want []float64) {
	t.Helper()
	e, err := m.Explain(t.Context(), x, nil, c)
	if err != nil || !e.Exact || e.Errors != nil {
		t.Fatalf("%s: %+v, %v", name, e, err)
	}
	sum, scale := 0., 1.
	for i, v := range e.Values {
		sum += v
		scale += math.Abs(v)
		if math.Abs(v-want[i]) > 2e-6*scale { // XGBoost rounds sums to float32
			t.Errorf("%s, %+v: feature %d: %v, want %v", name, c, i, v, want[i])
		}
	}
	if math.Abs(sum-e.Difference) > 2e-6*scale {
		t.Errorf("%s, %+v: values sum to %v, want %v", name, c, sum, e.Difference)
	}
}

// A segment of users, the same for all documents of a query, says whether price or stars count. It has its part and interactions,
// which are those of the game that the comment of explainTrees defines, by hand.
func TestQueryFeaturesHaveTheirParts(t *testing.T) {
	f := &File{Transform: transforms.Raw(3), FeatureIDs: []int{1, 2, 3}, FeatureNames: []string{"segment", "price", "stars"}, Gain: "exp2"}
	if err := f.SetForest(&forest.Forest{Inputs: 3, Trees: []forest.Tree{{
		Nodes: []forest.Node{
			{Column: 0, Threshold: .5, Left: 1, Right: 2}, {Column: 1, Threshold: .5, Left: ^0, Right: ^1},
			{Column: 2, Threshold: .5, Left: ^2, Right: ^3},
		},
		Leaves: []float64{0, 4, 0, 2}, // 4 × price in segment 0, 2 × stars in segment 1
	}}}); err != nil {
		t.Fatal(err)
	}
	m := reopen(t, f)
	x := []float32{0, 1, 1, 0, 0, 0} // both are of segment 0
	background := []float32{1, 9, 9}
	e, err := m.Explain(t.Context(), x, nil, Comparison{Document: 0, Other: 1, Background: background, Interactions: true})
	if err != nil {
		t.Fatal(err)
	}
	// Without segment 0 in S, only stars count, 2; with it only price, 4. Sets by bits: segment 1, price 2, stars 4.
	v := map[int]float64{0: 0, 1: 0, 2: 0, 4: 2, 3: 4, 5: 0, 6: 2, 7: 4}
	for i, got := range e.Values {
		want, one := 0., 1<<i
		for set := range v {
			if set&one == 0 {
				size := 0
				for j := range 3 {
					size += set >> j & 1
				}
				want += []float64{1. / 3, 1. / 6, 1. / 3}[size] * (v[set|one] - v[set])
			}
		}
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("feature %d: %v, want %v", i, got, want)
		}
	}
	// Segment with price: ½[v(SP) − v(S) − v(P) + v(∅)] + ½[v(SPT) − v(ST) − v(PT) + v(T)] = ½·4 + ½·4; with stars −2 − 0 likewise.
	if len(e.Interactions) != 2 || e.Interactions[0].Columns != [2]int{0, 1} || math.Abs(e.Interactions[0].Value-4) > 1e-12 ||
		e.Interactions[1].Columns != [2]int{0, 2} || math.Abs(e.Interactions[1].Value+2) > 1e-12 {
		t.Errorf("%+v", e.Interactions)
	}
	if e.Difference != 4 {
		t.Errorf("difference %v, want 4", e.Difference)
	}
	if leaves := m.ExplainWork(x, Comparison{Other: MeanOfQuery, Background: background}).Leaves; leaves != 4*2*2 {
		t.Errorf("%d leaves, want 16", leaves)
	}
	for want, c := range map[string]Comparison{
		"2 values of a background are not rows of 3 features": {Background: background[:2]},
		"document 0, feature price: the value is +Inf":        {Background: []float32{1, float32(math.Inf(1)), 0}},
	} {
		if _, err := m.Explain(t.Context(), x, nil, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	d := queries(3, 2)
	if _, err := reopen(t, network(t, "none", "float64", d, 1)).Explain(t.Context(), d.Features, nil, Comparison{Interactions: true}); err == nil {
		t.Error("no error for interactions of a network")
	}
}
