package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/plrank/plrank/internal/rundir"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// trained is the folder of a quick run on data.
func trained(t *testing.T, data string, more ...string) (out, model string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "run")
	callQuick(t, append([]string{"-data", data, "-out", out}, more...)...)
	return out, filepath.Join(out, "model.npz")
}

// must runs the command, which must end well.
func must(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	status, stdout, stderr := call(args...)
	if status != 0 {
		t.Fatalf("%v: %d, %s", args, status, stderr)
	}
	return stdout, stderr
}

// Measuring says how many queries the model was trained on, in whatever format they come, and
// training says which queries two splits share.
func TestEvaluationOnTrainingDataIsSaid(t *testing.T) {
	data := fold(t)
	_, model := trained(t, data)
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, text)
		return path
	}
	// The first queries of the training split, with other ids and labels, and another query.
	var letor, separated strings.Builder
	separated.WriteString("label,qid,a,b,c,d\n")
	seen := 0
	for line := range strings.Lines(read(t, filepath.Join(data, "train.txt"))) {
		var label, q, a, d int
		var b string
		if _, err := fmt.Sscanf(line, "%d qid:%d 1:%d 2:%s 4:%d", &label, &q, &a, &b, &d); err != nil {
			t.Fatal(err)
		}
		if q > 7 {
			break
		}
		seen = q
		if q == 7 {
			b = "0.5" + b[2:]
		}
		fmt.Fprintf(&letor, "%d qid:%d 4:%d 2:%s 1:%d\n", 2-label, 100-q, d, b, a)
		fmt.Fprintf(&separated, "%d,x%d,%d,%s,,%d\n", label, q, a, b, d)
	}
	if seen != 7 {
		t.Fatalf("%d queries", seen)
	}
	for _, path := range []string{file("seen.txt", letor.String()), file("seen.csv", separated.String())} {
		stdout, stderr := must(t, "-model", model, "-data", path, "-json")
		if want := path + ": 6 of 7 queries were trained on"; !strings.Contains(stderr, want) || !strings.Contains(stdout, `"trainedOn":6`) {
			t.Errorf("%s\n%s\nwant %q", stdout, stderr, want)
		}
	}
	if _, stderr := must(t, "-model", model, "-data", filepath.Join(data, "test.txt")); strings.Contains(stderr, "trained on") {
		t.Errorf("of a test file: %s", stderr)
	}
	m, err := ranker.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	if _, stderr := must(t, "-model", model, "-data", data); !strings.Contains(stderr, "train.txt: 30 of 30 queries") || !strings.Contains(stderr, "version "+m.Digest()) {
		t.Errorf("of a folder: %s", stderr)
	}
	write(t, filepath.Join(data, "test.txt"), letor.String())
	_, stderr := callQuick(t, "-data", data)
	if want := "test.txt: 6 of 7 queries have the same documents as queries of the training split"; !strings.Contains(stderr, want) {
		t.Errorf("%s\nwant %q", stderr, want)
	}
}

// A saved model is measured to be what its run reported, on a folder and on a file.
func TestEvaluate(t *testing.T) {
	data := fold(t)
	out, model := trained(t, data)
	var result rundir.Summary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "result.json"))), &result); err != nil {
		t.Fatal(err)
	}
	stdout, _ := must(t, "-model", model, "-data", data, "-json", "-evaluation-samples", "5")
	var report train.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	for i, split := range []string{"train", "vali", "test"} {
		is := report.Splits[i]
		if is.Name != split || len(result.Metrics[split]) != len(report.Metrics) {
			t.Fatalf("%s: %v", is.Name, result.Metrics)
		}
		for _, m := range report.Metrics {
			if a, b := is.Value(1, m), float64(result.Metrics[split][m]); a != b {
				t.Errorf("%s %s: %v, in result.json %v", split, m, a, b)
			}
		}
	}
	stdout, _ = must(t, "-model", model, "-data", filepath.Join(data, "test.txt"), "-report", "map")
	for _, want := range []string{"\ndata: 10 queries", "map", "random order", "  model  "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"-epochs 3", "-epochs has no meaning beside -model and -data"},
		{"-metric ndgc@5", "did you mean ndcg?"},
		{"-importance x.txt", ".svg, .png or .pdf"},
	} {
		status, _, stderr := call(append([]string{"-model", model, "-data", data}, strings.Fields(c.args)...)...)
		if status != 2 || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "train: train:") {
			t.Errorf("%s: %d, %s", c.args, status, stderr)
		}
	}
}

