package score

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
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

// A file of several blocks, plain, packed or from a pipe, gets the scores that package ranker
// gives it when it is read whole, bit for bit. So does one with a query that returns
// after them; from a pipe, that fails. Nothing is left but what was asked for.
func TestBlocksHaveTheScoresOfTheWholeFile(t *testing.T) {
	t.Parallel()
	_, model := training.Trained(t, fold(t), "-transform", "minmax")
	dir := t.TempDir()
	file := filepath.Join(dir, "large.txt")
	letor(t, file, 8000, 1) // 1.5 MB: two blocks, of 1 MB at most
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
		all, err := datasets.Score(m, d)
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
		must(t, "-model", model, "-data", path, "-out", out, "-qrels", out+".qrels", "-exposure", out+".exposure", "-cutoff", "2")
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
		status, stdout, stderr := call("-model", model, "-data", "/dev/fd/"+strconv.Itoa(int(r.Fd())), "-out", "-")
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
func TestAllResultsOrNone(t *testing.T) {
	t.Parallel()
	_, _, model := training.Shared(t)
	dir := t.TempDir()
	file, scores := filepath.Join(dir, "large.txt"), filepath.Join(dir, "out", "scores")
	letor(t, file, 8000, 1)
	write(t, file, read(t, file)+"1 qid:x 1:1\nx\n")
	write(t, scores+".run", "mine")
	for want, args := range map[string][]string{
		file + `:`: {"-out", scores},
		"exists":   {"-out", scores, "-run", scores + ".run"},
	} {
		status, stdout, stderr := call(append([]string{"-model", model, "-data", file}, args...)...)
		if status != 1 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%d, %s, want %s", status, stderr, want)
		}
	}
	found, _ := os.ReadDir(filepath.Dir(scores))
	if len(found) != 1 || read(t, scores+".run") != "mine" {
		t.Errorf("files %v", found)
	}
}

// Two results do not share a file: one would be lost.
func TestResultsDoNotShareAFile(t *testing.T) {
	t.Parallel()
	data, _, model := training.Shared(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "results")
	for _, other := range []string{path, filepath.Join(folder, ".") + "/./results"} {
		status, _, stderr := call("-model", model, "-data", filepath.Join(data, "test.txt"), "-out", path, "-run", other)
		if status != 2 || !strings.Contains(stderr, "two results are to go to") {
			t.Errorf("%d, %s", status, stderr)
		}
	}
	if found, _ := os.ReadDir(folder); len(found) != 0 {
		t.Errorf("files %v", found)
	}
}

// A document that is twice in a query is reported with its line, and leaves no results: trec_eval
// would refuse them.
func TestDocumentTwiceIsAnError(t *testing.T) {
	t.Parallel()
	_, _, model := training.Shared(t)
	dir := t.TempDir()
	file, run := filepath.Join(dir, "new.txt"), filepath.Join(dir, "run")
	write(t, file, "1 qid:1 1:1 # docid = A\n0 qid:2 1:1 # docid = A\n0 qid:1x 1:2 # docid = B\n1 qid:1x 1:1 # docid = B\n")
	for _, args := range [][]string{{"-run", run}, {"-run", run, "-draw", "3"}, {"-out", run, "-qrels", run + ".qrels"}} {
		status, stdout, stderr := call(append([]string{"-model", model, "-data", file}, args...)...)
		if want := file + `:4: query 1x: duplicate document "B", first at ` + file + ":3"; status != 1 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%q: %d, %s, want %s", args, status, stderr, want)
		}
	}
	if found, _ := os.ReadDir(dir); len(found) != 1 {
		t.Errorf("files %v", found)
	}
}

