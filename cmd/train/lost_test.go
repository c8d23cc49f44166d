package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A row of separated values has a score, whatever it begins with.
func TestPredictScoresEveryRow(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "#%d,%d,%d,%d\n", i, i%3, i/4, i%3)
	}
	write(t, in("train.csv"), "doc,label,qid,x\n"+text.String())
	callQuick(t, "-data", in("train.csv"), "-out", in("run"))
	for _, name := range []string{"plain", "semicolons", "tabs"} {
		comma := map[string]string{"plain": ",", "semicolons": ";", "tabs": "\t"}[name]
		write(t, in(name), strings.ReplaceAll("doc,label,qid,x\n"+text.String(), ",", comma))
		status, stdout, stderr := call("-model", in("run/model.npz"), "-predict", in(name), "-scores", "-")
		if n := strings.Count(stdout, "\n"); status != 0 || n != 40 {
			t.Errorf("%s: status %d, %d scores for 40 rows, %s", name, status, n, stderr)
		}
	}
}

// A run goes on with a copy of its data, and not with data of which a byte in the midst of
// a large file is another, be its size and time the same.
func TestResumeSeesEveryByte(t *testing.T) {
	data := t.TempDir()
	letor(t, filepath.Join(data, "vali.txt"), 10, 2)
	var text bytes.Buffer
	comment := strings.Repeat("x", 1<<17)
	changed := 0
	for i := range 128 {
		if i == 10 {
			changed = text.Len()
		}
		fmt.Fprintf(&text, "%d qid:%d 1:%d 2:%d 4:1 # %s\n", i%3, i/4, i%3, i%7, comment)
	}
	path := filepath.Join(data, "train.txt")
	write(t, path, text.String())
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	out, cache := filepath.Join(t.TempDir(), "run"), t.TempDir()
	callQuick(t, "-data", data, "-cache", cache, "-out", out)

	text.Bytes()[changed]++
	write(t, path, text.String())
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := call("-resume", "-cache", cache, "-out", out); status != 1 || !strings.Contains(stderr, "labels of the training split differ") {
		t.Errorf("another label: %d, %s", status, stderr)
	}
	text.Bytes()[changed]--
	other := t.TempDir()
	write(t, filepath.Join(other, "train.txt"), text.String())
	letor(t, filepath.Join(other, "vali.txt"), 10, 2)
	if status, _, stderr := call("-resume", "-cache", cache, "-out", out, "-data", other); status != 0 {
		t.Errorf("a copy: %d, %s", status, stderr)
	}
}

// A feature by which documents are grouped is no input; files to be scored and measured may
// have it. A model that was trained with it still gets it.
func TestGroupColumnIsNoInput(t *testing.T) {
	data, dir := fold(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	test := filepath.Join(data, "test.txt")
	rows := strings.Count(read(t, test), "\n")
	for name, args := range map[string][]string{"with": {"-group-column", "1"}, "without": nil} {
		callQuick(t, append([]string{"-data", data, "-out", in(name)}, args...)...)
		model := filepath.Join(in(name), "model.npz")
		status, stdout, stderr := call("-model", model, "-predict", test, "-scores", "-")
		if n := strings.Count(stdout, "\n"); status != 0 || n != rows {
			t.Errorf("%s: status %d, %d scores for %d rows, %s", name, status, n, rows, stderr)
		}
		if left := strings.Contains(stderr, "features that are not wanted were left out (ids 1 to 1)"); left != (name == "with") {
			t.Errorf("%s: %s", name, stderr)
		}
		status, measured, stderr := call("-model", model, "-data", test, "-group-column", "1", "-report", "exposure-ratio")
		if status != 0 || !strings.Contains(measured, "exposure-ratio") || strings.Contains(stderr, "missing, or 0 everywhere") {
			t.Errorf("%s: status %d, %s, %s", name, status, measured, stderr)
		}
	}
}

// A path of data that does not exist is what the message is about, in a folder with others.
func TestMissingData(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("train", "testdata"), 0o777); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := call("-data", "missing.txt"); status != 1 || !strings.Contains(stderr, "missing.txt") || strings.Contains(stderr, "testdata") {
		t.Errorf("%d, %s", status, stderr)
	}
}