func TestImportance(t *testing.T) {
	data := fold(t) // the label is the sum of features 1 and 4; 2 is noise
	_, model := trained(t, data, "-epochs", "20", "-hidden", "8")
	plot := filepath.Join(t.TempDir(), "importance.svg")
	stdout, stderr := must(t, "-model", model, "-data", data, "-importance", plot)
	at := strings.Index(stdout, "gets worse without a feature")
	if at < 0 {
		t.Fatal(stdout)
	}
	lines := strings.Split(strings.TrimSpace(stdout[at:]), "\n")
	if len(lines) != 1+3 || strings.Contains(lines[1], "feature 2 ") || strings.Contains(lines[2], "feature 2 ") {
		t.Errorf("%q", lines)
	}
	if !strings.Contains(stderr, "vali.txt") {
		t.Errorf("%s: want the validation split", stderr)
	}
	if svg := read(t, plot); !strings.Contains(svg, ">Permutation importance<") || !strings.Contains(svg, ">4<") {
		t.Error(svg)
	}
	if status, _, stderr := call("-model", model, "-data", data, "-importance", plot); status != 1 || !strings.Contains(stderr, "exists") {
		t.Errorf("the plot was overwritten: %d, %s", status, stderr)
	}
}

// Standard input and output are files like others.
func TestStandardStreams(t *testing.T) {
	data := fold(t)
	_, model := trained(t, data)
	file, scores := filepath.Join(data, "test.txt"), filepath.Join(t.TempDir(), "scores")
	must(t, "-model", model, "-predict", file, "-scores", scores)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer func(was *os.File) { os.Stdin = was }(os.Stdin)
	os.Stdin = f
	if stdout, _ := must(t, "-model", model, "-predict", "-", "-scores", "-"); stdout != read(t, scores) || stdout == "" {
		t.Errorf("%q", stdout)
	}
	if status, _, stderr := call("-model", model, "-predict", file, "-scores", "-", "-run", "-"); status != 2 || !strings.Contains(stderr, "room for one") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// Features that a file lacks, and those that the model does not know, are warned of.
func TestPredictWarns(t *testing.T) {
	_, model := trained(t, fold(t))
	dir := t.TempDir()
	file := filepath.Join(dir, "new.txt")
	write(t, file, "1 qid:1 1:1 99:3\n0 qid:1 2:.5\n")
	_, stderr := must(t, "-model", model, "-predict", file, "-scores", filepath.Join(dir, "s"))
	for _, want := range []string{"1 of the 3 features that the model uses are missing, or 0 everywhere: 4\n", "left out (ids 99 to 99)\n"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in %s", want, stderr)
		}
	}
}

