package main

import (
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/clicks"
	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/cmd/plrank/internal/evaluate"
	"github.com/plrank/plrank/cmd/plrank/internal/score"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

var (
	training   = commandtest.Command(trainer.Run)
	scoring    = commandtest.Command(score.Run)
	evaluating = commandtest.Command(evaluate.Run)
	onLogs     = commandtest.Command(clicks.Run)
)

// -cutoff all, or 0, is recorded as a word, kept by -config and -resume, and holds for all folds and
// for evaluate.
func TestEveryRankCounts(t *testing.T) {
	t.Parallel()
	data := commandtest.Fold(t)
	path := filepath.Join(data, "train.txt")
	commandtest.Write(t, path, commandtest.Read(t, path)+strings.Repeat("1 qid:99 1:1 2:0.5 4:0\n0 qid:99 2:0.25 4:1\n", 20))
	flags := []string{"-loss", "plrank-exact+disparity", "-cutoff", "all"}
	out, model := training.Trained(t, data, flags...)
	config := filepath.Join(out, "config.json")
	if text := commandtest.Read(t, config); !strings.Contains(text, `"cutoff": "all"`) {
		t.Error(text)
	}
	same := func(how, other string, files ...string) {
		t.Helper()
		for _, name := range append(files, "result.json", "model.npz") {
			if commandtest.Read(t, filepath.Join(out, name)) != commandtest.Read(t, filepath.Join(other, name)) {
				t.Errorf("%s: another %s", how, name)
			}
		}
	}
	zero, _ := training.Trained(t, data, flags[0], flags[1], "-cutoff", "0")
	same("-cutoff 0", zero, "config.json")
	again := filepath.Join(t.TempDir(), "again")
	training.Must(t, "-config", config, "-out", again)
	same("-config", again, "config.json")
	if status, _, stderr := training.Call("-resume", "-out", out, "-cutoff", "5"); status != 2 || !strings.Contains(stderr, `started with -cutoff "all", not "5"`) {
		t.Errorf("%d, %s", status, stderr)
	}
	training.Must(t, "-resume", "-out", out, "-cutoff", "0", "-epochs", "2")
	training.Must(t, "-config", config, "-out", filepath.Join(again, "whole"), "-epochs", "2")
	same("-resume", filepath.Join(again, "whole"))

	stdout, _ := training.Quick(t, append(flags, "-data", commandtest.Folds(t, 3), "-folds", "all")...)
	measured, _ := evaluating.Must(t, "-model", model, "-data", data, "-cutoff", "all")
	for _, text := range []string{stdout, measured} {
		if words := strings.Fields(text); !slices.Contains(words, "dcg") || !slices.Contains(words, "expected-dcg") {
			t.Errorf("no dcg of all ranks: %s", text)
		}
	}
}

// A group objective on data with a column of groups brings the groups nearer to each
// other, and its measure is in the tables and files without being asked for.
func TestGroupLossBringsGroupsNearer(t *testing.T) {
	t.Parallel()
	data := commandtest.Shop(t)
	var out string // of the last run
	ratio := func(args ...string) float64 {
		t.Helper()
		out = filepath.Join(t.TempDir(), "run")
		args = append([]string{"-data", data, "-epochs", "10", "-members", "1", "-samples", "20", "-hidden", "8", "-lr", "0.01",
			"-group-column", "seller", "-out", out}, args...)
		status, stdout, stderr := training.Call(args...)
		if status != 0 || !strings.Contains(stdout, "exposure-ratio") {
			t.Fatal(status, stderr, stdout)
		}
		var result cli.RunSummary
		if err := json.Unmarshal([]byte(commandtest.Read(t, filepath.Join(out, "result.json"))), &result); err != nil {
			t.Fatal(err)
		}
		return float64(result.Metrics["test"]["exposure-ratio"])
	}
	alone := ratio("-report", "exposure-ratio")
	fair := ratio("-loss", "plrank-rb+3*group-exposure", "-metric", "exposure-ratio")
	if !(fair > alone+0.1 && fair <= 1) {
		t.Errorf("the ratio is %v, with group-exposure in the loss %v", alone, fair)
	}
	// Going on with nothing left to do reads the groups again.
	if status, _, stderr := training.Call("-resume", "-out", out); status != 0 {
		t.Fatal(stderr)
	}
	// A file to be scored needs no group.
	bare := filepath.Join(t.TempDir(), "bare.csv")
	commandtest.Write(t, bare, "query,price,size\n1,0,1.5\n1,1,2.5\n")
	scores := filepath.Join(t.TempDir(), "scores")
	if status, _, stderr := scoring.Call("-model", filepath.Join(out, "model.npz"), "-data", bare, "-out", scores); status != 0 {
		t.Fatal(stderr)
	}
}

// Separated values: names of features are in reports and in the model, which finds
// them in a file of other columns; columns of other names can be named.
func TestNamesOfFeaturesAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "label,session,bm25,page rank\n"
	for q := range 10 {
		for d := range 4 {
			text += fmt.Sprintf("%d,q%d,%d.5,%d.5\n", d%2, q, d%2, (q*d)%3)
		}
	}
	file := filepath.Join(dir, "train.csv")
	commandtest.Write(t, file, text)
	if status, _, stderr := training.Call("-data", file); status != 1 || !strings.Contains(stderr, "no query id column") {
		t.Errorf("%d, %s", status, stderr)
	}
	out := filepath.Join(dir, "run")
	stdout, _ := training.Quick(t, "-data", file, "-query-column", "session", "-out", out)
	if !strings.Contains(stdout, "feature bm25, descending") {
		t.Errorf("no name in the report:\n%s", stdout)
	}
	model := filepath.Join(out, "model.npz")
	commandtest.Write(t, filepath.Join(dir, "new.csv"), "page rank;other;bm25;qid\n2;9;1;x\n1;9;0;x\n")
	commandtest.Write(t, filepath.Join(dir, "new.txt"), "0 qid:x 1:1 2:2\n0 qid:x 1:0 2:1\n")
	for _, name := range []string{"new.csv", "new.txt"} {
		if status, _, stderr := scoring.Call("-model", model, "-data", filepath.Join(dir, name), "-out", filepath.Join(dir, name+".s")); status != 0 {
			t.Fatal(stderr)
		}
	}
	if a, b := commandtest.Read(t, filepath.Join(dir, "new.csv.s")), commandtest.Read(t, filepath.Join(dir, "new.txt.s")); a != b {
		t.Errorf("by name: %q, by id: %q", a, b)
	}
	commandtest.Write(t, filepath.Join(dir, "lacks.csv"), "bm25;qid\n1;x\n")
	if status, _, stderr := scoring.Call("-model", model, "-data", filepath.Join(dir, "lacks.csv"), "-out", filepath.Join(dir, "s")); status != 1 || !strings.Contains(stderr, `no column for feature "page rank"`) {
		t.Errorf("%d, %s", status, stderr)
	}
}

