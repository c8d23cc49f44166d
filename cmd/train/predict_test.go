package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// scoresOf reads a file of scores.
func scoresOf(t *testing.T, text string) (scores []float32) {
	t.Helper()
	for line := range strings.Lines(text) {
		v, err := strconv.ParseFloat(strings.TrimSpace(line), 32)
		if err != nil {
			t.Fatal(err)
		}
		scores = append(scores, float32(v))
	}
	return scores
}

// A file of many blocks, plain, packed or from a pipe, gets the scores that package ranker
// gives it when it is read whole, bit for bit. So does one with a query that returns
// after many blocks; from a pipe, that is an error. Nothing is left but what was asked for.
func TestPredictInBlocks(t *testing.T) {
	_, model := trained(t, fold(t), "-transform", "minmax")
	dir := t.TempDir()
	file := filepath.Join(dir, "large.txt")
	letor(t, file, 15000, 1) // about 3 MB
	returns := filepath.Join(dir, "returns.txt")
	write(t, returns, read(t, file)+"1 qid:2 1:1 2:7 4:0\n")
	packed := filepath.Join(dir, "large.gz")
	f, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	io.WriteString(z, read(t, file))
	z.Close()
	f.Close()
	m, err := ranker.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	want := func(file string) (scores []float32) {
		d, err := datasets.ReadFile(file, datasets.ReadOptions{FeatureIDs: m.FeatureIDs()})
		if err != nil {
			t.Fatal(err)
		}
		all, err := m.Scores(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.InSourceOrder(all) {
			scores = append(scores, float32(s))
		}
		return scores
	}
	for _, path := range []string{file, returns, packed} {
		out := filepath.Join(dir, "scores", filepath.Base(path))
		os.Mkdir(filepath.Dir(out), 0o755)
		must(t, "-model", model, "-predict", path, "-scores", out, "-qrels", out+".qrels", "-exposure", out+".exposure", "-cutoff", "2")
		if got, want := scoresOf(t, read(t, out)), want(path); !slices.Equal(got, want) {
			t.Errorf("%s: other scores", path)
		}
		if n, rows := strings.Count(read(t, out+".exposure"), "\n"), strings.Count(read(t, out), "\n"); n != rows || strings.Count(read(t, out+".qrels"), "\n") != n {
			t.Errorf("%s: %d exposures of %d documents", path, n, rows)
		}
	}
	for _, path := range []string{file, returns} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			io.WriteString(w, read(t, path))
			w.Close()
		}()
		status, stdout, stderr := call("-model", model, "-predict", "/dev/fd/"+strconv.Itoa(int(r.Fd())), "-scores", "-")
		switch {
		case path == file && (status != 0 || !slices.Equal(scoresOf(t, stdout), want(file))):
			t.Errorf("from a pipe: %d, other scores, %s", status, stderr)
		case path == returns && (status != 1 || stdout != "" || !strings.Contains(stderr, `query "2" comes back`)):
			t.Errorf("from a pipe: %d, %d bytes, %s", status, len(stdout), stderr)
		}
		r.Close()
	}
	if found, _ := os.ReadDir(filepath.Join(dir, "scores")); len(found) != 9 {
		t.Errorf("%d files, want 9: %v", len(found), found)
	}
}

// An error at the end of a long file leaves no results, and neither does one that was
// there before.
func TestPredictAllOrNothing(t *testing.T) {
	_, model := trained(t, fold(t))
	dir := t.TempDir()
	file, scores := filepath.Join(dir, "large.txt"), filepath.Join(dir, "out", "scores")
	letor(t, file, 10000, 1)
	write(t, file, read(t, file)+"1 qid:x 1:1\nx\n")
	write(t, scores+".run", "mine")
	for want, args := range map[string][]string{
		file + `:`: {"-scores", scores},
		"exists":   {"-scores", scores, "-run", scores + ".run"},
	} {
		status, stdout, stderr := call(append([]string{"-model", model, "-predict", file}, args...)...)
		if status != 1 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%d, %s, want %s", status, stderr, want)
		}
	}
	found, _ := os.ReadDir(filepath.Dir(scores))
	if len(found) != 1 || read(t, scores+".run") != "mine" {
		t.Errorf("files %v", found)
	}
}

// Two results do not share a file, of which one would be lost.
func TestPredictToOneFile(t *testing.T) {
	data := fold(t)
	_, model := trained(t, data)
	folder := t.TempDir()
	path := filepath.Join(folder, "results")
	for _, other := range []string{path, filepath.Join(folder, ".") + "/./results"} {
		status, _, stderr := call("-model", model, "-predict", filepath.Join(data, "test.txt"), "-scores", path, "-run", other)
		if status != 2 || !strings.Contains(stderr, "two results are to go to") {
			t.Errorf("%d, %s", status, stderr)
		}
	}
	if found, _ := os.ReadDir(folder); len(found) != 0 {
		t.Errorf("files %v", found)
	}
}

// What somebody else wrote while documents were scored is not overwritten.
func TestPublishOverwritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores")
	var o outputs
	out, err := o.open(path)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(out, "mine")
	write(t, path, "theirs")
	err = o.publish(io.Discard)
	o.remove()
	if err == nil || !strings.Contains(err.Error(), "exists") || read(t, path) != "theirs" {
		t.Errorf("%v, %q", err, read(t, path))
	}
	if found, _ := os.ReadDir(filepath.Dir(path)); len(found) != 1 {
		t.Errorf("files %v", found)
	}
}

// A document that is twice in a query is an error with its line, and leaves no results: trec_eval
// would refuse them.
func TestRunWithADocumentTwice(t *testing.T) {
	_, model := trained(t, fold(t))
	dir := t.TempDir()
	file, run := filepath.Join(dir, "new.txt"), filepath.Join(dir, "run")
	write(t, file, "1 qid:1 1:1 # docid = A\n0 qid:2 1:1 # docid = A\n0 qid:1x 1:2 # docid = B\n1 qid:1x 1:1 # docid = B\n")
	for _, args := range [][]string{{"-run", run}, {"-run", run, "-draw", "3"}, {"-scores", run, "-qrels", run + ".qrels"}} {
		status, stdout, stderr := call(append([]string{"-model", model, "-predict", file}, args...)...)
		if want := file + `:4: query 1x: document "B" is there twice, first at ` + file + ":3"; status != 1 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%q: %d, %s, want %s", args, status, stderr, want)
		}
	}
	if found, _ := os.ReadDir(dir); len(found) != 1 {
		t.Errorf("files %v", found)
	}
}
