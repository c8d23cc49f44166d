package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/lab/internal/csvfile"
	"github.com/plrank/plrank/lab/internal/markdown"
)

func TestPageIsWhatTheMeasurementsGive(t *testing.T) {
	parts, means, err := tablesOf(".")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../objectives.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if got, err := markdown.Section(string(page), p.name); err != nil || got != p.text {
			t.Errorf("%s is not what the CSV files give (%v): go run ./objectives tables -write objectives.md", p.name, err)
		}
	}
	columns, rows, err := csvfile.Read("means.csv")
	if err != nil || !slices.EqualFunc(append([][]string{columns}, rows...), means, slices.Equal[[]string]) {
		t.Errorf("means.csv is not what runs.csv gives (%v)", err)
	}
}

// The second query has no relevant document, and is left out; the relevant one of the first is at rank 2 of 3.
func TestScoresAreMeasuredByHand(t *testing.T) {
	folder := t.TempDir()
	data, scores := filepath.Join(folder, "test.txt"), filepath.Join(folder, "1.scores")
	for path, text := range map[string]string{
		data:   "0 qid:1 1:1\n1 qid:1 1:2\n0 qid:1 1:3\n0 qid:2 1:1\n0 qid:2 1:2\n",
		scores: "3\n2\n1\n5\n4\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	test, err := datasets.ReadFile(data, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	values, err := measureScores(scores, test)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"ndcg@10": 1 / math.Log2(3), "mrr@10": .5, "map@10": .5, "map": .5, "err@10": .25, "hits@1": 0} {
		if got := values[name]; len(got) != 1 || math.Abs(got[0]-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if err := os.WriteFile(scores, []byte("1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := measureScores(scores, test); err == nil || !strings.Contains(err.Error(), "1 scores for the 5 documents") {
		t.Errorf("too few scores: %v", err)
	}
}

// An exact loss that is ahead of all others on every query has a certain difference from each; among the rest there is none.
func TestExactLossIsComparedWithAllOthersByItsMetric(t *testing.T) {
	values := perQuery{}
	for _, m := range methods {
		values[m.name] = map[string][]float64{}
		for _, name := range measures {
			for q := range 20 {
				v := float64(q%3) / 10
				if m.own == "mrr@10" && name == m.own {
					v += .5 + float64(q%2)/100
				}
				values[m.name][name] = append(values[m.name][name], v)
			}
		}
	}
	old := [][]string{{"mrr@10", "exact MRR", "softmax", "msrd", "7", "0.12500", "0.5", "1"}}
	lines, err := testAll(map[string]perQuery{"f1": values}, old)
	if err != nil {
		t.Fatal(err)
	}
	kept := slices.IndexFunc(lines, func(line []string) bool { return slices.Equal(line[:7], old[0][:7]) })
	if want := 2 + 5*(len(methods)-1); len(lines) != want || kept < 0 {
		t.Fatalf("%d lines, want %d with that of another set", len(lines), want)
	}
	for _, line := range slices.Delete(lines, kept, kept+1)[1:] {
		ahead := line[0] == "mrr@10"
		if want := map[bool]string{true: "0.50500", false: "0.00000"}[ahead]; line[5] != want {
			t.Errorf("%v: want a difference of %s", line, want)
		}
		if certain := strings.Contains(line[7], "e-"); certain != ahead {
			t.Errorf("%v: certain is %t", line, certain)
		}
	}
}
