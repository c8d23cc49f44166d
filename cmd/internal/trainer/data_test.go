package trainer

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/docs"
	"github.com/plrank/plrank/train"
)

func TestOneFoldIsTrainedOn(t *testing.T) {
	t.Parallel()
	data := folds(t, 2)
	out := filepath.Join(t.TempDir(), "run")
	_, stderr := callQuick(t, "-data", data, "-fold", "2", "-out", out)
	if !strings.Contains(stderr, filepath.Join(data, "Fold2", "train.txt")) || strings.Contains(stderr, filepath.Join(data, "Fold1")) {
		t.Errorf("fold 2: %s", stderr)
	}
	var config struct{ Fold int }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "config.json"))), &config); err != nil || config.Fold != 2 {
		t.Errorf("config.json: %+v, %v", config, err)
	}
	if status, _, stderr := call("-resume", "-out", out, "-epochs", "2"); status != 0 {
		t.Error(stderr)
	}
}

func TestSyntheticShapesAreTrainedOn(t *testing.T) {
	t.Parallel()
	if stdout, _ := callQuick(t, "-data", "synthetic:istella", "-scale", "0.0005"); !strings.Contains(stdout, "test") {
		t.Errorf("no table of the test split in\n%s", stdout)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-data", "synthetic:letor"}, "mslr, yahoo, istella"},
		{[]string{"-data", "synthetic:mslr", "-scale", "2"}, "scale"},
		{[]string{"-data", "synthetic:mslr", "-fold", "1"}, "-fold"},
		{[]string{"-scale", "0.1"}, "synthetic:SHAPE"},
	} {
		status, _, stderr := call(c.args...)
		if status == 0 || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q; want an error with %q", c.args, status, stderr, c.want)
		}
	}
}

func TestFoldsAreSummedUp(t *testing.T) {
	t.Parallel()
	data := folds(t, 3)
	out := filepath.Join(t.TempDir(), "run")
	stdout, _ := callQuick(t, "-data", data, "-bins", "4", "-activation", "swiglu", "-folds", "all", "-out", out)

	var summary cli.FoldsSummary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "summary.json"))), &summary); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(summary.Folds, []int{1, 2, 3}) || summary.Interrupted {
		t.Errorf("%+v", summary)
	}
	// The summary is what the folders of the folds have, and the table has the
	// summary.
	sum, values := 0.0, []float64{}
	for fold := 1; fold <= 3; fold++ {
		var result cli.RunSummary
		if err := json.Unmarshal([]byte(read(t, filepath.Join(out, fmt.Sprintf("fold%d", fold), "result.json"))), &result); err != nil {
			t.Fatal(err)
		}
		values = append(values, float64(result.Metrics["test"]["ndcg@10"]))
		sum += values[fold-1]
	}
	got := summary.Metrics["test"]["ndcg@10"]
	square := 0.0
	for i, v := range values {
		square += (v - sum/3) * (v - sum/3)
		if float64(got.Values[i]) != v {
			t.Errorf("fold %d: %v in the summary, %v in its folder", i+1, got.Values[i], v)
		}
	}
	if math.Abs(float64(got.Mean)-sum/3) > 1e-12 || math.Abs(float64(got.SD)-math.Sqrt(square/2)) > 1e-12 {
		t.Errorf("%+v of %v", got, values)
	}
	for _, want := range []string{
		"\nmean ± standard deviation, folds 1 2 3", "fold 3", "random order", "-convention skip",
		fmt.Sprintf("%.4f ±%.4f", got.Mean, got.SD), fmt.Sprintf("%.4f", values[1]),
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}

	// A fold of them is that fold alone.
	alone := filepath.Join(t.TempDir(), "run")
	callQuick(t, "-data", data, "-bins", "4", "-activation", "swiglu", "-fold", "2", "-out", alone)
	for _, file := range []string{"model.npz", "result.json", "config.json"} {
		if read(t, filepath.Join(alone, file)) != read(t, filepath.Join(out, "fold2", file)) {
			t.Errorf("%s of fold 2 is another one than without the others", file)
		}
	}
	t.Run("and go on", func(t *testing.T) { interruptedFoldsGoOn(t, data, out) })
}

