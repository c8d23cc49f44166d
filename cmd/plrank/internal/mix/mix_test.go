package mix

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
)

var call = commandtest.Command(Run).Call

func TestMain(m *testing.M) { commandtest.Main(m) }

// Each feature alone leaves documents tied, and both together rank better; where one alone is better in each query, the other has
// no share. In the third file the best document has 2.3 deviations of the first feature, the next one 2.4 of the other: halves are not right.
func TestModelsHaveEqualSharesUnlessOthersAreBetter(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	testkit.LinearModel(t, path("a.npz"), 1, 0, 0)
	testkit.LinearModel(t, path("b.npz"), 0, 3, 0)
	commandtest.Write(t, path("d.txt"), "0 qid:1 1:0 5:0\n1 qid:1 1:0 5:1\n1 qid:1 1:1 5:0\n3 qid:1 1:1 5:1\n")
	commandtest.Write(t, path("e.txt"), "0 qid:1 1:0 5:1\n1 qid:1 1:1 5:0\n0 qid:2 1:0 5:1\n1 qid:2 1:1 5:0\n")
	query := "3 qid:Q 1:1 5:0\n2 qid:Q 1:0 5:2\n1 qid:Q 1:0 5:1\n0 qid:Q 1:0 5:0\n"
	commandtest.Write(t, path("f.txt"), strings.ReplaceAll(query, "Q", "1")+strings.ReplaceAll(query, "Q", "2"))
	arguments := []string{path("a.npz"), path("b.npz"), "-data", path("d.txt"), "-out", path("m.npz")}
	for stderr, args := range map[string][]string{
		"0.50 " + path("a.npz") + "\n0.50 " + path("b.npz"): arguments,
		"1.00 " + path("a.npz") + "\n0.00 " + path("b.npz"): {path("a.npz"), path("b.npz"), "-data", path("e.txt"), "-out", path("n.npz")},
		"0.75 " + path("a.npz") + "\n0.25 " + path("b.npz"): {path("a.npz"), path("b.npz"), "-data", path("f.txt"), "-out", path("o.npz")},
	} {
		if status, _, said := call(args...); status != 0 || !strings.Contains(said, stderr) {
			t.Fatal(status, said)
		}
	}
	m, err := ranker.Open(path("m.npz"))
	if err != nil {
		t.Fatal(err)
	}
	// Deviations within the query are ½ and 3/2, and their mean is 1.
	weights, parts, err := m.Parts()
	if err != nil || len(parts) != 2 || math.Abs(weights[0]-1) > 1e-6 || math.Abs(weights[1]-1./3) > 1e-6 {
		t.Error(weights, err)
	}
	if status, _, stderr := call(arguments...); status != 1 || !strings.Contains(stderr, "exists") {
		t.Error("an existing file:", status, stderr)
	}
	if status, _, stderr := call(path("a.npz"), "-data", path("d.txt"), "-out", path("x.npz")); status != 2 || !strings.Contains(stderr, "1 models: want two or more") {
		t.Error(status, stderr)
	}
}

// Shares that are chosen on queries which a model was trained on are warned of.
func TestMixWarnsOfTrainingQueries(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	testkit.LinearModel(t, path("a.npz"), 1, 0, 0)
	testkit.LinearModel(t, path("b.npz"), 0, 3, 0)
	commandtest.Write(t, path("d.txt"), "0 qid:1 1:0 5:1\n1 qid:1 1:1 5:0\n0 qid:2 1:0 5:1\n1 qid:2 1:2 5:0\n")
	a, err := ranker.Open(path("a.npz"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.ReadFile(path("d.txt"), datasets.OptionsFor(a))
	if err != nil {
		t.Fatal(err)
	}
	trained := *a.File()
	trained.TrainingQueries = ranker.NewQueryDigests(d.Select([]int{1}).TrainingDigests()...)
	if err := trained.Save(path("t.npz")); err != nil {
		t.Fatal(err)
	}
	for model, warned := range map[string]bool{"a.npz": false, "t.npz": true} {
		status, _, said := call(path(model), path("b.npz"), "-data", path("d.txt"), "-out", path("of-"+model))
		if want := path("d.txt") + ": 1 of 2 queries were trained on by " + path(model); status != 0 || strings.Contains(said, want) != warned {
			t.Errorf("%d: %s, want %q: %t", status, said, want, warned)
		}
	}
}