// Drawn rankings have the frequencies of the policy, and the exposures are its own.
func TestDraw(t *testing.T) {
	_, model := trained(t, fold(t))
	dir := t.TempDir()
	file := filepath.Join(dir, "new.txt")
	const queries, files, draws = 400, 50, 400 * 50
	var text strings.Builder
	for q := range queries { // of the same documents
		fmt.Fprintf(&text, "0 qid:%[1]d 1:1 4:1 # a\n0 qid:%[1]d 1:1 # b\n0 qid:%[1]d 2:1 # c\n", q+1)
	}
	write(t, file, text.String())
	path := func(name string) string { return filepath.Join(dir, name) }
	must(t, "-model", model, "-predict", file, "-scores", path("s"), "-exposure", path("e"), "-cutoff", "2", "-run", path("r"), "-draw", strconv.Itoa(files), "-seed", "7")
	numbers := func(name string) (list []float64) {
		for line := range strings.Lines(read(t, path(name))) {
			v, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, v)
		}
		return list
	}
	scores, discounts := numbers("s")[:3], []float64{1, 1 / math.Log2(3)}
	moments, err := plackett.EnumerateMoments(scores, make([]float64, 3), discounts)
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]float64{} // how often a document stands first
	for i := range files {
		lines := strings.Split(strings.TrimSpace(read(t, path(fmt.Sprintf("r.%d", i+1)))), "\n")
		if len(lines) != 3*queries {
			t.Fatalf("%d lines, want %d", len(lines), 3*queries)
		}
		seen := map[string]bool{} // trec_eval takes each document of a query once
		for _, line := range lines {
			f := strings.Fields(line)
			if seen[f[2]] = true; f[5] != fmt.Sprintf("plrank-%d", i+1) {
				t.Errorf("tag %s", f[5])
			}
			if f[3] == "1" {
				_, document, _ := strings.Cut(f[2], ".")
				first[document] += 1. / draws
			}
		}
		if len(seen) != len(lines) {
			t.Errorf("file %d has documents twice", i+1)
		}
	}
	sum := 0.0
	for _, s := range scores {
		sum += math.Exp(s)
	}
	for i, e := range numbers("e")[:3] {
		if math.Abs(e-moments.Exposure[i]) > 1e-5 { // scores are written as float32
			t.Errorf("document %d: exposure %v, want %v", i, e, moments.Exposure[i])
		}
		p, id := math.Exp(scores[i])/sum, strconv.Itoa(i+1)
		if got := first[id]; math.Abs(got-p) > 4*math.Sqrt(p*(1-p)/draws)+1e-4 {
			t.Errorf("document %s is first in %v of the draws, want %v", id, got, p)
		}
	}
	if status, _, stderr := call("-model", model, "-predict", file, "-scores", path("t"), "-draw", "3"); status != 2 || !strings.Contains(stderr, "-run") {
		t.Errorf("%d, %s", status, stderr)
	}
	for args, want := range map[string]string{"- 2": "a file of its own", "r2 1001": "1 to 1000", "r2 -1": "1 to 1000"} {
		run, n, _ := strings.Cut(args, " ")
		if status, stdout, stderr := call("-model", model, "-predict", file, "-run", run, "-draw", n); status != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", args, status, stderr)
		}
	}
	must(t, "-model", model, "-predict", file, "-run", path("one"), "-draw", "1", "-seed", "7")
	if read(t, path("one")) != read(t, path("r.1")) {
		t.Error("the only ranking is not the first of several")
	}
	if status, _, stderr := call("-model", model, "-predict", file, "-scores", path("t"), "-seed", "3"); status != 2 || !strings.Contains(stderr, "without -draw") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// A run is repeated from its config.json, and flags override it.
func TestConfig(t *testing.T) {
	out, _ := trained(t, fold(t), "-lr", "0.005", "-optimizer", "adam", "-seed", "9")
	config := filepath.Join(out, "config.json")
	again := filepath.Join(t.TempDir(), "again")
	must(t, "-config", config, "-out", again)
	for _, name := range []string{"config.json", "result.json", "model.npz"} {
		if read(t, filepath.Join(out, name)) != read(t, filepath.Join(again, name)) {
			t.Errorf("%s differs", name)
		}
	}
	o, err := parse([]string{"-config", config, "-seed", "10", "-epochs", "7"})
	if err != nil || o.Seed != 10 || o.Epochs != 7 || o.LearningRate != 0.005 || o.Optimizer != "adam" {
		t.Errorf("%+v, %v", o, err)
	}
	bad := filepath.Join(t.TempDir(), "bad.json")
	write(t, bad, `{"learningrat": 3}`)
	for args, want := range map[string]string{
		"-preset paper -config " + config: "-preset has no meaning beside -config",
		"-config none.json":               "none.json: no such file",
		"-config " + bad:                  `unknown field "learningrat"`,
	} {
		if status, _, stderr := call(strings.Fields(args)...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", args, status, stderr)
		}
	}
}