// Interrupted in the second fold, the table is of the first, and the run can go on
// to the same end as the whole one.
func interruptedFoldsGoOn(t *testing.T, data, whole string) {
	out := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := &watcher{word: "fold 2\n", f: cancel}
	args := append(commandtest.QuickFlags(), "-data", data, "-bins", "4", "-activation", "swiglu", "-folds", "all", "-out", out)
	var stdout strings.Builder
	if status := run(ctx, nil, args, &stdout, stop); status != 130 {
		t.Fatal(status, stop.String())
	}
	if !strings.Contains(stdout.String(), "deviation, folds 1\n") || !strings.Contains(stop.String(), "1 of 3 folds are done") {
		t.Errorf("%s\n%s", stdout.String(), stop.String())
	}
	var summary cli.FoldsSummary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "summary.json"))), &summary); err != nil || !summary.Interrupted || !slices.Equal(summary.Folds, []int{1}) {
		t.Errorf("%+v, %v", summary, err)
	}
	if status, _, stderr := call("-resume", "-out", out); status != 0 {
		t.Fatal(status, stderr)
	}
	if a, b := read(t, filepath.Join(out, "summary.json")), read(t, filepath.Join(whole, "summary.json")); a != b {
		t.Errorf("after going on: %s\nat once: %s", a, b)
	}

	// Interrupted in the first fold, there is its report.
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	stop = &watcher{word: "matrix products", f: cancel} // once the data are read
	stdout.Reset()
	status := run(ctx, nil, append(commandtest.QuickFlags(), "-data", data, "-folds", "all"), &stdout, stop)
	if text := stdout.String(); status != 130 || !strings.Contains(text, "test: 12 queries") {
		t.Errorf("%d, %s", status, text)
	}
}

// The second run reads a cache, which gives the same model; a cache that is damaged
// or that cannot be written is a warning.
func TestCacheGivesTheSameModel(t *testing.T) {
	t.Parallel()
	data := fold(t)
	cache := filepath.Join(t.TempDir(), "cache")
	models := []string{}
	train := func(cache string) (stderr string) {
		out := filepath.Join(t.TempDir(), "run")
		_, stderr = callQuick(t, "-data", data, "-cache", cache, "-out", out)
		models = append(models, read(t, filepath.Join(out, "model.npz")))
		return stderr
	}
	train("off")
	train(cache)
	files, _ := filepath.Glob(filepath.Join(cache, ".plrank-*.cache"))
	if len(files) != 1 {
		t.Fatalf("files of the cache: %v", files)
	}
	written, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if stderr := train(cache); strings.Count(stderr, "warning") > strings.Count(stderr, "no effect") { // of the flags of a quick training
		t.Error(stderr)
	}
	if now, err := os.Stat(files[0]); err != nil || !os.SameFile(now, written) {
		t.Errorf("a good cache was built anew: %v", err)
	}
	if err := os.Truncate(files[0], written.Size()/2); err != nil {
		t.Fatal(err)
	}
	if stderr := train(cache); !strings.Contains(stderr, "built anew") {
		t.Errorf("a truncated cache: %s", stderr)
	}
	if stderr := train(filepath.Join(data, "train.txt")); !strings.Contains(stderr, "no cache was written") { // a file, not a folder
		t.Errorf("a folder that cannot be made: %s", stderr)
	}
	for i, m := range models {
		if m != models[0] {
			t.Errorf("run %d gives another model", i)
		}
	}

	// By default the cache is the user's, and nothing appears next to the data.
	callQuick(t, "-data", data)
	user, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "plrank", ".plrank-*.cache"))
	if entries, _ := os.ReadDir(data); len(user) == 0 || len(entries) != 3 {
		t.Errorf("%d files in the user's cache, %d next to the data", len(user), len(entries))
	}
}

func TestDuplicatesAreErrorsOrLast(t *testing.T) {
	t.Parallel()
	data := fold(t)
	path := filepath.Join(data, "train.txt")
	write(t, path, read(t, path)+"1 qid:99 1:1 2:1 2:7\n0 qid:99 1:2\n")
	if status, _, stderr := call("-data", data); status != 1 || !strings.Contains(stderr, "a second value for id 2") {
		t.Errorf("%d, %s", status, stderr)
	}
	callQuick(t, "-data", data, "-duplicates", "last")
}

