package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLastDecimalDigitMayDiffer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"a", "a", true},
		{"a", "b", false},
		{"NDCG 0.4312 ok", "NDCG 0.4313 ok", true},
		{"NDCG 0.4312 ok", "NDCG 0.4314 ok", false},
		{"NDCG 0.4312 ok", "NDCG 0.4312", false},
		{"3 queries", "4 queries", false}, // whole numbers are exact
		{"1.2e-05", "1.3e-05", true},
		{"1.2e-05", "1.4e-05", false},
		{"1.2e-05", "1.2e-04", false},
		{"9.99e-05", "1.00e-04", true},
		{"-0.0001", "0.0000", true},
		{"-0.001", "0.001", false},
		{"<td>0.12</td><td>1</td>", "<td>0.13</td><td>1</td>", true},
		{"NaN", "0.10", false},
	} {
		if got := same(c.a, c.b); got != c.want {
			t.Errorf("same(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

const before = `{"cells": [
 {"cell_type": "markdown", "source": "x"},
 {"cell_type": "code", "metadata": {}, "source": ["first()\n", "more()"], "outputs": [
  {"output_type": "stream", "name": "stdout", "text": ["a\n", "0.12"]}, {"output_type": "stream", "name": "stdout", "text": "34 b\n"}]},
 {"cell_type": "code", "metadata": {"tags": ["nbval-ignore-output"]}, "source": "time()", "outputs": [
  {"output_type": "stream", "name": "stdout", "text": "1 s"}]},
 {"cell_type": "code", "metadata": {}, "source": "show()", "outputs": [
  {"output_type": "execute_result", "execution_count": 3, "data": {"image/svg+xml": "<svg>1</svg>", "text/html": "<b>7</b>"}, "metadata": {}}]}
], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`

func TestCompareNamesDifferentCells(t *testing.T) {
	dir := t.TempDir()
	read := func(text string) notebook {
		path := filepath.Join(dir, "n.ipynb")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		n, err := readNotebook(path)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, c := range []struct {
		old, new string // replaced in the executed notebook
		want     string // the difference
	}{
		{"", "", ""},
		{"34 b", "35 b", ""},
		{"34 b", "44 b", "code cell 1 (first()): saved\n\t0.1234 b\nnow\n\t0.1244 b"},
		{"34 b", "34 c", "code cell 1 (first()): saved\n\t0.1234 b\nnow\n\t0.1234 c"},
		{"1 s", "2 s", ""},
		{"<svg>1", "<svg>2", ""},
		{"<b>7", "<b>8", "code cell 3 (show()): saved\n\t<b>7</b>\nnow\n\t<b>8</b>"},
		{`"image/svg+xml": "<svg>1</svg>", `, "", "code cell 3 (show()): 2 outputs were saved, now there are 1"},
		{`"code", "metadata": {}, "source": "show()"`, `"markdown", "source": "x"`, "3 code cells became 2"},
	} {
		after := before
		if c.old != "" {
			after = strings.Replace(before, c.old, c.new, 1)
			if after == before {
				t.Fatalf("%q does not occur", c.old)
			}
		}
		if got := strings.Join(compare(read(before), read(after)), "|"); got != c.want {
			t.Errorf("%q → %q: %q, want %q", c.old, c.new, got, c.want)
		}
	}
}

// What is written reads back with the same outputs, streams in one piece.
func TestWrittenNotebookReadsBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "n.ipynb")
	if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	n, err := readNotebook(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.write(path); err != nil {
		t.Fatal(err)
	}
	again, err := readNotebook(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := compare(n, again); len(d) != 0 {
		t.Error(d)
	}
	if got := len(again.codeCells()[0]["outputs"].([]any)); got != 1 {
		t.Errorf("%d outputs, want the pieces of the stream in one", got)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n   \"outputs\": [", "<svg>", `"nbformat": 4,`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in %s", want, b)
		}
	}
	if err := os.WriteFile(path, []byte(`{"a": 1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readNotebook(path); err == nil || !strings.Contains(err.Error(), "no cells") {
		t.Errorf("error %v", err)
	}
}