// Scores stand in the order of the file, the lines of a TREC run by their
// ranks, also where a query comes back and where a document has no label.
func TestScoresAreInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	_, _, model := training.Shared(t)
	dir := t.TempDir()
	rows := []string{
		"1 qid:a 1:1 2:0.1 4:1 # docid = D1", "0 qid:b 1:0 2:0.2 4:0", "-1 qid:a 1:0 2:0.3 4:0 # docid = D2", "2 qid:b 1:1 2:0.4 4:1", "0 qid:a 1:1 2:0.5",
	}
	predict := func(name string, rows []string) (scores []float64, run, qrels string) {
		file := filepath.Join(dir, name)
		write(t, file, strings.Join(rows, "\n"))
		status, stdout, stderr := call("-model", model, "-data", file, "-out", file+".s", "-run", file+".run", "-qrels", file+".qrels")
		if status != 0 || stdout != "" {
			t.Fatal(status, stdout, stderr)
		}
		for _, line := range strings.Fields(read(t, file+".s")) {
			v, err := strconv.ParseFloat(line, 64)
			if err != nil {
				t.Fatal(err)
			}
			scores = append(scores, v)
		}
		return scores, read(t, file+".run"), read(t, file+".qrels")
	}
	broken, run, qrels := predict("broken.txt", rows)
	together, _, _ := predict("together.txt", []string{rows[0], rows[2], rows[4], rows[1], rows[3]})
	want := []float64{together[0], together[3], together[1], together[4], together[2]}
	if !slices.Equal(broken, want) {
		t.Errorf("scores %v\nwant   %v", broken, want)
	}
	sorted := slices.Clone(want)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(want) {
		t.Fatalf("scores that are equal show no order: %v", want)
	}

	if want := "a 0 D1 1\na 0 a.3 0\nb 0 b.1 0\nb 0 b.2 2\n"; qrels != want {
		t.Errorf("judgements %q, want %q", qrels, want)
	}
	byDocument := map[string]float64{"D1": want[0], "b.1": want[1], "D2": want[2], "b.2": want[3], "a.3": want[4]}
	lines := strings.Split(strings.TrimSpace(run), "\n")
	last := map[string]float64{}
	rank := map[string]int{}
	for _, line := range lines {
		f := strings.Fields(line) // qid Q0 docid rank score tag
		score, err := strconv.ParseFloat(f[4], 64)
		if rank[f[0]]++; err != nil || len(f) != 6 || f[1] != "Q0" || f[3] != fmt.Sprint(rank[f[0]]) || f[5] != "plrank" ||
			float32(score) != float32(byDocument[f[2]]) || rank[f[0]] > 1 && score > last[f[0]] {
			t.Errorf("line %q", line)
		}
		last[f[0]] = score
	}
	if len(lines) != 5 || rank["a"] != 3 {
		t.Errorf("run %q", run)
	}

	// All files or none.
	file := filepath.Join(dir, "broken.txt")
	if status, _, stderr := call("-model", model, "-data", file, "-out", filepath.Join(dir, "new"), "-run", file+".run"); status != 1 || !strings.Contains(stderr, "exists") {
		t.Errorf("%d, %s", status, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("scores were written, but not the run")
	}
	write(t, filepath.Join(dir, "half.txt"), "0.5 qid:1 1:1\n")
	if status, _, stderr := call("-model", model, "-data", filepath.Join(dir, "half.txt"), "-run", filepath.Join(dir, "new"), "-qrels", filepath.Join(dir, "new.q")); status != 1 || !strings.Contains(stderr, "whole numbers") {
		t.Errorf("%d, %s", status, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("a run was written, but not the judgements")
	}
}

// A row of separated values has a score, whatever it begins with.
func TestEveryRowHasAScore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "#%d,%d,%d,%d\n", i, i%3, i/4, i%3)
	}
	write(t, in("train.csv"), "doc,label,qid,x\n"+text.String())
	training.Quick(t, "-data", in("train.csv"), "-out", in("run"))
	for _, name := range []string{"plain", "semicolons", "tabs"} {
		comma := map[string]string{"plain": ",", "semicolons": ";", "tabs": "\t"}[name]
		write(t, in(name), strings.ReplaceAll("doc,label,qid,x\n"+text.String(), ",", comma))
		status, stdout, stderr := call("-model", in("run/model.npz"), "-data", in(name), "-out", "-")
		if n := strings.Count(stdout, "\n"); status != 0 || n != 40 {
			t.Errorf("%s: status %d, %d scores for 40 rows, %s", name, status, n, stderr)
		}
	}
}

