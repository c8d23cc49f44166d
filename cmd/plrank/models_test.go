package main

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// shopOf is a table whose columns no usual name tells, with a model of ours, one of LightGBM that knows other cities, in another
// order, and scores.
func shopOf(t *testing.T) (data, ours, other, scores string) {
	t.Helper()
	table, column := "grade of people,inquiry,thing,city,size\n", ""
	for i := range 120 {
		table += fmt.Sprintf("%d,q%d,d%d,%s,%d\n", i%3, i/6, i, []string{"Rome", "007", "NA", "Bern"}[(i+i/7)%4], i%5)
		column += strconv.Itoa(i%7) + "\n"
	}
	data, out := writeText(t, "shop.csv", table), filepath.Join(t.TempDir(), "run")
	args := "train -query-column inquiry -document-column thing -categorical city -ignore size -epochs 1 -hidden 4 -members 1 -cache off"
	words := append(strings.Fields(args), "-label-column", "grade of people", "-data", data, "-out", out)
	if status, _, stderr := call(words...); status != 0 {
		t.Fatal(stderr)
	}
	return data, out, lightGBMOf(t, `["7", "NA", "Bern", "Rome", "007"]`, 5), writeText(t, "old.scores", column)
}

// Commands that take several models read the data of each by what all know: a model of another library does not know which
// columns are labels and ids, nor do scores, and no text column that a model uses is told to be left out.
func TestModelsShareWhatTheyKnowOfColumns(t *testing.T) {
	t.Parallel()
	data, run, other, scores := shopOf(t)
	ours, out := filepath.Join(run, "model.npz"), t.TempDir()
	log := filepath.Join(out, "log.jsonl")
	if status, _, stderr := call("clicks", "simulate", "-data", data, "-model", ours, "-cutoff", "3", "-n", "60", "-out", log); status != 0 {
		t.Fatal(stderr)
	}
	for i, args := range [][]string{
		{"compare", ours, other},
		{"compare", other, ours},
		{"compare", other, scores, ours},
		{"compare", scores, ours},
		{"mix", ours, other, "-out", filepath.Join(out, "one.npz")},
		{"mix", other, ours, "-out", filepath.Join(out, "two.npz")},
		{"report", other, run, "-out", filepath.Join(out, "page.html")},
		{"clicks", "evaluate", log, "-model", other, "-baseline", ours},
		{"clicks", "evaluate", log, "-model", ours, "-baseline", other},
	} {
		status, _, stderr := call(append(args, "-data", data)...)
		if status != 0 || strings.Contains(stderr, "city") || strings.Contains(stderr, "columns of text") {
			t.Errorf("%d: %q: status %d, %s", i, args, status, stderr)
		}
	}
	// A column that is a feature of a model stays one.
	features := writeText(t, "thing.txt", strings.ReplaceAll(readText(t, other), "feature_names=city", "feature_names=thing"))
	status, _, stderr := call("compare", ours, features, "-data", data)
	if status != 0 || !strings.Contains(stderr, "120 values of the feature thing") {
		t.Error(status, stderr)
	}
}

// A mixture of models that number texts otherwise has the sums of their scores.
func TestMixturesNumberTextsAlike(t *testing.T) {
	t.Parallel()
	data, run, other, _ := shopOf(t)
	scoresOf := func(m *ranker.Model) []float64 {
		read := datasets.OptionsFor(m)
		read.LabelColumn, read.QueryColumn = "grade of people", "inquiry"
		d, err := datasets.ReadFile(data, read)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := datasets.Score(m, d)
		if err != nil {
			t.Fatal(err)
		}
		return scores
	}
	var models []*ranker.Model
	for _, path := range []string{other, filepath.Join(run, "model.npz")} {
		m, err := ranker.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
	}
	united, err := ranker.Unite(models...)
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(models[1].Levels()[0]), "7")
	if !slices.Equal(united[0].Levels()[0], want) || !slices.Equal(united[1].Levels()[0], want) {
		t.Errorf("texts %q and %q, want %q", united[0].Levels(), united[1].Levels(), want)
	}
	f, err := ranker.Mix([]float64{2, 3}, united...)
	if err != nil {
		t.Fatal(err)
	}
	mixture, err := ranker.New(f)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := ranker.Mix([]float64{1}, united[0]) // as where the other one has no share
	if want := models[1].Columns(); err != nil || want["label"] == "" || !maps.Equal(f.Columns, want) || !maps.Equal(alone.Columns, want) {
		t.Errorf("columns %v and %v, want %v, %v", f.Columns, alone.Columns, want, err)
	}
	one, two := scoresOf(models[0]), scoresOf(models[1])
	for i, got := range scoresOf(mixture) {
		if want := 2*one[i] + 3*two[i]; math.Abs(got-want) > 1e-5 {
			t.Fatalf("document %d: %v, want %v", i, got, want)
		}
	}
	if _, err := ranker.Mix([]float64{1, 1}, models...); err == nil || !strings.Contains(err.Error(), "other texts of categories") {
		t.Errorf("error %v of models that are not united", err)
	}
}
