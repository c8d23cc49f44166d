package foreign

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/text"
)

// models are the files of testdata, which lab/foreign/models.py writes.
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
				rows = append(rows, text.FixedLevels(m.Levels[c]).Value([]byte(word)))
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