// With -json, standard output is an object for each epoch and one at the end.
func TestJSON(t *testing.T) {
	data := fold(t)
	stdout, stderr := callQuick(t, "-data", data, "-epochs", "3", "-json")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 3+1 || !strings.Contains(stderr, "epoch 3/3") {
		t.Fatalf("%s%s", stdout, stderr)
	}
	for i, line := range lines {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
		if i < 3 && object["epoch"] != float64(i+1) || i == 3 && object["splits"] == nil {
			t.Errorf("line %d: %s", i, line)
		}
	}
	if stdout, _ := callQuick(t, "-data", folds(t, 3), "-folds", "all", "-json"); !json.Valid([]byte(stdout)) || !strings.Contains(stdout, `"folds":[1,2,3]`) {
		t.Error(stdout)
	}
}

func TestVersion(t *testing.T) {
	if stdout, _ := must(t, "-version"); !strings.HasPrefix(stdout, "plrank ") || !strings.Contains(stdout, " go1.") {
		t.Error(stdout)
	}
}

// Why a run stopped is said.
func TestEnding(t *testing.T) {
	for n, want := range map[int]string{
		3: "stopped after epoch 3: none of the last 2 was better (-patience)",
		9: "all 9 epochs are done",
	} {
		if got := ending(train.Config{Optimization: train.Optimization{Epochs: 9, Patience: 2}}, &train.Result{History: make([]train.Epoch, n)}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Ctrl-C ends scoring, also where documents still come, and leaves no file.
func TestPredictInterrupted(t *testing.T) {
	_, model := trained(t, fold(t))
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
	status, _, stderr := callWith(ctx, "-model", model, "-predict", file, "-scores", scores)
	if status != 130 {
		t.Errorf("%d: %s", status, stderr)
	}
	w.Close()
	if found, _ := os.ReadDir(filepath.Dir(scores)); len(found) != 0 {
		t.Errorf("there are files: %v", found)
	}
}

// Tables fit 80 columns; what is too wide for that is there, too.
func TestTableWidth(t *testing.T) {
	var w strings.Builder
	rows := []string{"random order", "feature 7, descending", "plrank-rb"}
	columns := []string{"dcg@10", "ndcg@5", "expected-dcg@10", "expected-ndcg@5", "expected-ndcg@10", strings.Repeat("x", 90), "map"}
	printTable(&w, rows, columns, func(row int, column string) string { return fmt.Sprintf("%d%s", row, column[:1]) })
	for _, line := range strings.Split(w.String(), "\n") {
		if n := len([]rune(line)); n > 80 && !strings.Contains(line, "xxx") && n != 21+2+90 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	want := "                       dcg@10  ndcg@5  expected-dcg@10  expected-ndcg@5\n" +
		"         random order      0d      0n               0e               0e\n" +
		"feature 7, descending      1d      1n               1e               1e\n" +
		"            plrank-rb      2d      2n               2e               2e\n" +
		"                       expected-ndcg@10\n"
	if !strings.HasPrefix(w.String(), want) {
		t.Errorf("%s\nwant\n%s", &w, want)
	}
	for _, c := range columns {
		if strings.Count(w.String(), c) < 1 {
			t.Errorf("no %s", c)
		}
	}
}

// The note below a report says where the best feature was chosen by a part of the data.
func TestFeatureNote(t *testing.T) {
	for queries, want := range map[int]int{0: 0, 431: 1} {
		var w strings.Builder
		printConvention(&w, &train.Report{Convention: "skip", FeatureQueries: queries, Splits: []train.SplitReport{{Queries: 18919}}})
		if n := strings.Count(w.String(), "The feature was chosen by 431 of the 18919 training queries.\n"); n != want {
			t.Errorf("%d: %s", queries, &w)
		}
	}
}
