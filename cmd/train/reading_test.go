package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Folds of one file: a run for each, or one of them; they go on as others do.
func TestFoldsOfOneFile(t *testing.T) {
	data := filepath.Join(t.TempDir(), "all.txt")
	letor(t, data, 20, 1)
	out := filepath.Join(t.TempDir(), "out")
	stdout, _ := callQuick(t, "-data", data, "-folds", "3", "-out", out)
	if !strings.Contains(stdout, "test: mean ± standard deviation, folds 1 2 3") {
		t.Errorf("no table of three folds in\n%s", stdout)
	}
	one := filepath.Join(t.TempDir(), "one")
	callQuick(t, "-data", data, "-folds", "3", "-fold", "2", "-out", one)
	want, err := os.ReadFile(filepath.Join(out, "fold2", "model.npz"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(one, "model.npz")); err != nil || !slices.Equal(got, want) {
		t.Errorf("fold 2 by itself is another model (error %v)", err)
	}
	if status, _, stderr := call("-resume", "-out", filepath.Join(out, "fold2")); status != 0 {
		t.Errorf("%d, %s", status, stderr)
	}
}

func TestReadingFlags(t *testing.T) {
	folder := t.TempDir()
	svm, csv := filepath.Join(folder, "svm.txt"), filepath.Join(folder, "plain.csv")
	write(t, svm, strings.Repeat("1 qid:1 1:1 2:3\n-1 qid:1 1:2 2:1\n", 2)+"1 qid:2 1:1 2:0\n-1 qid:2 1:2 2:2\n")
	write(t, csv, "1,a,5,2\n0,a,6,1\n1,b,7,2\n0,b,8,3\n")
	if status, _, stderr := call("-data", svm); status != 1 || !strings.Contains(stderr, "-minus-one irrelevant, or -minus-one unlabelled") {
		t.Errorf("%d, %s", status, stderr)
	}
	callQuick(t, "-data", svm, "-minus-one", "irrelevant")
	if status, _, stderr := call("-data", csv); status != 1 || !strings.Contains(stderr, "without a header") || !strings.Contains(stderr, "(-label-column, -query-column, -headerless)") {
		t.Errorf("%d, %s", status, stderr)
	}
	write(t, filepath.Join(folder, "named.csv"), "label,session,a\n1,x,5\n0,x,6\n")
	if status, _, stderr := call("-data", filepath.Join(folder, "named.csv")); status != 1 || !strings.Contains(stderr, "no query id column") || !strings.Contains(stderr, "(-label-column, -query-column, -headerless)") {
		t.Errorf("%d, %s", status, stderr)
	}
	callQuick(t, "-data", csv, "-headerless", "-query-column", "2")
	if status, stdout, stderr := call("-describe", "-data", csv, "-headerless", "-query-column", "2", "-weight-column", "3"); status != 0 || !strings.Contains(stdout, "weights of documents") {
		t.Errorf("%d, %s%s", status, stdout, stderr)
	}
}

// Where all weights are 0, nothing would be learnt.
func TestWeightsThatAreAllZero(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data.txt")
	letor(t, data, 10, 1)
	lines := strings.Count(read(t, data), "\n")
	for _, n := range []int{10, lines} { // of queries, of documents
		write(t, data+".weight", strings.Repeat("0\n", n))
		if status, _, stderr := call("-data", data); status != 1 || !strings.Contains(stderr, "all weights of "+data+" are 0") {
			t.Errorf("%d weights of 0: %d, %s", n, status, stderr)
		}
		write(t, data+".weight", strings.Repeat("0\n", n-n/2)+strings.Repeat("1\n", n/2))
		callQuick(t, "-data", data)
	}
}

// An interruption ends the reading of data, whatever they are read for.
func TestInterruptedReading(t *testing.T) {
	data := folds(t, 2)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"-data", filepath.Join(data, "Fold1")},
		{"-data", data, "-folds", "all"},
		{"-describe", "-data", filepath.Join(data, "Fold1", "train.txt")},
	} {
		if status, stdout, stderr := callWith(done, args...); status != 130 || stdout != "" || !strings.Contains(stderr, "interrupted") {
			t.Errorf("%q: %d, %s%s", args, status, stdout, stderr)
		}
	}
}

// A cache that is cut short while it is in use is a message, whoever reads it next.
func TestCutCache(t *testing.T) {
	data, cache := fold(t), t.TempDir()
	args := []string{"-data", data, "-cache", cache, "-epochs", "1"}
	if status, _, stderr := call(args...); status != 0 {
		t.Fatal(stderr)
	}
	for _, word := range []string{"test.txt", "matrix products", "epoch 1"} {
		found, _ := filepath.Glob(filepath.Join(cache, ".plrank-*"))
		if len(found) != 1 {
			t.Fatalf("caches %q", found)
		}
		stderr := &watcher{word: word, f: func() {
			if err := os.Truncate(found[0], 0); err != nil {
				t.Error(err)
			}
		}}
		var stdout strings.Builder
		status := run(t.Context(), args, &stdout, stderr)
		if status != 1 || !strings.HasSuffix(stderr.String(), found[0]+" was cut short while it was in use: please start again\n") {
			t.Errorf("cut at %q: %d, %s", word, status, stderr.String())
		}
		if status, _, stderr := call(args...); status != 0 || !strings.Contains(stderr, "the cache is built anew") {
			t.Errorf("%d, %s", status, stderr)
		}
	}
}

func TestLabelWithoutGain(t *testing.T) {
	for label, want := range map[string]string{"32": "label 32 is too high", "-3": "label -3 is negative"} {
		data := filepath.Join(t.TempDir(), "f.txt")
		write(t, data, strings.Repeat("1 qid:1 1:1 2:3\n0 qid:2 1:2 2:1\n", 2)+"# a comment\n"+label+" qid:2 1:1 2:0\n")
		if status, _, stderr := call("-data", data); status != 1 || !strings.Contains(stderr, data+":6: "+want) {
			t.Errorf("%d, %s", status, stderr)
		}
	}
}