// Groups come from files; errors say what would help.
func TestGroupsComeFromFiles(t *testing.T) {
	t.Parallel()
	data := fold(t)
	file := func(split string) string { return filepath.Join(data, split+".txt") }
	if status, _, stderr := call("-data", data, "-loss", "group-treatment"); status != 1 ||
		!strings.Contains(stderr, "the loss group-treatment compares groups") || !strings.Contains(stderr, "(-group-column, or a file named FILE.groups") {
		t.Errorf("%d, %s", status, stderr)
	}
	if status, _, stderr := call("-data", data, "-loss", "exact-alpha-ndcg"); status != 1 ||
		!strings.Contains(stderr, "the loss exact-alpha-ndcg goes by intents") || !strings.Contains(stderr, "(-intents COLUMNS, or -subtopics FILE)") {
		t.Errorf("without intents: %d, %s", status, stderr)
	}
	groups := func(path string, rows int) {
		write(t, path, strings.Repeat("a\nb\n", rows)[:2*rows])
	}
	rows := func(split string) int { return strings.Count(read(t, file(split)), "\n") }
	groups(file("train")+".groups", rows("train"))
	groups(file("vali")+".groups", rows("vali"))
	if stdout, _ := callQuick(t, "-data", file("train"), "-vali", file("vali"), "-loss", "group-exposure",
		"-report", "exposure-ratio,treatment-ratio"); !strings.Contains(stdout, "treatment-ratio") {
		t.Errorf("no ratio in\n%s", stdout)
	}
	groups(file("train")+".groups", rows("train")-1)
	if status, _, stderr := call("-data", data, "-loss", "group-exposure"); status != 1 || !strings.Contains(stderr, "train.txt.groups: ") ||
		!strings.Contains(stderr, fmt.Sprintf("%d lines, but %s has %d documents", rows("train")-1, file("train"), rows("train"))) {
		t.Errorf("%d, %s", status, stderr)
	}
	if status, _, stderr := call("-group-column", "x"); status != 2 || !strings.Contains(stderr, "-group") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// What is asked for is in the tables and files, of the test split after every epoch
// too, and a run goes on with it.
func TestReportIsInTablesAndFiles(t *testing.T) {
	t.Parallel()
	data := fold(t)
	out := filepath.Join(t.TempDir(), "run")
	args := []string{"-data", data, "-report", "map, expected-err@10,ee-l", "-evaluate-test", "-discounts", "rbp(0.9)", "-gain", "binary", "-metric", "ee-l", "-out", out}
	stdout, stderr := callQuick(t, args...)
	for _, name := range []string{"map", "expected-err@10", "ee-l", "rbp(p=0.9)@10", "expected-rbp(p=0.9)@10"} {
		if !strings.Contains(stdout, name) {
			t.Errorf("no %s in\n%s", name, stdout)
		}
	}
	if !strings.Contains(stderr, "vali ee-l ") {
		t.Errorf("the validation value is missing: %s", stderr)
	}
	if status, _, stderr := call("-resume", "-out", out, "-epochs", "2"); status != 0 {
		t.Fatal(stderr)
	}
	for line := range strings.Lines(read(t, filepath.Join(out, "metrics.jsonl"))) {
		var e train.Epoch
		if err := json.Unmarshal([]byte(line), &e); err != nil || !(e.Test["ee-l"] > 0) || !(e.Test["map"] > 0) || !(e.TrainSeconds > 0) {
			t.Errorf("%v, %s", err, line)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "curve.png")); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ flag, value, want string }{
		{"-report", "map,maap", "did you mean map?"}, {"-discounts", "dgc", "want dcg"}, {"-discounts", "1,2", "2 numbers for a cutoff of 10"},
	} {
		if status, _, stderr := call(c.flag, c.value); status != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s %s: %d, %s", c.flag, c.value, status, stderr)
		}
	}
}

