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

// model writes a model with the weight of the first feature, and what change says of it.
func model(t *testing.T, path string, weight, other float64, change func(f *ranker.File)) string {
	t.Helper()
	testkit.LinearModel(t, path, weight, other, 0)
	m, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f := *m.File()
	change(&f)
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Labels that no exponential gain takes are measured by the models' gain, in the models' column; what they do not agree on is asked for.
func TestMixMeasuresAsItsModels(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	named := func(gain, label string, grade float64) func(f *ranker.File) {
		return func(f *ranker.File) {
			f.Gain, f.Grade, f.Columns, f.FeatureNames = gain, grade, map[string]string{"label": label, "query": "q"}, []string{"x", "y", "z"}
		}
	}
	a, b := model(t, path("a.npz"), 1, 0, named("linear", "price", 40)), model(t, path("b.npz"), 0, 3, named("linear", "price", 99.5))
	other, clicks := model(t, path("c.npz"), 1, 0, named("exp2", "price", 4)), model(t, path("d.npz"), 1, 0, named("linear", "clicks", 4))
	data := path("d.csv")
	commandtest.Write(t, data, "q,clicks,price,x,y,z\n1,0,99.5,1,1,0\n1,1,20,0,0,0\n1,0,40,1,0,0\n")
	_, stderr := commandtest.Command(Run).Must(t, a, b, "-data", data, "-out", path("m.npz"))
	if !strings.HasSuffix(stderr, "0.50 "+a+"\n0.50 "+b+"\n") {
		t.Error(stderr)
	}
	m, err := ranker.Open(path("m.npz"))
	if err != nil || m.File().Gain != "linear" || m.File().Grade != 99.5 {
		t.Errorf("%v, gain %s, highest grade %v", err, m.File().Gain, m.File().Grade)
	}
	for want, args := range map[string][]string{
		a + " has the gain linear, and " + other + " has exp2: -gain":                    {a, other, "-data", data},
		a + ` was trained on the labels "price", and ` + clicks + ` on "clicks": -label`: {a, clicks, "-data", data},
		`-metric: want a measure of rankings: metrics: unknown metric "loss"`:            {a, b, "-data", data, "-metric", "loss"},
		"-metric disparity is of policies: want a measure of rankings":                   {a, b, "-data", data, "-metric", "disparity"},
		"-data and -weights exclude each other":                                          {a, b, "-data", data, "-weights", "1,2"},
		"-weights 1: 1 weights of 2 models: want one for each":                           {a, b, "-weights", "1"},
		`-weights 1,x: "x" is not a number`:                                              {a, b, "-weights", "1,x"},
		"-out is needed, and -data or -weights":                                          {a, b},
	} {
		if status, _, said := call(append(args, "-out", path("x.npz"))...); status != 2 || !strings.Contains(said, want) {
			t.Errorf("%v: %d, %s, want %q", args, status, said, want)
		}
	}
	for i, args := range [][]string{{other, "-gain", "linear"}, {clicks, "-label-column", "price"}, {b, "-metric", "expected-map"}} {
		if status, _, said := call(append(args, a, "-data", data, "-out", path("y"+string(rune('0'+i))+".npz"))...); status != 0 {
			t.Errorf("%v: %d, %s", args, status, said)
		}
	}
}

// Weights that are given need no data, and multiply in a mixture of a mixture: 2·(3·x₁ + 5·3·x₅) − x₁.
func TestMixturesAreMixedByWeights(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	testkit.LinearModel(t, path("a.npz"), 1, 0, 0)
	testkit.LinearModel(t, path("b.npz"), 0, 3, 0)
	must := commandtest.Command(Run).Must
	must(t, path("a.npz"), path("b.npz"), "-weights", "3,5", "-out", path("m.npz"))
	must(t, path("m.npz"), path("a.npz"), "-weights", "2,-1", "-out", path("n.npz"))
	commandtest.Write(t, path("d.txt"), "0 qid:1 1:0 5:1\n1 qid:1 1:1 5:0\n")
	must(t, path("m.npz"), path("n.npz"), "-data", path("d.txt"), "-out", path("o.npz"))
	m, err := ranker.Open(path("n.npz"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Score(nil, []float32{1, 0, 0, 0, 1, 0}); err != nil || got[0] != 5 || got[1] != 30 {
		t.Errorf("%v, want 5 and 30, %v", got, err)
	}
}
