package ranker

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/transforms"
)

// stumps is a forest of one tree on the raw features of width columns.
func stumps(t *testing.T, width int) *File {
	t.Helper()
	f := &File{Transform: transforms.Raw(width), Gain: "exp2"}
	for id := range width {
		f.FeatureIDs = append(f.FeatureIDs, id+1)
	}
	err := f.SetForest(&forest.Forest{Inputs: width, Trees: []forest.Tree{
		{Nodes: []forest.Node{{Column: 1, Threshold: 1, MissingLeft: true, Left: ^0, Right: ^1}}, Leaves: []float64{-2, 3}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestMixtureIsTheWeightedSum(t *testing.T) {
	d := queries(4, 6, 3)
	models := []*Model{
		reopen(t, network(t, "minmax+quantile", "float32", d, 2, 8)),
		reopen(t, attending(t, "standard", "float64", d, 1, 1, 2, 8)),
		reopen(t, stumps(t, 4)),
	}
	weights := []float64{0.5, -1.25, 2}
	f, err := Mix(weights, models...)
	if err != nil {
		t.Fatal(err)
	}
	mixed := reopen(t, f)
	for q := range 2 {
		want := make([]float64, d.Offsets[q+1]-d.Offsets[q])
		for i, m := range models {
			scores, err := m.Score(nil, features(d, q))
			if err != nil {
				t.Fatal(err)
			}
			for r, s := range scores {
				want[r] += weights[i] * s
			}
		}
		if got, err := mixed.Score(nil, features(d, q)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, want %v, error %v", got, want, err)
		}
	}
	if !mixed.ComparesDocuments() || !slices.Equal(mixed.UsedFeatures(), []int{1, 2, 3, 4}) {
		t.Error(mixed.ComparesDocuments(), mixed.UsedFeatures())
	}
	gotWeights, parts, err := mixed.Parts()
	if err != nil || !slices.Equal(gotWeights, weights) || len(parts) != 3 || parts[1].File().Kind != models[1].File().Kind {
		t.Error(gotWeights, parts, err)
	}
	if w, m, err := models[0].Parts(); w != nil || m != nil || err != nil {
		t.Error("parts of a network:", w, m, err)
	}
	alone, err := Mix([]float64{1, 1}, models[2], reopen(t, network(t, "standard", "float32", d, 1)))
	if err != nil || reopen(t, alone).ComparesDocuments() {
		t.Error("a mixture of models that compare no documents compares them", err)
	}
}

func TestMixtureNeedsModelsOfOneKindOfData(t *testing.T) {
	d := queries(4, 6)
	a, b := reopen(t, network(t, "standard", "float32", d, 1)), reopen(t, network(t, "standard", "float32", queries(3, 6), 1))
	onBase := network(t, "standard", "float32", d, 1)
	onBase.BaseScores = true
	for want, c := range map[string]struct {
		weights []float64
		models  []*Model
	}{
		"0 weights for a mixture of 0 models":                 {},
		"2 weights for a mixture of 1 models":                 {[]float64{1, 2}, []*Model{a}},
		"models 0 and 1 have other features":                  {[]float64{1, 1}, []*Model{a, b}},
		"base scores: model 0 false, model 1 true":            {[]float64{1, 1}, []*Model{a, reopen(t, onBase)}},
		"the weights of a mixture are [NaN]: want finite num": {[]float64{math.NaN()}, []*Model{a}},
	} {
		if _, err := Mix(c.weights, c.models...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// An error names the first column that differs, also where only the order does.
func TestMixtureSaysWhichColumnDiffers(t *testing.T) {
	named := func(names ...string) *Model {
		f := stumps(t, len(names))
		f.FeatureNames = names
		return reopen(t, f)
	}
	first := named("price", "size", "age")
	for want, other := range map[string]*Model{
		`column 2 is "size" of model 0, but "age" of model 1: want the same features in the same order`: named("price", "age", "size"),
		`column 3 is "age" of model 0, but "new" of model 1`:                                            named("price", "size", "new"),
		"models 0 and 1 have other features":                                                            named("price", "size"),
	} {
		if _, err := Mix([]float64{1, 1}, first, other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestCraftedMixturesAreRefused(t *testing.T) {
	d := queries(2, 4)
	m := reopen(t, network(t, "standard", "float32", d, 1))
	for want, change := range map[string]func(*File){
		"the settings of the mixture":        func(f *File) { f.Settings = json.RawMessage(`{"parts":1}`) },
		"a mixture needs parts":              func(f *File) { f.Settings = json.RawMessage(`{}`) },
		"and raw features":                   func(f *File) { f.Transform = m.file.Transform },
		`array "1/w0" belongs to no part`:    func(f *File) { f.Arrays[0].Name = "1/w0" },
		`array "00/w0" belongs to no part`:   func(f *File) { f.Arrays[0].Name = "00/w0" },
		`part 0 of the mixture: array ""`:    func(f *File) { f.Arrays[0].Name = "0/" },
		"part 0 of the mixture is a mixture": func(f *File) { f.Settings = []byte(strings.Replace(string(f.Settings), `"mlp"`, `"mixture"`, 2)) },
		"part 0 of the mixture: no transform": func(f *File) {
			f.Settings = json.RawMessage(`{"parts":[{"weight":1,"kind":"mlp","settings":{},"dtype":"float32"}]}`)
		},
		"part 0 of the mixture: dtype": func(f *File) { f.Settings = json.RawMessage(`{"parts":[{"weight":1,"kind":"mlp","settings":{}}]}`) },
	} {
		f, err := Mix([]float64{1}, m)
		if err != nil {
			t.Fatal(err)
		}
		f.Arrays = slices.Clone(f.Arrays)
		change(f)
		if _, err := New(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
