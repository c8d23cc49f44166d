package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/rundir"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// brands writes a CSV file of queries of documents of two brands, of which the labels prefer
// one. Every third query has no label above 0.
func brands(t *testing.T, queries int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	text.WriteString("label,qid,price,size,brand\n")
	for q := range queries {
		for d := range 6 {
			brand, price := "a", rng.Float64()
			if d%2 == 0 {
				brand, price = "b", price+0.5
			}
			label := 0
			if q%3 > 0 && price > 0.7 {
				label = 1
			}
			fmt.Fprintf(&text, "%d,%d,%.3f,%.3f,%s\n", label, q, price, rng.Float64(), brand)
		}
	}
	path := filepath.Join(t.TempDir(), "shop.csv")
	write(t, path, text.String())
	return path
}

// The best epoch of a sum of losses, or of one of fairness, is the one of the lowest loss on
// the validation split, unless a metric is named; the choice is said, and kept.
func TestSumOfLossesIsValidatedByTheLoss(t *testing.T) {
	data := []string{"-data", brands(t, 60), "-group-column", "brand", "-epochs", "3", "-hidden", "4"}
	for _, of := range []struct {
		args   []string
		metric string
	}{
		{[]string{"-loss", "plrank-exact+10*group-exposure"}, "loss"},
		{[]string{"-loss", "group-exposure", "-preset", "paper"}, "loss"},
		{[]string{"-loss", "plrank-exact+10*group-exposure", "-metric", "expected-ndcg@10"}, "expected-ndcg@10"},
		{[]string{"-loss", "plrank-exact+10*group-exposure", "-metric", "expected-ndcg@10 + 0.5*exposure-ratio"}, "expected-ndcg@10+0.5*exposure-ratio"},
		{[]string{"-loss", "plrank2"}, "expected-ndcg@10"},
	} {
		out := filepath.Join(t.TempDir(), "run")
		status, stdout, stderr := call(slices.Concat(data, of.args, []string{"-out", out})...)
		if status != 0 || !strings.Contains(stderr, "of the best "+of.metric) {
			t.Fatalf("%v: %d, %q", of.args, status, stderr)
		}
		var config train.Config
		var result rundir.Summary
		if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "config.json"))), &config); err != nil || config.Metric != of.metric {
			t.Errorf("%v: config.json has the metric %q (%v), want %q", of.args, config.Metric, err, of.metric)
		}
		if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "result.json"))), &result); err != nil {
			t.Fatal(err)
		}
		best, lowest := train.Epoch{}, of.metric == "loss"
		for line := range strings.Lines(read(t, filepath.Join(out, "metrics.jsonl"))) {
			var e train.Epoch
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			value, ok := e.Vali[of.metric]
			if was := best.Vali[of.metric]; !ok || best.Vali == nil || value != was && (value < was) == lowest {
				best = e
			}
		}
		if result.BestEpoch != best.Epoch {
			t.Errorf("%v: the best epoch is %d, want %d by %s", of.args, result.BestEpoch, best.Epoch, of.metric)
		}
		if !strings.Contains(stdout, of.metric) {
			t.Errorf("%v: the tables lack %s", of.args, of.metric)
		}
	}
	for _, args := range [][]string{{"-metric", "loss"}, {"-report", "map,loss"}} {
		if status, _, stderr := call(append([]string{"-model", "m.npz", "-data", "d.txt"}, args...)...); status != 2 || !strings.Contains(stderr, "does not say its loss") {
			t.Errorf("%v of a model: %d, %q", args, status, stderr)
		}
	}
}

// Training queries that are left out are counted where the loss needs their labels.
func TestLeftOutQueriesAreSaid(t *testing.T) {
	data := brands(t, 30)
	for loss, left := range map[string]bool{"plrank-exact": true, "plrank-exact+group-exposure": false} {
		_, stderr := callQuick(t, "-data", data, "-vali", data, "-group-column", "brand", "-loss", loss)
		if got := strings.Contains(stderr, "30 training queries, 10 without a relevant document left out"); got != left {
			t.Errorf("%s: %q", loss, stderr)
		}
	}
}

// All folds have the highest grade of all their data, and a model is measured by its own.
func TestHighestGradeIsShared(t *testing.T) {
	data := folds(t, 2)
	for _, split := range []string{"train", "vali", "test"} {
		path := filepath.Join(data, "Fold2", split+".txt")
		text := "\n" + read(t, path)
		write(t, path, strings.ReplaceAll(text, "\n2 ", "\n1 ")[1:])
	}
	out := filepath.Join(t.TempDir(), "run")
	callQuick(t, "-data", data, "-folds", "all", "-out", out, "-report", "err@10")
	second := filepath.Join(out, "fold2", "model.npz")
	model, err := ranker.Open(second)
	if err != nil {
		t.Fatal(err)
	}
	if model.File().Grade != 2 {
		t.Errorf("the model of the second fold has the highest grade %v, want 2", model.File().Grade)
	}
	var summary rundir.FoldsSummary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "summary.json"))), &summary); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%.4f", summary.Metrics["test"]["err@10"].Values[1])
	test := filepath.Join(data, "Fold2", "test.txt")
	status, stdout, stderr := call("-model", second, "-data", test, "-report", "err@10")
	if status != 0 || !strings.Contains(stdout, want) || !strings.Contains(stdout, "The highest grade is 2.") || strings.Contains(stderr, "grade") {
		t.Errorf("%d, %s, %q, want err@10 %s as in training", status, stdout, stderr, want)
	}
	high := filepath.Join(t.TempDir(), "high.txt")
	write(t, high, "3 qid:1 1:1 2:0.5 4:1\n0 qid:1 1:0 2:0.5 4:1\n")
	if status, _, stderr := call("-model", second, "-data", high, "-report", "err@10"); status != 1 || !strings.Contains(stderr, "label 3 is above 2, the highest grade") {
		t.Errorf("a label above: %d, %q", status, stderr)
	}
	if status, _, stderr := call("-model", second, "-data", high, "-report", "err@10", "-highest-grade", "3"); status != 0 {
		t.Errorf("with -highest-grade: %d, %q", status, stderr)
	}
	// A file of an older version: that of the data, and a warning.
	old := *model.File()
	old.Grade = 0
	path := filepath.Join(t.TempDir(), "old.npz")
	if err := old.Save(path); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr = call("-model", path, "-data", test, "-report", "err@10")
	if status != 0 || !strings.Contains(stdout, "The highest grade is 1.") || !strings.Contains(stderr, "does not say the highest grade") {
		t.Errorf("an older file: %d, %s, %q", status, stdout, stderr)
	}
	if _, _, stderr := call("-model", path, "-data", test); strings.Contains(stderr, "grade") {
		t.Errorf("a warning where nothing goes by the grade: %q", stderr)
	}
}

// With a cosine schedule a run goes on for more epochs, and says by which rates.
func TestCosineGoesOnForMoreEpochs(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	callQuick(t, "-data", fold(t), "-schedule", "cosine", "-out", out)
	status, _, stderr := call("-resume", "-out", out, "-epochs", "3")
	if status != 0 || !strings.Contains(stderr, "the learning rate goes on by the cosine schedule of 3 epochs; until now it was that of 1") {
		t.Errorf("%d, %q", status, stderr)
	}
	if lines := strings.Count(read(t, filepath.Join(out, "metrics.jsonl")), "\n"); lines != 3 {
		t.Errorf("%d epochs, want 3", lines)
	}
}
