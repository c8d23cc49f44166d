package trainer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Folds of one file: a run for each, or one of them; they go on as others do.
func TestOneFileIsDealtToFolds(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "all.txt")
	letor(t, data, 20, 1)
	out := filepath.Join(t.TempDir(), "out")
	stdout, _ := callQuick(t, "-data", data, "-folds", "3", "-out", out)
	if !strings.Contains(stdout, "\nmean ± standard deviation, folds 1 2 3") {
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

func TestErrorsNameTheFlagsThatHelp(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	svm, csv := filepath.Join(folder, "svm.txt"), filepath.Join(folder, "plain.csv")
	write(t, svm, strings.Repeat("1 qid:1 1:1 2:3\n-1 qid:1 1:2 2:1\n", 2)+"1 qid:2 1:1 2:0\n-1 qid:2 1:2 2:2\n")
	write(t, csv, "1,a,5,2\n0,a,6,1\n1,b,7,2\n0,b,8,3\n")
	if status, _, stderr := call("-data", svm); status != 1 || !strings.Contains(stderr, "-minus-one irrelevant, or -minus-one unlabelled") {
		t.Errorf("%d, %s", status, stderr)
	}
	callQuick(t, "-data", svm, "-minus-one", "irrelevant")
	if status, _, stderr := call("-data", csv); status != 1 || !strings.Contains(stderr, "without a header") || !strings.Contains(stderr, "(-headerless)") {
		t.Errorf("%d, %s", status, stderr)
	}
	write(t, filepath.Join(folder, "named.csv"), "label,session,a\n1,x,5\n0,x,6\n")
	if status, _, stderr := call("-data", filepath.Join(folder, "named.csv")); status != 1 || !strings.Contains(stderr, "no query id column") || !strings.Contains(stderr, "(-query-column NAME names it)") {
		t.Errorf("%d, %s", status, stderr)
	}
	callQuick(t, "-data", csv, "-headerless", "-query-column", "2")
}

// Where all weights are 0, nothing would be learnt.
func TestWeightsThatAreAllZeroAreAnError(t *testing.T) {
	t.Parallel()
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
func TestInterruptionEndsReading(t *testing.T) {
	t.Parallel()
	data := folds(t, 2)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"-data", filepath.Join(data, "Fold1")},
		{"-data", data, "-folds", "all"},
	} {
		if status, stdout, stderr := callWith(done, args...); status != 130 || stdout != "" || !strings.Contains(stderr, "interrupted") {
			t.Errorf("%q: %d, %s%s", args, status, stdout, stderr)
		}
	}
}

// A cache that is cut short while it is in use is a message, whoever reads it next.
func TestCacheThatIsCutShortIsAMessage(t *testing.T) {
	t.Parallel()
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
		status := run(t.Context(), nil, args, &stdout, stderr)
		if status != 1 || !strings.HasSuffix(stderr.String(), found[0]+" was cut short while it was in use: please start again\n") {
			t.Errorf("cut at %q: %d, %s", word, status, stderr.String())
		}
		if status, _, stderr := call(args...); status != 0 || !strings.Contains(stderr, "the cache is built anew") {
			t.Errorf("%d, %s", status, stderr)
		}
	}
}

func TestLabelWithoutGainIsAnError(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{"32": "label 32 is too high", "-3": "column 1: label -3: want 0 or more"} {
		data := filepath.Join(t.TempDir(), "f.txt")
		write(t, data, strings.Repeat("1 qid:1 1:1 2:3\n0 qid:2 1:2 2:1\n", 2)+"# a comment\n"+label+" qid:2 1:1 2:0\n")
		if status, _, stderr := call("-data", data); status != 1 || !strings.Contains(stderr, data+":6: "+want) {
			t.Errorf("%d, %s", status, stderr)
		}
	}
}

// A run goes on with a copy of its data, and not with data where a byte in the midst of
// a large file is another, be its size and time the same.
func TestResumeSeesEveryByte(t *testing.T) {
	t.Parallel()
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

// A path of data that does not exist is what the message is about, in a folder with others.
func TestMissingDataIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("train", "testdata"), 0o777); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := call("-data", "missing.txt"); status != 1 || !strings.Contains(stderr, "missing.txt") || strings.Contains(stderr, "testdata") {
		t.Errorf("%d, %s", status, stderr)
	}
}