// Standard input and output are files like others.
func TestStandardStreamsAreFiles(t *testing.T) {
	t.Parallel()
	data, _, model := training.Shared(t)
	file, scores := filepath.Join(data, "test.txt"), filepath.Join(t.TempDir(), "scores")
	must(t, "-model", model, "-data", file, "-out", scores)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var stdout, stderr strings.Builder
	if status := page.DoUntil(t.Context(), new(options), []string{"-model", model, "-data", "-"}, f, &stdout, &stderr); status != 0 || stdout.String() != read(t, scores) || stdout.Len() == 0 {
		t.Errorf("%d, %q, %s", status, &stdout, &stderr)
	}
	if status, _, stderr := call("-model", model, "-data", file, "-out", "-", "-run", "-"); status != 2 || !strings.Contains(stderr, "room for one") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// Features that a file lacks, and those that the model does not know, are warned of.
func TestWarnsOfFeatures(t *testing.T) {
	t.Parallel()
	_, _, model := training.Shared(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "new.txt")
	write(t, file, "1 qid:1 1:1 99:3\n0 qid:1 2:.5\n")
	_, stderr := must(t, "-model", model, "-data", file, "-out", filepath.Join(dir, "s"))
	for _, want := range []string{"1 of the 3 features that the model uses are missing, or 0 everywhere: 4\n", "left out (ids 99 to 99)\n"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in %s", want, stderr)
		}
	}
}

// Ctrl-C ends scoring, also where documents still come, and leaves no file.
func TestInterruptedScoringLeavesNoFile(t *testing.T) {
	t.Parallel()
	_, _, model := training.Shared(t)
	file, scores := filepath.Join(t.TempDir(), "pipe"), filepath.Join(t.TempDir(), "scores")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Skip(err)
	}
	w, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends when the pipe is closed
		for q := 0; ; q++ {
			if q == 400 { // 9 MB: several blocks
				cancel()
			}
			documents := strings.Repeat(fmt.Sprintf("1 qid:%d 1:1 2:0.5 4:0\n", q), 1000)
			if _, err := w.WriteString(documents); err != nil {
				return
			}
		}
	}()
	var stdout, stderr strings.Builder
	status := page.DoUntil(ctx, new(options), []string{"-model", model, "-data", file, "-out", scores}, nil, &stdout, &stderr)
	if status != 130 || stderr.String() != "score: interrupted\n" {
		t.Errorf("%d: %q", status, &stderr)
	}
	w.Close()
	if found, _ := os.ReadDir(filepath.Dir(scores)); len(found) != 0 {
		t.Errorf("there are files: %v", found)
	}
}

// Errors are one line, and leave no file.
func TestErrorsAreOneLine(t *testing.T) {
	t.Parallel()
	data, run, model := training.Shared(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	trainFile := filepath.Join(data, "train.txt")
	other := file("other.txt", "1 qid:1 9:1\n")
	cut := file("cut.npz", read(t, model)[:500])
	scores := filepath.Join(dir, "new.scores")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-data", other}, 2, "-model and -data are both needed"},
		{[]string{"-model", model, "-qrels", "q"}, 2, "-model and -data are both needed"},
		{[]string{"-model", model, "-data", trainFile, "-out", scores, "-epochs", "3"}, 2, "there is no flag -epochs"},
		{[]string{"-model", model, "-data", trainFile, "-intents", "x"}, 2, "there is no flag -intents"},
		{[]string{"-model", model, "-data", trainFile, "-threads", "-1"}, 2, "-threads -1: want 0 to 1024"},
		{[]string{"-model", filepath.Join(dir, "none"), "-data", trainFile, "-out", scores}, 1, "no such file"},
		{[]string{"-model", trainFile, "-data", trainFile, "-out", scores}, 1, "not a model.npz, or a model of"},
		{[]string{"-model", cut, "-data", trainFile, "-out", scores}, 1, "not a complete .npz file"},
		{[]string{"-model", filepath.Join(run, "checkpoint.npz"), "-data", trainFile, "-out", scores}, 1, "not a model file"},
		{[]string{"-model", model, "-data", filepath.Join(dir, "none"), "-out", scores}, 1, "no such file"},
		{[]string{"-model", model, "-data", other, "-out", scores}, 1, "none of the features that are wanted"},
		{[]string{"-model", model, "-data", trainFile, "-out", trainFile}, 1, "exists"},
		{[]string{"-model", model, "-data", trainFile, "-out", filepath.Join(dir, "a", "b")}, 1, "no such file"},
	} {
		status, stdout, stderr := call(c.args...)
		if status != c.status || !strings.Contains(stderr, c.want) || stdout != "" || strings.Count(strings.TrimSpace(stderr), "\n") > 0 {
			t.Errorf("%v: status %d, want %d; %q, want %q", c.args, status, c.status, stderr, c.want)
		}
	}
	if _, err := os.Stat(scores); err == nil {
		t.Error("an error left a file of scores")
	}
}