// Malformed lines are reported one by one, ten at most; features that the model does
// not know are left out, with a warning.
func TestMalformedLinesAreListed(t *testing.T) {
	t.Parallel()
	data, dir := commandtest.Fold(t), t.TempDir()
	file := filepath.Join(dir, "bad.txt")
	commandtest.Write(t, file, strings.Repeat("1 qid:1 1:x\n0 qid:1 1:1\n", 13))
	status, _, stderr := training.Call("-data", file)
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if status != 1 || len(lines) != 11 || lines[10] != "datasets: "+file+": 13 malformed lines in all" {
		t.Fatalf("%d, %s", status, stderr)
	}
	for i, line := range lines[:10] {
		if want := fmt.Sprintf("datasets: %s:%d: column 9: feature \"1:x\": not a number", file, 2*i+1); line != want {
			t.Errorf("%q, want %q", line, want)
		}
	}
	out := filepath.Join(dir, "run")
	training.Quick(t, "-data", data, "-out", out)
	commandtest.Write(t, file, strings.Repeat("1 qid:1 1:1 77:1\n", 13))
	status, _, stderr = scoring.Call("-model", filepath.Join(out, "model.npz"), "-data", file, "-out", filepath.Join(dir, "s"))
	if want := "13 values of features that are not wanted were left out (ids 77 to 77)\n"; status != 0 || !strings.Contains(stderr, want) {
		t.Errorf("%d, %q, want %q", status, stderr, want)
	}
}

