package trainer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/ranker"
)

// table is a folder with a table: age is of the query, and ranks together with price.
func table(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, split := range []string{"train", "vali", "test"} {
		var text strings.Builder
		text.WriteString("query,label,age,price\n")
		for q := range 30 {
			age := 20 + rng.IntN(60)
			for range 6 {
				price := rng.IntN(100)
				label := 0
				if (price < 40) == (age < 50) {
					label = 1
				}
				fmt.Fprintf(&text, "%s%d,%d,%d,%d\n", split, q, label, age, price)
			}
		}
		write(t, filepath.Join(dir, split+".csv"), text.String())
	}
	return dir
}

// The recipe of small data is several models in folders of their own, and their mixture. A run that was killed after the first, or
// interrupted in the second, goes on to the same bits.
func TestMixtureGoesOnWithTheSameBits(t *testing.T) {
	t.Parallel()
	data, dir := table(t), t.TempDir()
	out := func(name string) string { return filepath.Join(dir, name) }
	args := []string{"-data", data, "-epochs", "4"}
	stdout, stderr := must(t, append(args, "-out", out("whole"))...)
	for _, want := range []string{"6 models are tried", "model 6 of 6: ", "ndcg@10 on the validation split: model 1 ", "shares by "} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in %s", want, stderr)
		}
	}
	page := read(t, filepath.Join(out("whole"), cli.ReportFile))
	if !strings.Contains(stdout, ranker.MixtureKind) || !strings.Contains(page, ">Training loss, model 2, share ") || !strings.Contains(page, "the best of 4 epochs is") {
		t.Errorf("%s\n%s", stdout, page)
	}
	want, err := ranker.Open(filepath.Join(out("whole"), cli.ModelFile))
	if err != nil || want.File().Kind != ranker.MixtureKind {
		t.Fatal(err, want)
	}
	var result cli.RunSummary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out("whole"), cli.ResultFile))), &result); err != nil || len(result.Shares) != 6 || result.Epochs != 24 {
		t.Errorf("%+v, %v", result, err)
	}

	must(t, append(args, "-out", out("killed"))...)
	for _, name := range []string{"model2", "model3", "model4", "model5", "model6", cli.ModelFile, cli.ResultFile, cli.HistoryFile, cli.CurveFile} {
		if err := os.RemoveAll(filepath.Join(out("killed"), name)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var said strings.Builder
	watching := &watcher{word: "model 2 of 6", f: cancel}
	if status := run(ctx, nil, append(args, "-out", out("interrupted")), &said, watching); status == 0 {
		t.Errorf("an interrupted run: %s", watching)
	}
	if strings.Contains(watching.String(), "NaN") { // of models that were not trained
		t.Errorf("%s", watching)
	}
	if _, err := OpenRun(t.Context(), out("killed"), cli.Source{}, io.Discard); err == nil || !strings.Contains(err.Error(), "no model.npz yet: plrank train -resume") {
		t.Errorf("the page of a run without a model: %v", err)
	}
	for _, name := range []string{"killed", "interrupted", "whole"} {
		must(t, "-resume", "-out", out(name))
		got, err := ranker.Open(filepath.Join(out(name), cli.ModelFile))
		if err != nil || got.Digest() != want.Digest() {
			t.Errorf("%s: another model, or %v", name, err)
		}
	}

	// What makes other models is refused, and leaves the settings as they are: also the rate of one of the models, and other data.
	config := filepath.Join(out("whole"), cli.SettingsFile)
	was := read(t, config)
	other := table(t)
	write(t, filepath.Join(other, "train.csv"), strings.Replace(read(t, filepath.Join(data, "train.csv")), ",1,", ",0,", 1))
	for want, more := range map[string][]string{
		`was started with -lr "0.05", not "0.1"`: {"-lr", "0.1"},
		"labels":                                 {"-data", other},
	} {
		if status, _, stderr := call(append([]string{"-resume", "-out", out("whole")}, more...)...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d, %s", more, status, stderr)
		}
		if read(t, config) != was {
			t.Errorf("%v: other settings", more)
		}
	}

	// A file of settings gives the same models, and flags act on all that have the setting.
	must(t, "-config", config, "-data", data, "-out", out("again"))
	if got, err := ranker.Open(filepath.Join(out("again"), cli.ModelFile)); err != nil || got.Digest() != want.Digest() {
		t.Error("another model by -config, or", err)
	}
	for _, from := range [][]string{{"-config", config, "-data", data, "-epochs", "4"}, args} {
		_, stderr := must(t, append(from, "-hidden", "4")...)
		if want := "-hidden 4: for model 3 (which had none), 4 (which had 128,64), 5 (which had 64), 6 (which had 256,128)\n"; !strings.Contains(stderr, want) {
			t.Errorf("no %q in %s", want, stderr)
		}
	}
	if _, stderr := must(t, append(args, "-folds", "3", "-data", filepath.Join(data, "train.csv"), "-out", out("folds"))...); strings.Count(stderr, "model 2 of 6") != 3 {
		t.Errorf("folds: %s", stderr)
	}
}
