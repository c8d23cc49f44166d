package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/lab/internal/markdown"
)

// The parts of documents, and the tables that they link to, are made from the results.
func TestDocumentsAreFresh(t *testing.T) {
	for _, path := range []string{"../README.md", "../docs/exact.md", "../docs/pl-rank-rb.md", "exact.md", "faults.md", "judges.md", "recipe.md", "reproduction.md", "../docs/scale.md", "clicks.md", "serving.md", "speed.md", "variance.md", "worth.md"} {
		text, err := os.ReadFile("../" + path)
		if err != nil {
			t.Fatal(err)
		}
		names := partsOf(string(text))
		linked, err := linkedTables(string(text), filepath.Dir("../"+path))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(names)+len(linked) == 0 {
			t.Errorf("%s has no generated part", path)
		}
		for _, want := range linked {
			got, err := readTable(want.path)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is not what the results give (%v): go run ./reproduce document -document %s", path, want.path, err, path)
			}
		}
		for _, name := range names {
			want, err := documentPart(filepath.Dir("../"+path), name)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if got, err := markdown.Section(string(text), name); err != nil || got != want {
				t.Errorf("%s: part %s is not what the CSV files give (%v): go run ./reproduce document -document %s", path, name, err, path)
			}
		}
	}
}

func TestDocumentMakesPartsAnew(t *testing.T) {
	dir := t.TempDir()
	callVariance(t, filepath.Join(dir, "results", "mslr"))
	path := filepath.Join(dir, "DOCUMENT.md")
	document := func(text string) (int, string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		return run(t.Context(), []string{"document", "-document", path}, &stderr, &stderr), stderr.String()
	}
	const commandOf = "results/mslr/variance/command"
	if status, stderr := document("<!-- " + commandOf + " -->\nold\n<!-- /" + commandOf + " -->\n"); status != 0 {
		t.Error(stderr)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "`go run ./reproduce variance -") ||
		!strings.Contains(string(text), "` ([settings and machine](results/mslr/variance.json))\n<!-- /") {
		t.Errorf("a command became %q, %v", text, err)
	}
	status, stderr := document("# A\n<!-- results/mslr/variance/1 -->\n<!-- /results/mslr/variance/1 -->\nB\n<!-- results/mslr/variance/2 -->\nold\n<!-- /results/mslr/variance/2 -->\n")
	got, err := os.ReadFile(path)
	if err != nil || status != 0 {
		t.Fatal(err, status, stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "results", "x.csv"), []byte("a,b\n1,.20\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const others = "<!-- of-others -->\nkept\n<!-- /of-others -->\n"
	if status, stderr := document(others + "<!-- results/x.csv -->\nold\n<!-- /results/x.csv -->\n"); status != 0 {
		t.Error(stderr)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != others+"<!-- results/x.csv -->\n| a | b |\n| --- | --- |\n| 1 | .20 |\n<!-- /results/x.csv -->\n" {
		t.Errorf("a CSV file became %q", text)
	}
	tables := filepath.Join(dir, "results", "mslr", "variance-table-1.csv")
	if status, stderr := document("[the ratios](results/mslr/variance-table-1.csv)\n"); status != 0 {
		t.Error(stderr)
	}
	if table, err := readTable(tables, "D", "K", "N"); err != nil || len(table.rows) == 0 {
		t.Errorf("a linked table became %v, %v", table, err)
	}
	for _, want := range []string{"# A\n<!-- results/mslr/variance/1 -->\nNormal scores: ", "|\n<!-- /results/mslr/variance/1 -->\nB\n", "|\n<!-- /results/mslr/variance/2 -->\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "old") {
		t.Error("what was there is still there")
	}
	for text, want := range map[string]string{
		"<!-- x/none/variance/1 -->\n<!-- /x/none/variance/1 -->\n":               "none",
		"<!-- results/mslr/magic/1 -->\n<!-- /results/mslr/magic/1 -->\n":         `no chapter "magic": want a folder, one of samples, epochs`,
		"<!-- results/mslr/variance/15 -->\n<!-- /results/mslr/variance/15 -->\n": "the chapter has tables 1 to 14",
		"<!-- results/mslr/variance/1 -->\n":                                      "never closed",
		"[a](results/mslr/variance-table-15.csv)\n":                               "the chapter has tables 1 to 14",
	} {
		if status, stderr := document(text); status != command.ExitError || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, %q, want %q", text, status, stderr, want)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("an error, but the file is another one: %q", got)
		}
	}
}
