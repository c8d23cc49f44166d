package ranker_test

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// stump is the file of a forest that asks whether feature 5 is at most −1: a missing value goes to the left, as −1, and 0 to the right.
func stump(t *testing.T, gaps []int) *ranker.File {
	f := &ranker.File{Transform: transforms.Raw(2), FeatureIDs: []int{3, 5}, Gain: "exp2"}
	f.Transform.Gaps = gaps
	node := forest.Node{Column: 1, Threshold: -1, MissingLeft: true, Left: ^0, Right: ^1}
	if err := f.SetForest(&forest.Forest{Inputs: 2, Trees: []forest.Tree{{Nodes: []forest.Node{node}, Leaves: []float64{1, 2}}},
		Bias: 0.5}); err != nil {
		t.Fatal(err)
	}
	return f
}

func model(t *testing.T, f *ranker.File) *ranker.Model {
	m, err := ranker.New(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var forEngines = map[string]func(*ranker.Model, io.Writer) error{"Solr": (*ranker.Model).WriteSolr,
	"Elasticsearch": (*ranker.Model).WriteElasticsearch}

// A missing value counts as 0 if training had a value in every document; it goes where the forest sends it if it had not, or if
// the file does not say.
func TestExportedForestsReadBack(t *testing.T) {
	nan := float32(math.NaN())
	for name, write := range forEngines {
		for missing, gaps := range map[float64][][]int{1.5: {nil, {1}, {0, 1}}, 2.5: {{}, {0}}} {
			for _, g := range gaps {
				var b bytes.Buffer
				m := model(t, stump(t, g))
				if err := write(m, &b); err != nil {
					t.Fatal(err)
				}
				if null := strings.Contains(b.String(), "isNullSameAsZero"); null != (name == "Solr" && missing == 1.5) ||
					!strings.Contains(b.String(), "plrank_"+m.Digest()) {
					t.Errorf("%s: gaps %v: %s", name, g, b.String())
				}
				again, err := ranker.Read(&b)
				if err != nil {
					t.Fatal(err)
				}
				got, err := again.Score(nil, []float32{-1, 0, nan})
				if err != nil || !slices.Equal(got, []float64{1.5, 2.5, missing}) || !slices.Equal(again.FeatureIDs(), []int{5}) {
					t.Errorf("%s: gaps %v: %v of features %v, want the last %v; %v", name, g, got, again.FeatureIDs(), missing, err)
				}
			}
		}
	}
}

func TestEnginesRefuseOtherModels(t *testing.T) {
	base, transformed := stump(t, nil), stump(t, nil)
	base.BaseScores = true
	transformed.Transform.Spec, transformed.Transform.Parts[0].Name = "none", "none"
	mixed, err := ranker.Mix([]float64{1, 2}, model(t, stump(t, nil)), model(t, stump(t, nil)))
	if err != nil {
		t.Fatal(err)
	}
	linear, err := ranker.Read(strings.NewReader("## AdaRank\n1:2"))
	if err != nil {
		t.Fatal(err)
	}
	shop, err := ranker.Open(foreignData + "/shop/lightgbm.txt")
	if err != nil {
		t.Fatal(err)
	}
	for want, m := range map[string]*ranker.Model{
		"not a model of kind mixture": model(t, mixed), "not a model of kind mlp": linear, "not with the transform none": model(t, transformed),
		"adds to the scores of another ranker": model(t, base), `splits by categories of "brand"`: shop,
	} {
		for name, write := range forEngines {
			if err := write(m, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}