// A run of a version that did not know some of the settings goes on.
func TestOlderRunGoesOn(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "run")
	callQuick(t, "-data", fold(t), "-out", out)
	path := filepath.Join(out, "config.json")
	older := regexp.MustCompile(`\n *"(discounts|report|evaluateTest)":[^\n]*`).ReplaceAllString(read(t, path), "")
	if strings.Contains(older, "discounts") || !strings.Contains(older, "evaluateTrain") {
		t.Fatal(older)
	}
	write(t, path, older)
	if status, _, stderr := call("-resume", "-out", out, "-epochs", "2"); status != 0 {
		t.Errorf("%d, %s", status, stderr)
	}
	if n := strings.Count(read(t, filepath.Join(out, "metrics.jsonl")), "\n"); n != 2 {
		t.Errorf("%d epochs, want 2", n)
	}
}

// Labels that overflow are no grades: the error says how to go on, and that works.
func TestErrorNamesTheGainThatHelps(t *testing.T) {
	t.Parallel()
	data := fold(t)
	path := filepath.Join(data, "train.txt")
	write(t, path, read(t, path)+"250 qid:99 1:1\n0 qid:99 1:2\n")
	if status, _, stderr := call("-data", data); status != 1 || !strings.Contains(stderr, "label 250") || !strings.Contains(stderr, "-gain linear") {
		t.Errorf("%d, %s", status, stderr)
	}
	callQuick(t, "-data", data, "-gain", "linear")
	write(t, path, read(t, path)+"-3 qid:99 1:1\n")
	if status, _, stderr := call("-data", data); status != 1 || strings.Contains(stderr, "(-gain linear)") {
		t.Errorf("linear does not help where a label is negative, but: %s", stderr)
	}
}

// The sum that the guide names as an example is one that trains.
func TestSumOfTheGuideTrains(t *testing.T) {
	t.Parallel()
	const sum = "plrank-exact+0.5*disparity"
	if !strings.Contains(docs.Guide, sum) {
		t.Errorf("no %s in the guide", sum)
	}
	if stdout, _ := callQuick(t, "-data", fold(t), "-loss", sum); !strings.Contains(stdout, sum) {
		t.Errorf("no %s in the report:\n%s", sum, stdout)
	}
}

func TestErrorsOfDataFlags(t *testing.T) {
	t.Parallel()
	data := folds(t, 2)
	one := filepath.Join(data, "Fold1")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-data", data}, 1, "fold 1 to 2"},
		{[]string{"-data", data, "-fold", "3"}, 1, "no fold 3: looked for Fold3, found Fold1"},
		{[]string{"-data", data, "-fold", "-1"}, 2, "folds count from 1"},
		{[]string{"-data", data, "-fold", "all"}, 2, "-fold"},
		{[]string{"-fold", "1"}, 2, "need -data"},
		{[]string{"-data", data, "-folds", "1"}, 2, "want all"},
		{[]string{"-data", data, "-folds", "2000000000"}, 2, "a number from 3 to 10000"},
		{[]string{"-folds", "all"}, 2, "needs -data"},
		{[]string{"-data", data, "-folds", "all", "-fold", "1"}, 2, "no meaning"},
		{[]string{"-data", one, "-folds", "all"}, 1, "holds no folders Fold1"},
		{[]string{"-data", data, "-folds", "all", "-out", one}, 1, "exists"},
		{[]string{"-data", data, "-duplicates", "first"}, 2, "want error or last"},
		{[]string{"-data", data}, 1, "such as -fold 1); -folds all is a run for each"},
	} {
		status, stdout, stderr := call(c.args...)
		if status != c.status || !strings.Contains(stderr, c.want) || stdout != "" || strings.Count(strings.TrimSpace(stderr), "\n") > 1 {
			t.Errorf("%v: status %d, want %d; %q, want %q", c.args, status, c.status, stderr, c.want)
		}
	}
	if status, _, stderr := call("-data", data, "-folds", "all", "-scorer", "mlp", "-transform", "x", "-out", filepath.Join(data, "out")); status != 1 || !strings.Contains(stderr, "unknown transform") {
		t.Errorf("%d, %s", status, stderr)
	}
	if _, err := os.Stat(filepath.Join(data, "out")); err == nil {
		t.Error("a folder was made for a run that never began")
	}
}
