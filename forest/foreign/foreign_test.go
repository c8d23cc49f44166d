package foreign

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/text"
)

// models are the files of testdata, which lab/foreign/models.py and old.py write.
func models(t testing.TB) (paths []string) {
	folder := "testdata"
	if f := os.Getenv("FOREIGN"); f != "" {
		folder = f
	}
	return modelsIn(t, folder)
}

func modelsIn(t testing.TB, folder string) (paths []string) {
	for _, ending := range []string{"txt", "json", "ubj"} {
		more, err := filepath.Glob(filepath.Join(folder, "*."+ending))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, more...)
	}
	if len(paths) < 9 {
		t.Fatalf("%d models", len(paths))
	}
	return paths
}

func open(t testing.TB, path string) *Model {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(data)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}

// rowsOf reads the rows and scores next to a model.
func rowsOf(t testing.TB, path string, m *Model) (rows []float32, scores []float64) {
	data, err := os.ReadFile(strings.TrimSuffix(path, filepath.Ext(path)) + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, line := range lines[1:] {
		words := strings.Split(line, ",")
		for c, word := range words {
			if c < len(words)-1 && m.Levels != nil && m.Levels[c] != nil {
				rows = append(rows, text.FixedLevels(m.Levels[c], slices.Contains(m.NumberLevels, m.IDs[c])).Value([]byte(word), text.Cell))
				continue
			}
			v, err := strconv.ParseFloat(word, 64)
			if word == "" {
				v, err = math.NaN(), nil
			}
			if err != nil {
				t.Fatal(path, err)
			}
			if c == len(words)-1 {
				scores = append(scores, v)
			} else {
				rows = append(rows, float32(v))
			}
		}
	}
	return rows, scores
}

func TestGainsAreThoseOfTheFiles(t *testing.T) {
	for path, want := range map[string]float32{"lightgbm-texts.txt": 38.5389, "xgboost-numbers.json": 24.661093, "catboost-numbers.json": 0} {
		if got := open(t, "testdata/"+path).Forest.Trees[0].Nodes[0].Gain; got != want {
			t.Errorf("%s: the first split gains %v, want %v", path, got, want)
		}
	}
}

func TestScoresAreThoseOfTheLibraries(t *testing.T) {
	for _, path := range append(models(t), modelsIn(t, engines)...) {
		m := open(t, path)
		rows, want := rowsOf(t, path, m)
		got := make([]float64, len(want))
		if len(rows) != len(want)*m.Forest.Inputs {
			t.Fatalf("%s: %d values for %d rows of %d", path, len(rows), len(want), m.Forest.Inputs)
		}
		before := slices.Clone(rows)
		m.Score(got, rows)
		tolerance, worst, at, bad := 1e-12, 0., 0, 0
		if m.Library == "Solr" && m.Weights != nil {
			tolerance = 1e-6 // its sums are float32
		}
		for i := range got {
			d := math.Abs(got[i]-want[i]) / max(1, math.Abs(want[i]))
			if d > tolerance {
				bad++
			}
			if !(d <= worst) {
				worst, at = d, i
			}
		}
		if !(worst <= tolerance) {
			t.Errorf("%s: %d of %d differ; row %d, %v: score %v, want %v", path, bad, len(got), at, rows[at*m.Forest.Inputs:][:m.Forest.Inputs], got[at], want[at])
		}
		for i := range rows {
			if math.Float32bits(rows[i]) != math.Float32bits(before[i]) {
				t.Fatalf("%s: Score changed its rows", path)
			}
		}
		t.Logf("equal: %s,%s,%d,%d,%.1e", filepath.Base(path), m.Objective, len(m.Forest.Trees), len(got), worst)
	}
}

// XGBoost before 3.4 writes texts of pandas with lengths in characters for lengths in bytes, and as many bytes as there are
// characters. What is left may look like other texts.
func TestTextsThatXGBoostDamagedAreRefused(t *testing.T) {
	written := func(version, offsets, values string) string { // in place of bern, oslo, rome and x y
		return strings.NewReplacer(`"version":[3,2,0]`, `"version":`+version, "[0,4,8,12,15]", offsets,
			"[98,101,114,110,111,115,108,111,114,111,109,101,120,32,121]", values).Replace(file(t, "xgboost-texts.json"))
	}
	const right = "[98,-61,-87,114,110,111,115,108,111,114,111,109,101,120,32,121]"
	m, err := Read([]byte(written("[3,4,0]", "[0,5,9,13,16]", right)))
	if err != nil || !slices.Equal(m.Levels[5], []string{"bérn", "oslo", "rome", "x y"}) {
		t.Fatal(m.Levels, err)
	}
	for what, data := range map[string]string{
		"bér, nosl, orom and ex ":      written("[3,2,0]", "[0,4,8,12,15]", "[98,-61,-87,114,110,111,115,108,111,114,111,109,101,120,32]"),
		"a text that ends within an é": written("[3,4,0]", "[0,2,9,13,16]", right),
	} {
		if _, err := Read([]byte(data)); err == nil || !strings.Contains(err.Error(), "categories of feature 5: some are not ASCII, and XGBoost before 3.4") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// Before 3.4, XGBoost has the weights of trees beside the model of dart, and since then in that of gbtree.
func TestWeightsOfDartAreFoundInFilesOfEveryVersion(t *testing.T) {
	want := open(t, "testdata/xgboost-dart.json")
	var f struct {
		Learner map[string]any `json:"learner"`
	}
	if err := json.Unmarshal([]byte(file(t, "xgboost-dart.json")), &f); err != nil {
		t.Fatal(err)
	}
	booster := f.Learner["gradient_booster"].(map[string]any)
	model := booster["gbtree"].(map[string]any)["model"].(map[string]any)
	model["weight_drop"] = booster["weight_drop"]
	f.Learner["gradient_booster"] = map[string]any{"name": "gbtree", "model": model}
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Read(data); err != nil || !reflect.DeepEqual(got.Forest.Trees, want.Forest.Trees) {
		t.Errorf("other trees, or error %v", err)
	}
}

// LightGBM separates names by blanks alone: other white space is part of a name.
func TestNamesOfLightGBMMayHaveOtherWhiteSpace(t *testing.T) {
	names := []string{"a\tb", "x\u00a0y", "z\u3000w", "a=b", "größe", "p_r", "\u0085"}
	text := strings.Replace(file(t, "lightgbm-numbers.txt"), "Column_0 Column_1 Column_2 Column_3 Column_4 Column_5 Column_6", strings.Join(names, " "), 1)
	if m, err := Read([]byte(text)); err != nil || !slices.Equal(m.Names, names) {
		t.Errorf("%q, error %v, want %q", m.Names, err, names)
	}
}

// The base score of an objective that is not known may stand for another score.
func TestUnknownObjectivesAreWarnedOf(t *testing.T) {
	for objective, warnings := range map[string]int{"rank:ndcg": 0, "reg:squarederror": 0, "rank:other": 0, "reg:new": 1} {
		m, err := Read([]byte(strings.Replace(file(t, "xgboost-numbers.json"), `"name":"rank:ndcg"`, `"name":"`+objective+`"`, 1)))
		if err != nil || m.Objective != objective || len(m.Warnings) != warnings {
			t.Errorf("%s: %q, %q, error %v", objective, m.Objective, m.Warnings, err)
		}
	}
}

// XGBoost keeps base scores of logistic objectives 1e-6 away from 0 and 1, which labels that are all the same have. The biases are the
// output_margin of XGBoost 3.2 where trees add nothing.
func TestBaseScoresAreBoundedAsByXGBoost(t *testing.T) {
	for base, want := range map[string]float64{"0E0": -13.815509796142578, "1E-9": -13.815509796142578, "1E0": 13.745160102844238} {
		m, err := Read([]byte(strings.Replace(file(t, "xgboost-logistic.json"), "[3.54375E-1]", "["+base+"]", 1)))
		if err != nil || m.Forest.Bias != want {
			t.Errorf("%s: %v, want %v, error %v", base, m.Forest.Bias, want, err)
		}
	}
}

// XGBoost has column k of text as feature k, which its files do not say, so that nothing asks for column 0.
func TestModelsThatMayBeOfTextSaySo(t *testing.T) {
	for _, column := range []int{0, 1} {
		m, err := Read(fmt.Appendf(nil, `{"learner":{"learner_model_param":{"base_score":"0","num_feature":"3"},"gradient_booster":{"model":{
			"trees":[{"left_children":[1,-1,-1],"right_children":[2,-1,-1],"split_indices":[%d,0,0],"split_conditions":[1,2,3],
			"default_left":[0,0,0]}]}}}}`, column))
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(m.Numbering, "no tree asks for column 0"); said != (column > 0) {
			t.Errorf("column %d: %s", column, m.Numbering)
		}
	}
}
