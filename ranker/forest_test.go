package ranker_test

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// smallForest asks for features 0 and 2 of three, the latter a category.
func smallForest() *forest.Forest {
	return &forest.Forest{Inputs: 3, Bias: 0.5, Trees: []forest.Tree{
		{
			Nodes: []forest.Node{
				{Column: 0, Threshold: 1.5, MissingLeft: true, Left: 1, Right: ^0, Gain: 2},
				{Column: 2, Set: []uint64{1 << 3, 1<<63 | 1}, ZeroMissing: true, Left: ^1, Right: ^2, Gain: .5},
			},
			Leaves: []float64{1, 10, 100},
		},
		{Leaves: []float64{1000}},
	}}
}

func forestFile(t *testing.T, ensemble *forest.Forest) *ranker.File {
	t.Helper()
	f := &ranker.File{
		Transform:  &transforms.Transform{Spec: "raw", Inputs: 3, Columns: []int{0, 1, 2}, Parts: []transforms.Part{{Name: "raw"}}},
		FeatureIDs: []int{1, 5, 9}, Gain: "exp2",
	}
	if err := f.SetForest(ensemble); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestForestIsReadBackAndScored(t *testing.T) {
	nan := float32(math.NaN())
	rows := []float32{2, 0, 0, 1, 0, 3, nan, 0, 4, 1.5, nan, 127, 0, 0, nan}
	want := []float64{1001.5, 1010.5, 1100.5, 1010.5, 1100.5}
	for _, ensemble := range []*forest.Forest{smallForest(), {Inputs: 3}} {
		m, err := ranker.New(forestFile(t, ensemble))
		if err != nil {
			t.Fatal(err)
		}
		var data bytes.Buffer
		if err := m.File().Write(&data); err != nil {
			t.Fatal(err)
		}
		read, err := ranker.Read(&data)
		if err != nil {
			t.Fatal(err)
		}
		back, err := read.File().Forest()
		if err != nil || !reflect.DeepEqual(back, ensemble) {
			t.Errorf("%+v, want %+v, error %v", back, ensemble, err)
		}
		if ensemble.Trees == nil {
			want = make([]float64, len(want))
		}
		for _, m := range []*ranker.Model{m, read} {
			if got, err := m.Score(nil, rows); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, want %v, error %v", got, want, err)
			}
			if ensemble.Trees != nil && (!slices.Equal(m.UsedFeatures(), []int{1, 9}) || m.ComparesDocuments()) {
				t.Errorf("uses %v, compares %t", m.UsedFeatures(), m.ComparesDocuments())
			}
		}
	}
}

// Arrays that would be empty are not in the file: of trees without nodes, and of sets without categories.
func TestForestsWithoutNodesOrCategoriesAreReadBack(t *testing.T) {
	for _, ensemble := range []*forest.Forest{
		{Inputs: 3, Trees: []forest.Tree{{Leaves: []float64{1}}, {Leaves: []float64{2}}}},
		{Inputs: 3, Trees: []forest.Tree{{Nodes: []forest.Node{{Set: []uint64{}, MissingLeft: true, Left: ^0, Right: ^1}}, Leaves: []float64{1, 3}}}},
	} {
		m, err := ranker.New(forestFile(t, ensemble))
		if err != nil {
			t.Errorf("%+v: %v", ensemble, err)
			continue
		}
		if got, err := m.Score(nil, []float32{1, 0, 0}); err != nil || !slices.Equal(got, []float64{3}) {
			t.Errorf("%+v: %v, error %v", ensemble, got, err)
		}
	}
}

// Gains are by feature, of all forests of a mixture, and nil for files of older versions, which have none.
func TestGainsAreByFeature(t *testing.T) {
	f := forestFile(t, smallForest())
	m, err := ranker.New(f)
	if err != nil {
		t.Fatal(err)
	}
	mixed, err := ranker.Mix([]float64{.5, .5}, m, m)
	if err != nil {
		t.Fatal(err)
	}
	both, err := ranker.New(mixed)
	if err != nil || !slices.Equal(m.Gains(), []float64{2, 0, .5}) || !slices.Equal(both.Gains(), []float64{4, 0, 1}) {
		t.Errorf("%v and %v, error %v", m.Gains(), both.Gains(), err)
	}
	if !slices.Equal(m.Splits(), []int{1, 0, 1}) || !slices.Equal(both.Splits(), []int{2, 0, 2}) || !both.ExplainsExactly() {
		t.Errorf("splits %v and %v, exact %t", m.Splits(), both.Splits(), both.ExplainsExactly())
	}
	older := *f
	older.Arrays = slices.DeleteFunc(slices.Clone(f.Arrays), func(a ranker.Array) bool { return a.Name == "gains" })
	if m, err = ranker.New(&older); err != nil || m.Gains() != nil {
		t.Errorf("%v of an older file, error %v", m, err)
	}
}

func TestCraftedForestsAreRefused(t *testing.T) {
	at := func(f *ranker.File, name string) []float64 {
		return f.Arrays[slices.IndexFunc(f.Arrays, func(a ranker.Array) bool { return a.Name == name })].Values
	}
	for want, change := range map[string]func(f *ranker.File){
		"do not fit":             func(f *ranker.File) { f.Settings = []byte(`{"inputs":2}`) },
		"settings of the forest": func(f *ranker.File) { f.Settings = []byte(`{"inputs":1e99}`) },
		"none of a forest":       func(f *ranker.File) { f.Arrays[0].Name = "w" },
		"has 1e+18 nodes":        func(f *ranker.File) { at(f, "trees")[0] = 1e18 },
		"has -1 nodes":           func(f *ranker.File) { at(f, "trees")[0] = -1 },
		"has 1.5 nodes":          func(f *ranker.File) { at(f, "trees")[0] = 1.5 },
		"left over after the last tree": func(f *ranker.File) {
			at(f, "trees")[2], at(f, "trees")[3] = 0, 0
			f.Arrays[0].Values = f.Arrays[0].Values[:2]
			f.Arrays[0].Shape = []int{1, 2}
		},
		"want a whole number":         func(f *ranker.File) { at(f, "nodes")[6] = 0.5 },
		"of number 7":                 func(f *ranker.File) { at(f, "nodes")[6] = 7 },
		"column 3, want 0 to 2":       func(f *ranker.File) { at(f, "nodes")[0] = 3 },
		"a set of 5 words":            func(f *ranker.File) { at(f, "nodes")[7+2] = 5 },
		"a set of 6 words":            func(f *ranker.File) { at(f, "nodes")[7+2] = 6 },
		"whole numbers of 32 bits":    func(f *ranker.File) { at(f, "sets")[0] = 1 << 32 },
		"sets or gains are left over": func(f *ranker.File) { at(f, "nodes")[7+2] = -1 },
		"the gain is [-1]":            func(f *ranker.File) { at(f, "gains")[1] = -1 },
		"the gain is []": func(f *ranker.File) {
			f.Arrays[4].Values, f.Arrays[4].Shape = at(f, "gains")[:1], []int{1}
		},
	} {
		f := forestFile(t, smallForest())
		change(f)
		if _, err := ranker.New(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	network := forestFile(t, smallForest())
	network.Kind, network.Settings = "mlp", []byte(`{"features":3}`)
	if _, err := ranker.New(network); err == nil || !strings.Contains(err.Error(), "for forests") {
		t.Errorf("a network on missing values: %v", err)
	}
}
