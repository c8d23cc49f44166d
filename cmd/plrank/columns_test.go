package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lamps writes a table with columns in some order.
func lamps(t *testing.T, seed uint64, columns ...string) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	text := strings.Join(columns, ",") + "\n"
	for q := range 30 {
		for d := range 6 {
			city, price := rng.IntN(3), 100*rng.Float64()
			is := map[string]string{
				"qid": fmt.Sprintf("q%d-%d", seed, q), "label": fmt.Sprint(city), "title": fmt.Sprintf("lamp no %d", d),
				"city": []string{"Rome", "Bern", "Oslo"}[(city+int(seed))%3], "price": fmt.Sprintf("%.2f", price), "noise": fmt.Sprint(rng.IntN(9)),
			}
			var row []string
			for _, c := range columns {
				row = append(row, is[c])
			}
			text += strings.Join(row, ",") + "\n"
		}
	}
	path := filepath.Join(t.TempDir(), "lamps.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A run that is resumed, a file whose columns stand in another order, and a model that another
// training begins with all have the same columns by name, and the same numbers for texts.
func TestColumnsAreTheSameByName(t *testing.T) {
	data, out := lamps(t, 3, "qid", "label", "title", "city", "price", "noise"), filepath.Join(t.TempDir(), "run")
	must := func(args ...string) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := call(args...)
		if status != 0 {
			t.Fatalf("%q: %s", args, stderr)
		}
		return stdout, stderr
	}
	_, stderr := must("train", "-data", data, "-categorical", "city", "-ignore", "no*", "-epochs", "2", "-hidden", "8", "-members", "1", "-cache", "off", "-out", out)
	if strings.Count(stderr, "title") != 1 || strings.Contains(stderr, "noise") {
		t.Errorf("warnings: %s", stderr)
	}
	must("train", "-resume", "-out", out, "-epochs", "3", "-cache", "off")
	model := filepath.Join(out, "model.npz")
	want, _ := must("score", "-model", model, "-data", data)
	got, _ := must("score", "-model", model, "-data", lamps(t, 3, "noise", "price", "city", "label", "qid"))
	if got != want || strings.Count(want, "\n") != 180 {
		t.Errorf("other scores of the same columns in another order")
	}
	must("evaluate", "-model", model, "-data", lamps(t, 4, "city", "price", "label", "qid"), "-cache", "off")
	if status, _, stderr := call("score", "-model", model, "-data", lamps(t, 3, "qid", "price")); status != 1 || !strings.Contains(stderr, `no column for feature "city"`) {
		t.Errorf("%d, %s", status, stderr)
	}
	// The texts of these data come in another order.
	other := lamps(t, 5, "price", "qid", "city", "label")
	_, stderr = must("train", "-data", other, "-categorical", "city", "-init-model", model, "-epochs", "1", "-hidden", "8", "-members", "1", "-cache", "off")
	if !strings.Contains(stderr, "2 features") {
		t.Errorf("from an initial model: %s", stderr)
	}
	if status, _, stderr := call("train", "-data", other, "-categorical", "city", "-ignore", "pri*", "-init-model", model); status != 1 || !strings.Contains(stderr, "-ignore pri*: the initial model has the feature price") {
		t.Errorf("%d, %s", status, stderr)
	}
	if status, _, stderr := call("train", "-data", other, "-features", "price", "-init-model", model); status != 1 || !strings.Contains(stderr, "-features: the initial model has the feature city, too") {
		t.Errorf("%d, %s", status, stderr)
	}
	config, err := os.ReadFile(filepath.Join(out, "config.json"))
	if words := strings.Fields(string(config)); err != nil || !slices.Contains(words, `"no*",`) {
		t.Errorf("config.json: %v, %s", err, config)
	}
}

// Numbers alone are read in the order of an initial model, too.
func TestInitialModelReadsByName(t *testing.T) {
	out, inOrder, reversed := filepath.Join(t.TempDir(), "run"), lamps(t, 3, "qid", "label", "price", "noise"), lamps(t, 3, "noise", "price", "label", "qid")
	train := func(args ...string) (initial string) {
		t.Helper()
		status, stdout, stderr := call(append([]string{"train", "-json", "-epochs", "2", "-hidden", "8", "-members", "1", "-cache", "off"}, args...)...)
		if status != 0 {
			t.Fatalf("%q: %s", args, stderr)
		}
		initial, _, _ = strings.Cut(stdout, "}")
		return initial
	}
	train("-data", inOrder, "-out", out)
	model := filepath.Join(out, "model.npz")
	want := train("-data", inOrder, "-init-model", model)
	if got := train("-data", reversed, "-init-model", model); got != want || !strings.HasPrefix(got, `{"initial":{`) {
		t.Errorf("the initial model has %s in another order of columns, and %s in its own", got, want)
	}
}
