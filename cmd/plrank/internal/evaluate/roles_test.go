package evaluate

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/ranker"
)

// A model knows the columns of its training data: it is measured on the same label, by the same queries.
func TestModelIsMeasuredOnItsLabel(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		write(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	var with, without strings.Builder
	with.WriteString("Query Text,rating,clicks,price,brand\n")
	without.WriteString("Query Text,rating,price,brand\n")
	for i := range 120 {
		price := float64(i*37%100) / 7
		fmt.Fprintf(&with, "red shoes %d,%d,%d,%v,%d\n", i/6, i%5, int(price/5), price, i%2)
		fmt.Fprintf(&without, "red shoes %d,%d,%v,%d\n", i/6, i%5, price, i%2)
	}
	data, bare := path("data.csv", with.String()), path("bare.csv", without.String())
	run := filepath.Join(dir, "run")
	fit.Must(t, "-data", data, "-label-column", "clicks", "-query-column", "Query Text", "-group-column", "brand", "-ignore", "rating", "-epochs", "1", "-cache", "off", "-out", run)
	model := filepath.Join(run, "model.npz")
	known, _ := must(t, "-model", model, "-data", data, "-cache", "off", "-report", "exposure-ratio")
	given, _ := must(t, "-model", model, "-data", data, "-cache", "off", "-report", "exposure-ratio", "-label-column", "clicks", "-query-column", "Query Text", "-group-column", "brand")
	if known != given {
		t.Errorf("by the model:\n%s\nby flags:\n%s", known, given)
	}
	if other, _ := must(t, "-model", model, "-data", data, "-cache", "off", "-report", "exposure-ratio", "-label-column", "rating"); other == known {
		t.Errorf("-label-column has no effect:\n%s", other)
	}
	if status, _, stderr := call("-model", model, "-data", bare, "-cache", "off"); status != 1 || !strings.Contains(stderr, `bare.csv: header: no label column "clicks", which the training data had: -label-column names another one of Query Text, rating`) {
		t.Errorf("%d, %s", status, stderr)
	}

	// A file of an older version knows no columns.
	m, err := ranker.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	m.File().Columns = nil
	old := filepath.Join(dir, "old.npz")
	if err := m.Save(old); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := call("-model", old, "-data", data, "-query-column", "Query Text", "-cache", "off"); status != 1 || !strings.Contains(stderr, "no label column: looked for label, relevance") {
		t.Errorf("%d, %s", status, stderr)
	}
	for file, want := range map[string]string{
		path("ids.csv", "Query Text,label,price\na,1,2\n"): `no query id column: looked for qid, queryid, query, found Query Text`,
		path("none.csv", "qid,price\na,1\n"):               "none.csv: header: no label column: looked for label, relevance",
	} {
		if status, _, stderr := call("-model", old, "-data", file, "-cache", "off"); status != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%d, %s, want %q", status, stderr, want)
		}
	}
}