// The base scores of a column train, and score, with the rest: a model that learns nothing ranks as
// they do, also where they are in a file that plrank score has written. Without them, the model says
// what it needs.
func TestModelOnBaseScoresRanksAsTheyDo(t *testing.T) {
	t.Parallel()
	data := commandtest.Shop(t)
	file := filepath.Join(data, "test.csv")
	out := filepath.Join(t.TempDir(), "run")
	still := []string{"-lr", "1e-30", "-group-column", "seller"}
	stdout, _ := training.Quick(t, append(still, "-data", data, "-base-column", "size", "-out", out)...)
	if !strings.Contains(stdout, "base scores") {
		t.Errorf("no row of base scores in\n%s", stdout)
	}
	model := filepath.Join(out, "model.npz")
	m, err := ranker.Open(model)
	if err != nil || !m.File().BaseScores || !slices.Equal(m.FeatureNames(), []string{"price"}) {
		t.Fatalf("features %q, %v", m.FeatureNames(), err)
	}
	scored, _ := scoring.Must(t, "-model", model, "-data", file, "-base-column", "size")
	d, err := datasets.ReadFile(file, datasets.ReadOptions{QueryColumn: "query", BaseColumn: "size", FeatureIDs: m.FeatureIDs(), FeatureNames: m.FeatureNames()})
	if err != nil {
		t.Fatal(err)
	}
	want, err := datasets.Score(m, d)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Fields(scored) {
		if s, err := strconv.ParseFloat(line, 64); err != nil || math.Abs(s-want[i]) > 1e-5 || math.Abs(s-float64(d.BaseScores[i])) > 5 {
			t.Fatalf("document %d has score %v, want %v on the base score %v", i, s, want[i], d.BaseScores[i])
		}
	}
	if known, _ := scoring.Must(t, "-model", model, "-data", file); known != scored {
		t.Error("the model does not know the column of base scores")
	}
	bare := filepath.Join(t.TempDir(), "bare.csv")
	commandtest.Write(t, bare, "qid,price\na,1\n")
	if status, _, stderr := scoring.Call("-model", model, "-data", bare); status != 1 || !strings.Contains(stderr, "want them in a column (-base-column), or one a line in a file FILE.init") {
		t.Errorf("%d, %s", status, stderr)
	}

	// The scores of the production ranker, in files next to the data.
	plain := filepath.Join(t.TempDir(), "plain")
	training.Quick(t, "-data", data, "-group-column", "seller", "-out", plain)
	for _, split := range []string{"train", "vali", "test"} {
		path := filepath.Join(data, split+".csv")
		scoring.Must(t, "-model", filepath.Join(plain, "model.npz"), "-data", path, "-out", path+".init")
	}
	on := filepath.Join(t.TempDir(), "on")
	training.Quick(t, "-data", data, "-group-column", "seller", "-out", on, "-epochs", "1")
	if status, _, stderr := training.Call("-resume", "-out", on); status != 0 {
		t.Fatal(stderr)
	}
	if stdout, _ := training.Quick(t, "-data", filepath.Join(data, "train.csv"), "-group-column", "seller", "-folds", "3"); !strings.Contains(stdout, "base scores") {
		t.Errorf("no row of base scores in\n%s", stdout)
	}
	if err := os.Remove(filepath.Join(data, "vali.csv.init")); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := training.Call("-data", data, "-group-column", "seller"); status != 1 || !strings.Contains(stderr, "train.csv has base scores, but ") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// Train, look at all files, score with the model, go on.
func TestRunHasAllFilesAndGoesOn(t *testing.T) {
	t.Parallel()
	data := commandtest.Fold(t)
	out := filepath.Join(t.TempDir(), "run")
	status, stdout, stderr := training.Call("-data", data, "-scorer", "mlp", "-out", out, "-epochs", "4", "-seed", "3")
	if status != 0 {
		t.Fatal(status, stderr)
	}
	for _, want := range []string{"train: 30 queries", "vali: 10 queries", "test: 10 queries", "random order", "plrank-exact", "ndcg@10", "expected-ndcg@10", "-convention skip"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if n := strings.Count(stderr, "\nepoch "); n != 4 {
		t.Errorf("%d lines of progress for 4 epochs:\n%s", n, stderr)
	}

	var config struct {
		Data   string
		Epochs int
		Loss   string
	}
	if err := json.Unmarshal([]byte(commandtest.Read(t, filepath.Join(out, "config.json"))), &config); err != nil || config.Data != data || config.Epochs != 4 || config.Loss != "plrank-exact+0.01*softmax" {
		t.Errorf("config.json: %+v, %v", config, err)
	}
	lines := strings.Split(strings.TrimSpace(commandtest.Read(t, filepath.Join(out, "metrics.jsonl"))), "\n")
	var last train.Epoch
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(lines) != 4 || last.Epoch != 4 {
		t.Errorf("metrics.jsonl: %d lines, %+v, %v", len(lines), last, err)
	}
	var result cli.RunSummary
	if err := json.Unmarshal([]byte(commandtest.Read(t, filepath.Join(out, "result.json"))), &result); err != nil {
		t.Fatal(err)
	}
	if v := result.Metrics["test"]["ndcg@10"]; !(v > 0.9 && v <= 1) {
		t.Errorf("the label is a sum of two features, and NDCG@10 is %v", v)
	}
	if v := result.Baselines["random order"]["vali"]["ndcg@10"]; !(v > 0 && v < result.Metrics["vali"]["ndcg@10"]) {
		t.Errorf("random order has NDCG@10 %v", v)
	}
	curve, err := os.Open(filepath.Join(out, "curve.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer curve.Close()
	if _, err := png.Decode(curve); err != nil {
		t.Errorf("curve.png: %v", err)
	}

	// Scores: one a row, and those whose ranking has the NDCG of the table.
	scores, model := filepath.Join(t.TempDir(), "scores"), filepath.Join(out, "model.npz")
	if status, _, stderr := scoring.Call("-model", model, "-data", filepath.Join(data, "test.txt"), "-out", scores); status != 0 {
		t.Fatal(status, stderr)
	}
	rows := strings.Count(commandtest.Read(t, filepath.Join(data, "test.txt")), "\n")
	values := strings.Fields(commandtest.Read(t, scores))
	if len(values) != rows {
		t.Errorf("%d scores for %d rows", len(values), rows)
	}
	for _, v := range values {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			t.Error(err)
		}
	}
	if status, _, stderr := scoring.Call("-model", model, "-data", filepath.Join(data, "test.txt"), "-out", scores); status != 1 || !strings.Contains(stderr, "exists") {
		t.Errorf("scores were overwritten: %d, %q", status, stderr)
	}

	// Going on for two epochs more gives what six epochs at once give.
	before := commandtest.Read(t, filepath.Join(out, "metrics.jsonl"))
	if status, _, stderr := training.Call("-resume", "-out", out, "-epochs", "6"); status != 0 {
		t.Fatal(status, stderr)
	}
	if after := commandtest.Read(t, filepath.Join(out, "metrics.jsonl")); !strings.HasPrefix(after, before) || strings.Count(after, "\n") != 6 {
		t.Errorf("metrics.jsonl after going on:\n%s", after)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	if status, _, stderr := training.Call("-data", data, "-scorer", "mlp", "-out", whole, "-epochs", "6", "-seed", "3"); status != 0 {
		t.Fatal(status, stderr)
	}
	if commandtest.Read(t, filepath.Join(whole, "model.npz")) != commandtest.Read(t, filepath.Join(out, "model.npz")) {
		t.Error("the model of a resumed run differs")
	}
	if commandtest.Read(t, filepath.Join(whole, "result.json")) != commandtest.Read(t, filepath.Join(out, "result.json")) {
		t.Error("the result of a resumed run differs")
	}
}

// asTable returns lines of commandtest.Fold as a table, with another column 3.
func asTable(lines string) string {
	return "label,qid,1,2,4,3\n" + strings.NewReplacer(" qid:", ",", " 1:", ",", " 2:", ",", " 4:", ",", "\n", ",0\n").Replace(lines)
}

// A column by which documents are grouped is not an input; files to be scored and measured may
// have it. A model that was trained with it still gets it.
func TestGroupColumnIsNoInput(t *testing.T) {
	t.Parallel()
	data, dir := commandtest.Fold(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, split := range []string{"train", "vali", "test"} { // as tables
		path := filepath.Join(data, split+".txt")
		commandtest.Write(t, path, asTable(commandtest.Read(t, path)))
	}
	test := filepath.Join(data, "test.txt")
	rows := strings.Count(commandtest.Read(t, test), "\n") - 1
	for name, args := range map[string][]string{"with": {"-group-column", "1"}, "without": nil} {
		training.Quick(t, append([]string{"-data", data, "-out", in(name)}, args...)...)
		model := filepath.Join(in(name), "model.npz")
		status, stdout, stderr := scoring.Call("-model", model, "-data", test)
		if n := strings.Count(stdout, "\n"); status != 0 || n != rows {
			t.Errorf("%s: status %d, %d scores for %d rows, %s", name, status, n, rows, stderr)
		}
		if m, err := ranker.Open(model); err != nil || slices.Contains(m.FeatureIDs(), 1) != (name == "without") {
			t.Errorf("%s: %v", name, err)
		}
		status, measured, stderr := evaluating.Call("-model", model, "-data", test, "-group-column", "1", "-report", "exposure-ratio")
		if status != 0 || !strings.Contains(measured, "exposure-ratio") || strings.Contains(stderr, "missing, or 0 everywhere") {
			t.Errorf("%s: status %d, %s, %s", name, status, measured, stderr)
		}
	}
}

// A model of a log has the names of its features, and the texts of the categorical ones.
func TestNamesOfALogAreThoseOfItsModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, log, out := filepath.Join(dir, "data.csv"), filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "run")
	var text strings.Builder
	text.WriteString("query,label,price,city\n")
	for i := range 240 {
		city := (i + i/6) % 3
		fmt.Fprintf(&text, "%d,%d,%d,%s\n", i/6, city, i*7%11, []string{"Oslo", "Bergen", "Narvik"}[city])
	}
	commandtest.Write(t, data, text.String())
	training.Quick(t, "-data", data, "-categorical", "city", "-out", out+"1")
	onLogs.Must(t, "simulate", "-data", data, "-model", filepath.Join(out+"1", "model.npz"), "-cutoff", "3", "-n", "2000", "-seed", "3", "-out", log)
	training.Must(t, "-clicks", log, "-epochs", "60", "-hidden", "8", "-members", "1", "-out", out)
	m, err := ranker.Open(filepath.Join(out, "model.npz"))
	if err != nil {
		t.Fatal(err)
	}
	if _, ofText := m.Level(1, "Oslo"); !slices.Equal(m.FeatureNames(), []string{"price", "city"}) || !ofText {
		t.Errorf("names %q, texts %q", m.FeatureNames(), m.File().Levels)
	}
	if stdout, _ := evaluating.Must(t, "-model", filepath.Join(out, "model.npz"), "-data", data); !regexp.MustCompile(`ndcg@10 +\S+ +1\.0000`).MatchString(stdout) {
		t.Errorf("labels that the city tells are not learned from its texts:\n%s", stdout)
	}
	// From an initial model, with other numbers for the texts, the log has the features of the data.
	initial, err := ranker.Open(filepath.Join(out+"1", "model.npz"))
	if err != nil || slices.Equal(initial.File().Levels[1], m.File().Levels[1]) {
		t.Fatalf("%v, texts %q", err, m.File().Levels)
	}
	training.Quick(t, "-clicks", log, "-init-model", filepath.Join(out+"1", "model.npz"), "-out", out+"2")
	training.Quick(t, "-clicks", log, "-data", data, "-init-model", filepath.Join(out+"1", "model.npz"), "-out", out+"3")
	if commandtest.Read(t, filepath.Join(out+"2", "model.npz")) != commandtest.Read(t, filepath.Join(out+"3", "model.npz")) {
		t.Error("the model is another one than with the features of the data")
	}
}
