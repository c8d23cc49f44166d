package ranker_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/ranker"
)

const foreignData = "../forest/foreign/testdata"

// A file of another library is known by its content, whatever its name, and is a model like others.
func TestForeignModelsAreModels(t *testing.T) {
	for file, library := range map[string]string{"shop/lightgbm.txt": "LightGBM", "shop/xgboost.ubj": "XGBoost", "shop/catboost.json": "CatBoost"} {
		data, err := os.ReadFile(filepath.Join(foreignData, file))
		if err != nil {
			t.Fatal(err)
		}
		renamed := filepath.Join(t.TempDir(), "model.npz")
		if err := os.WriteFile(renamed, data, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := ranker.Open(renamed)
		if err != nil {
			t.Fatal(err)
		}
		if names := m.FeatureNames(); !slices.Equal(names, []string{"price", "stars", "brand"}) || !slices.Equal(m.FeatureIDs(), []int{1, 2, 3}) || m.Foreign().Library != library {
			t.Errorf("%s: %q, %v, %s", file, names, m.FeatureIDs(), m.Foreign().Library)
		}
		acme, ok := m.Level(2, "acme")
		other, _ := m.Level(2, "another")
		if !ok || acme == 0 || other != 0 || m.ComparesDocuments() || m.OnBaseScores() || len(m.UsedFeatures()) != 3 {
			t.Errorf("%s: level %v %t, %v; used %v", file, acme, ok, other, m.UsedFeatures())
		}
		inf, nan := float32(math.Inf(1)), float32(math.NaN())
		rows := []float32{10, 5, acme, inf, nan, other, -inf, nan, nan}
		scores, err := m.Score(nil, rows)
		if err != nil || len(scores) != 3 || scores[0] <= scores[1] { // a dear one without stars of an unknown brand
			t.Errorf("%s: %v, %v", file, scores, err)
		}
		var written bytes.Buffer
		if err := m.File().Write(&written); err != nil || !bytes.Equal(written.Bytes(), data) {
			t.Errorf("%s: %d bytes written of %d, %v", file, written.Len(), len(data), err)
		}
		again, err := ranker.New(m.File())
		if err != nil || again.Digest() != m.Digest() {
			t.Fatalf("%s: %v", file, err)
		}
		if same, err := again.Score(nil, rows); err != nil || !slices.Equal(same, scores) {
			t.Errorf("%s: %v, %v, want %v", file, same, err, scores)
		}
	}
}

// Names that are whole numbers are ids, whatever their order. Other columns are numbered from 1, but LightGBM's from 0 if the
// first was constant, as it is where LightGBM read LETOR text.
func TestColumnsOfForeignModelsAreFoundById(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(foreignData, "lightgbm-stump.txt"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	const unnamed = "Column_0 Column_1 Column_2 Column_3 Column_4 Column_5 Column_6"
	first, infos, _ := strings.Cut(text, "feature_infos=")
	_, infos, _ = strings.Cut(infos, " ")
	tree := "Tree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=1\nthreshold=0.5\ndecision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=1 2\nis_linear=0\nshrinkage=1\n\n\n"
	start, end := strings.Index(text, "Tree=0"), strings.Index(text, "end of trees")
	for _, c := range []struct {
		names, info string
		ids         []int
		names2      []string
		used        int
		note        string
	}{
		{unnamed, "[0:1]", []int{1, 2, 3, 4, 5, 6, 7}, nil, 2, "for feature k + 1"},
		{unnamed, "none", []int{0, 1, 2, 3, 4, 5, 6}, nil, 1, "as LightGBM reads text"},
		{"0 1 2 3 4 5 6", "none", []int{1, 2, 3, 4, 5, 6, 7}, nil, 2, "for feature k + 1"}, // of a data frame
		{"11 7 3 30 31 32 33", "[0:1]", []int{3, 7, 11, 30, 31, 32, 33}, nil, 7, ""},
		{"a b c d e f g", "none", []int{1, 2, 3, 4, 5, 6, 7}, []string{"a", "b", "c", "d", "e", "f", "g"}, 2, "for feature k + 1"},
	} {
		model := first + "feature_infos=" + c.info + " " + infos
		shift := len(model) - len(text)
		model = model[:start+shift] + tree + model[end+shift:]
		model = strings.Replace(strings.Replace(model, unnamed, c.names, 1), "tree_sizes=", "sizes=", 1)
		m, err := ranker.Read(strings.NewReader(model))
		if err != nil {
			t.Fatal(c.names, err)
		}
		if !slices.Equal(m.FeatureIDs(), c.ids) || !slices.Equal(m.FeatureNames(), c.names2) || !slices.Equal(m.UsedFeatures(), []int{c.used}) {
			t.Errorf("%s %s: ids %v, names %q, used %v", c.names, c.info, m.FeatureIDs(), m.FeatureNames(), m.UsedFeatures())
		}
		row := make([]float32, 14)
		row[7+slices.Index(c.ids, c.used)] = 1
		if scores, err := m.Score(nil, row); err != nil || !slices.Equal(scores, []float64{1, 2}) {
			t.Errorf("%s: %v %v", c.names, scores, err)
		}
		if note := m.Foreign().Numbering; !strings.Contains(note, c.note) || (note == "") != (c.note == "") {
			t.Errorf("%s: %q", c.names, note)
		}
	}
}

// A mixture is a file of its own, also if its first part is of another library.
func TestMixtureOfForeignModelsIsTheirSum(t *testing.T) {
	var models []*ranker.Model
	for _, file := range []string{"shop/lightgbm.txt", "shop/xgboost.ubj"} {
		m, err := ranker.Open(filepath.Join(foreignData, file))
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
	}
	f, err := ranker.Mix([]float64{2, -0.5}, models...)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := f.Write(&file); err != nil {
		t.Fatal(err)
	}
	mixed, err := ranker.Read(&file)
	if err != nil || mixed.Foreign() != nil {
		t.Fatal(err)
	}
	rows := make([]float32, 5*len(models[0].FeatureIDs()))
	for i := range rows {
		if rows[i] = float32(i%7) - 3; i%4 == 0 {
			rows[i] = float32(math.NaN())
		}
	}
	want := make([]float64, 5)
	for i, weight := range []float64{2, -0.5} {
		scores, err := models[i].Score(nil, rows)
		if err != nil {
			t.Fatal(err)
		}
		for d, s := range scores {
			want[d] += weight * s
		}
	}
	if got, err := mixed.Score(nil, rows); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v, error %v", got, want, err)
	}
}

// A linear model of another library is a network without hidden layers, for which a missing value is 0, and a part of mixtures.
func TestLinearForeignModelsAreModels(t *testing.T) {
	const data = "## Linear Regression\n## Lambda = 1.0E-10\n0:0.5 10:2.0 3:-0.125"
	m, err := ranker.Read(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	rows := []float32{8, 1, nan, 3, nan, nan} // of features 3 and 10
	want := []float64{1.5, 6.5, 0.5}
	if got, err := m.Score(nil, rows); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v, error %v", got, want, err)
	}
	var written bytes.Buffer
	if err := m.File().Write(&written); err != nil || written.String() != data || m.Foreign().Library != "RankLib" {
		t.Errorf("%q, %s, %v", written.String(), m.Foreign().Library, err)
	}
	f, err := ranker.Mix([]float64{2, 1}, m, m)
	if err != nil {
		t.Fatal(err)
	}
	mixed, err := ranker.New(f)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := mixed.Score(nil, rows); err != nil || !slices.Equal(got, []float64{4.5, 19.5, 1.5}) {
		t.Errorf("the mixture gives %v, error %v", got, err)
	}
	var onnx bytes.Buffer
	if err := m.WriteONNX(&onnx); err != nil || onnx.Len() == 0 {
		t.Error(err)
	}
}
