package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/lab/internal/variance"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// callVariance is the subcommand on very little data, and its two CSV files.
func callVariance(t *testing.T, dir string, more ...string) (measured, normal string) {
	t.Helper()
	var stderr strings.Builder
	args := append([]string{"variance", "-scale", "0.0005", "-repeats", "3", "-out", dir}, more...)
	if !slices.Contains(more, "-model") {
		args = append(args, "-epochs", "2")
	}
	if status := run(t.Context(), args, io.Discard, &stderr); status != 0 {
		t.Fatalf("%v: status %d, %s", args, status, &stderr)
	}
	var texts [2]string
	for i, name := range []string{varianceFile, normalFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(data)
	}
	return texts[0], texts[1]
}

func TestVariance(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	measured, normal := callVariance(t, dir)
	for _, name := range []string{"report.md", "variance-samples-untrained.svg", "variance-cutoff-half-trained.png", "variance-documents-trained.svg", "variance-normal.png"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	report, err := os.ReadFile(filepath.Join(dir, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := readTable(filepath.Join(dir, varianceFile), varianceColumns...)
	if err != nil {
		t.Fatal(err)
	}
	if got := table.distinct("stage"); !slices.Equal(got, []string{"untrained", "half-trained", "trained"}) {
		t.Errorf("stages %v", got)
	}
	// The point that two axes share is the same number; stages are not.
	trace := func(stage, axis, value, estimator string) string {
		rows := table.where("stage", stage).where("axis", axis).where("value", value).where("estimator", estimator)
		if len(rows.rows) != 1 {
			t.Fatalf("%d rows of %s, %s %s, %s", len(rows.rows), stage, axis, value, estimator)
		}
		return rows.texts("trace")[0]
	}
	for _, m := range paperEstimators() {
		e := m.Name
		if a, b := trace("trained", "samples", "10", e), trace("trained", "cutoff", "5", e); a != b {
			t.Errorf("%s: N = 10 and K = 5 give %s on one axis and %s on the other", e, a, b)
		}
		if a, b := trace("untrained", "samples", "1", e), trace("trained", "samples", "1", e); a == b {
			t.Errorf("%s: training changes nothing", e)
		}
	}
	if len(paperEstimators()) != 4 {
		t.Errorf("%d of the paper's methods", len(paperEstimators()))
	}
	for _, m := range allMethods() {
		if rows := table.where("axis", methodsAxis).where("estimator", m.Name); len(rows.rows) != 3 {
			t.Errorf("%s is measured at %d stages", m.Name, len(rows.rows))
		}
	}
	training, err := readTable(filepath.Join(dir, trainingFile), trainingColumns...)
	if err != nil {
		t.Fatal(err)
	}
	if epochs := training.distinct("epoch"); !slices.Equal(epochs, []string{"0", "1", "2"}) || len(training.rows) != 4*3 {
		t.Errorf("epochs %v, %d rows", epochs, len(training.rows))
	}
	for _, column := range []string{"trace", "sampling", "picking"} {
		if values, err := training.floats(column); err != nil || !(slices.Min(values) > 0) {
			t.Errorf("%s: %v, %v", column, values, err)
		}
	}
	if got := trace("trained", "cutoff", "1", "plrank-rb"); got != "0" {
		t.Errorf("PL-Rank-RB varies at K = 1: %s", got)
	}
	if ratio := trace("untrained", "cutoff", "1", "policy-gradient"); ratio != trace("untrained", "cutoff", "1", "plrank1") {
		t.Error("with one place the policy gradient is PL-Rank-1")
	}
	if !strings.Contains(string(report), " | PL-Rank-RB | 0 |") {
		t.Errorf("no row of PL-Rank-RB against K in\n%s", report)
	}

	// The same seed gives the same files, on any number of cores, also where the
	// scores are taken from a file of the folder.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, again := range []string{filepath.Join(t.TempDir(), "out"), dir} {
		m, n := callVariance(t, again)
		if m != measured || n != normal {
			t.Errorf("another call gives other numbers")
		}
	}
	if m, n := callVariance(t, filepath.Join(t.TempDir(), "out"), "-seed", "1"); m == measured || n == normal {
		t.Error("another seed gives the same numbers")
	}
}

// With a model file there is one stage, the scores of that model.
func TestVarianceOfModel(t *testing.T) {
	splits, err := datasets.SyntheticShape("mslr", 0.0005, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := recipe.Paper()
	c.Epochs = 1
	result, err := train.Run(t.Context(), c, splits, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "model.npz")
	if err := result.Model.Save(file); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	callVariance(t, dir, "-model", file)
	table, err := readTable(filepath.Join(dir, varianceFile), varianceColumns...)
	if err != nil {
		t.Fatal(err)
	}
	if got := table.distinct("stage"); !slices.Equal(got, []string{"model"}) {
		t.Errorf("stages %v", got)
	}
	// The mean over queries, by hand, of one number in the file.
	scores, err := datasets.Score(result.Model, splits.Train)
	if err != nil {
		t.Fatal(err)
	}
	var lists []variance.List
	for _, q := range relevantQueries(splits.Train) {
		var l variance.List
		for r := splits.Train.Offsets[q]; r < splits.Train.Offsets[q+1]; r++ {
			l.Scores = append(l.Scores, scores[r])
			l.Gains = append(l.Gains, math.Exp2(float64(splits.Train.Labels[r]))-1)
		}
		lists = append(lists, l)
	}
	traces, err := variance.Measure(t.Context(), lists, []float64{1, 1 / math.Log2(3)}, variance.Options{Samples: 10, Repeats: 3})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := variance.Mean(traces).Trace(plackett.PLRankRB.String())
	got := table.where("axis", "cutoff").where("value", "2").where("estimator", "plrank-rb").texts("trace")[0]
	if v, err := strconv.ParseFloat(got, 64); err != nil || math.Abs(v-want) > 1e-12*want {
		t.Errorf("PL-Rank-RB at K = 2: %s, want %v", got, want)
	}
}

// Ctrl-C ends it, and nothing is written but what is finished.
func TestVarianceInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(t.TempDir(), "out")
	var stderr strings.Builder
	status := run(ctx, []string{"variance", "-scale", "0.0005", "-epochs", "2", "-out", dir}, io.Discard, &stderr)
	if status != command.ExitInterrupted {
		t.Errorf("status %d, %s", status, &stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, varianceFile)); err == nil {
		t.Error("there is a CSV file of what was not measured")
	}
	if trials, _ := filepath.Glob(filepath.Join(dir, "trials", "*")); len(trials) > 0 {
		t.Errorf("trials %v", trials)
	}
}

// Sizes are those that five queries have, and all are parts of the lists of these.
func TestSizesOfLists(t *testing.T) {
	var lists []variance.List
	for q := range 20 {
		n := 8
		switch {
		case q < 4:
			n = 60
		case q == 4:
			n = 300
		}
		lists = append(lists, variance.Normal(1, n, 1, uint64(q))...)
	}
	var sizes []int
	longest := map[float64]bool{}
	points := pointsOf(lists, 1)
	for _, p := range points {
		if p.axis != documentsAxis.name {
			continue
		}
		sizes = append(sizes, p.value)
		if len(p.lists) != 5 || p.samples() != varianceSamples || p.cutoff() != varianceCutoff {
			t.Errorf("D = %d: %d lists, N = %d, K = %d", p.value, len(p.lists), p.samples(), p.cutoff())
		}
		for _, l := range p.lists {
			if len(l.Scores) != p.value {
				t.Errorf("D = %d: a list of %d documents", p.value, len(l.Scores))
			}
			for _, s := range l.Scores {
				longest[s] = true
			}
		}
	}
	if want := []int{5, 10, 20, 50}; !slices.Equal(sizes, want) || len(longest) != 5*50 {
		t.Errorf("sizes %v, want %v; %d different documents", sizes, want, len(longest))
	}
	two := []variance.List{{Scores: []float64{1, 1}}, {Scores: []float64{3, -1}}}
	if got := meanDeviation(two); got != 1 {
		t.Errorf("standard deviations of 0 and 2, but a mean of %v", got)
	}
	if got := meanDocuments(points[0].lists); got != (15*8+4*60+300)/20. {
		t.Errorf("%v documents a list", got)
	}
}

func TestWithError(t *testing.T) {
	for _, c := range []struct {
		v, stdErr float64
		want      string
	}{
		{4.9726, 0.0665, "4.97 (0.07)"}, {0.0010241, 0.0000112, "0.001024 (0.000011)"}, {0.3512, 0.02, "0.35 (0.02)"},
		{16.5, 3.1, "16 (3)"}, {160, 31, "160 (31)"}, {0, 0, "0"}, {1, 0, "1"}, {math.NaN(), math.NaN(), "–"},
	} {
		if got := withError(c.v, c.stdErr); got != c.want {
			t.Errorf("%v ± %v: %q, want %q", c.v, c.stdErr, got, c.want)
		}
	}
	for v, want := range map[float64]string{0: "0.0", 0.00806: "0.0081", 0.21: "0.21", 1.49: "1.5", 23: "23", 151: "151"} {
		if got := brief(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func TestVarianceFlags(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"variance", "-repeats", "1"}, command.ExitUsage, "-repeats 1: want 2 or more"},
		{[]string{"variance", "-samples", "1"}, command.ExitUsage, "-samples does not apply to variance"},
		{[]string{"variance", "-scale", "0.0005", "-out", t.TempDir(), "-model", "none.npz"}, command.ExitError, "none.npz"},
	} {
		var stderr strings.Builder
		if status := run(t.Context(), c.args, io.Discard, &stderr); status != c.status || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: status %d, %q, want %d, %q", c.args, status, &stderr, c.status, c.want)
		}
	}
	var help strings.Builder
	if run(t.Context(), []string{"-help"}, &help, io.Discard); !strings.Contains(help.String(), "-repeats estimates") {
		t.Error(fmt.Sprint("no -repeats in the manual\n", &help))
	}
}
