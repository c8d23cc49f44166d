package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/file"
)

// call runs the command.
func call(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(ctx, args, &out, &errs)
	return status, out.String(), errs.String()
}

// must runs the command, which must end well, and gives what it printed.
func must(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	status, stdout, stderr := call(t.Context(), args...)
	if status != 0 {
		t.Fatalf("%v: status %d: %s", args, status, stderr)
	}
	return stdout
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// folder is a folder with small train, vali and test files, whose label is the sum of
// two of three features.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i, name := range []string{"train.txt", "vali.txt", "test.txt"} {
		rng := rand.New(rand.NewPCG(uint64(i), 0))
		var text strings.Builder
		for q := range 12 {
			for range 3 + rng.IntN(9) {
				a, b := rng.IntN(2), rng.IntN(2)
				fmt.Fprintf(&text, "%d qid:%d 1:%d 2:%.3f 4:%d\n", a+b, q+1, a, rng.Float64(), b)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Stored results stay those of their data.
func TestIdentityOfStoredData(t *testing.T) {
	var want identity
	if err := json.Unmarshal([]byte(read(t, "mslr-0.01/data.json")), &want); err != nil {
		t.Fatal(err)
	}
	splits, err := datasets.SyntheticShape("mslr", 0.01, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := collection{splits: splits, ID: identity{Name: want.Name, Scale: want.Scale}}
	if c.identify(); c.ID != want {
		t.Errorf("%v, want %v", c.ID, want)
	}
}

// samplesArgs are a small experiment.
func samplesArgs(data, out string, more ...string) []string {
	return append([]string{"samples", "-data", data, "-out", out, "-losses", "lambdaloss,placement-policy-gradient,plrank1,plrank-rb",
		"-samples", "1,4", "-runs", "2", "-epochs", "3", "-seed", "5"}, more...)
}

func TestSamples(t *testing.T) {
	data, out := folder(t), filepath.Join(t.TempDir(), "out")
	stdout := must(t, samplesArgs(data, out, "-without", "lambdaloss@4")...)
	for _, want := range []string{"N = 1", "LambdaLoss", "Placement P.G.", "PL-Rank-RB", "DCG@5 after 3 epochs", "of 2 runs", "left out: LambdaLoss with N = 4, named by -without"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	table, err := readTable(filepath.Join(out, samplesFile), "data", "loss", "samples", "run", "epoch", mainMeasure, "dcg@5", "expected-ndcg@5")
	if err != nil {
		t.Fatal(err)
	}
	if want := (4*2 - 1) * 2 * 3; len(table.rows) != want {
		t.Errorf("%d rows, want %d", len(table.rows), want)
	}
	values, err := table.floats(mainMeasure)
	if err != nil || slices.Min(values) <= 0 {
		t.Errorf("DCG %v, %v", values, err)
	}
	report := read(t, filepath.Join(out, reportFile))
	for _, want := range []string{"12, 12 and 12 queries", "go run ./reproduce samples -data", "(samples.json)", "| LambdaLoss | ", "(samples-n4.svg)"} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
	for _, name := range []string{"samples-n1.svg", "samples-n4.png"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	svg := read(t, filepath.Join(out, "samples-n4.svg"))
	if strings.Contains(svg, "LambdaLoss") || !strings.Contains(svg, "PL-Rank-1") {
		t.Error("the plot of N = 4 has a curve that was left out, or lacks one")
	}
}

// The exact gradient needs no samples: it is trained once, stands for N = ∞, and is drawn next to
// every N.
func TestExactStandsForAllSamples(t *testing.T) {
	data, out := folder(t), filepath.Join(t.TempDir(), "out")
	stdout := must(t, "samples", "-data", data, "-out", out, "-losses", "plrank2,plrank-exact", "-samples", "1,4", "-runs", "2", "-epochs", "2")
	if !strings.Contains(stdout, "N = ∞") {
		t.Errorf("no column of the exact gradient in\n%s", stdout)
	}
	table, err := readTable(filepath.Join(out, samplesFile))
	if err != nil {
		t.Fatal(err)
	}
	if rows := table.where("loss", exactLoss); len(rows.rows) != 2*2 || !slices.Equal(rows.distinct("samples"), []string{unlimited}) {
		t.Errorf("%d rows of the exact gradient, of N %v", len(rows.rows), rows.distinct("samples"))
	}
	for _, name := range []string{"samples-n1.svg", "samples-n4.svg"} {
		if !strings.Contains(read(t, filepath.Join(out, name)), "exact") {
			t.Errorf("%s has no curve of the exact gradient", name)
		}
	}
	stdout = must(t, "epochs", "-data", data, "-out", out, "-losses", "plrank2,plrank-exact", "-samples", "1,4", "-trial-seconds", "0.01")
	if !strings.Contains(stdout, "N = ∞") {
		t.Errorf("no time of the exact gradient in\n%s", stdout)
	}
	must(t, "fairness", "-data", data, "-out", out, "-losses", "plrank-rb,plrank-exact", "-runs", "1", "-epochs", "2")
	if table, err = readTable(filepath.Join(out, fairnessFile)); err != nil || len(table.where("loss", disparity).rows) != 2 {
		t.Errorf("the exact disparity: %v", err)
	}
}

// The same seed gives the same CSV whatever the number of cores; another one does not.
func TestSameSeedSameCSV(t *testing.T) {
	data := folder(t)
	results := func(procs int, more ...string) string {
		before := runtime.GOMAXPROCS(procs)
		defer runtime.GOMAXPROCS(before)
		out := filepath.Join(t.TempDir(), "out")
		must(t, samplesArgs(data, out, more...)...)
		return read(t, filepath.Join(out, samplesFile))
	}
	one := results(1)
	if four := results(4); one != four {
		t.Errorf("with 1 core\n%s\nwith 4\n%s", one, four)
	}
	if other := results(4, "-seed", "6"); one == other {
		t.Error("another seed gives the same")
	}
}

// PL-Rank-1 and the placement policy gradient see the same rankings, and learn the same
// from them except for the rounding of float32: run by run, epoch by epoch.
func TestSameMethods(t *testing.T) {
	data, out := folder(t), filepath.Join(t.TempDir(), "out")
	must(t, samplesArgs(data, out)...)
	table, err := readTable(filepath.Join(out, samplesFile))
	if err != nil {
		t.Fatal(err)
	}
	of := func(loss string) []float64 {
		values, err := table.where("loss", loss).floats(mainMeasure)
		if err != nil {
			t.Fatal(err)
		}
		return values
	}
	a, b, other := of(sameMethods[0]), of(sameMethods[1]), of("plrank-rb")
	if len(a) != 2*2*3 || len(b) != len(a) {
		t.Fatalf("%d and %d values", len(a), len(b))
	}
	differs := false
	for i := range a {
		if diff := a[i] - b[i]; diff > 1e-5 || diff < -1e-5 {
			t.Errorf("value %d: %v and %v", i, a[i], b[i])
		}
		differs = differs || a[i]-other[i] > 1e-5 || other[i]-a[i] > 1e-5
	}
	if !differs {
		t.Error("PL-Rank-RB is the same, too: this test shows nothing")
	}
	same, err := coincidence(table)
	if err != nil || same == nil || len(same.Rows) != 2 || same.Rows[0][1] != "3, 3" || same.Rows[0][2] != 3 {
		t.Errorf("%v, %v", same, err)
	}
}

// Finished trials are read, not trained again: what is in their files is what comes out.
func TestFinishedTrialsStay(t *testing.T) {
	data, out := folder(t), filepath.Join(t.TempDir(), "out")
	must(t, samplesArgs(data, out)...)
	before := read(t, filepath.Join(out, samplesFile))
	files, err := filepath.Glob(filepath.Join(out, trialFolder, "*.json"))
	if err != nil || len(files) != 4*2*2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if left, _ := filepath.Glob(filepath.Join(out, trialFolder, "*.npz")); left != nil {
		t.Errorf("checkpoints of finished trials: %v", left)
	}
	one := files[slices.IndexFunc(files, func(f string) bool { return strings.Contains(f, "samples-plrank-rb-n4-run2") })]
	const marked = `"expected-dcg@5": 77,`
	text := read(t, one)
	at := strings.LastIndex(text, `"expected-dcg@5": `)
	end := at + strings.Index(text[at:], ",")
	if err := os.WriteFile(one, []byte(text[:at]+marked+text[end+1:]), 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, samplesArgs(data, out)...)
	after := read(t, filepath.Join(out, samplesFile))
	if !strings.Contains(after, ",77,") || strings.Count(after, "\n") != strings.Count(before, "\n") {
		t.Errorf("the trial in %s was not used:\n%s", one, after)
	}
	// Other settings are other trials; other data do not belong here.
	must(t, samplesArgs(data, out, "-epochs", "2")...)
	if again := read(t, filepath.Join(out, samplesFile)); strings.Contains(again, ",77,") {
		t.Error("a trial of other settings was used")
	}
	status, _, stderr := call(t.Context(), samplesArgs("synthetic:mslr", out, "-scale", "0.0003")...)
	if status != command.ExitError || !strings.Contains(stderr, out+" has results of other data") || !strings.Contains(stderr, "-out") {
		t.Errorf("status %d: %s", status, stderr)
	}
	// A file that is not what its name says.
	if err := os.WriteFile(one, []byte(strings.Replace(text, `"epochs": 3`, `"epochs": 4`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	status, _, stderr = call(t.Context(), samplesArgs(data, out)...)
	if status != command.ExitError || !strings.Contains(stderr, one) {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// A session that is interrupted, in the middle of a trial, goes on with what it has and
// ends with the same CSV.
func TestInterrupted(t *testing.T) {
	data := folder(t)
	whole, out := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "out")
	args := func(out string) []string {
		return samplesArgs(data, out, "-losses", "plrank2", "-samples", "2", "-runs", "1", "-epochs", "6")
	}
	must(t, args(whole)...)

	_, o, err := parse(args(out))
	if err != nil {
		t.Fatal(err)
	}
	s := &session{options: o, stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}
	if err := s.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := trial{experiment: "samples", loss: "plrank2", config: o.config("plrank2", 2, 0)}
	if _, err = s.train(ctx, c, func(part float64) {
		if part > 0.3 {
			cancel()
		}
	}); err == nil {
		t.Fatal("not interrupted")
	}
	checkpoint := s.trialPath(c.name() + ".checkpoint.npz")
	if _, err := os.Stat(checkpoint); err != nil {
		t.Fatal(err)
	}
	var parts []float64
	curve, err := s.train(t.Context(), c, func(part float64) { parts = append(parts, part) })
	if err != nil || len(curve) != 6 || len(parts) != 4 {
		t.Errorf("%d epochs, of which %d were trained after the interruption: %v", len(curve), len(parts), err)
	}
	must(t, args(out)...)
	if a, b := read(t, filepath.Join(whole, samplesFile)), read(t, filepath.Join(out, samplesFile)); a != b {
		t.Errorf("without interruption\n%s\nwith\n%s", a, b)
	}

	// Ctrl-C before anything.
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	status, stdout, stderr := call(cancelled, args(filepath.Join(t.TempDir(), "none"))...)
	if status != command.ExitInterrupted || stdout != "" || !strings.Contains(stderr, "the same command goes on") {
		t.Errorf("status %d, %q, %s", status, stdout, stderr)
	}
}

// Every other experiment, from end to end.
func TestEveryExperimentRuns(t *testing.T) {
	data, out := folder(t), filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		args  []string
		table string
		files []string
		rows  int // of the first file; 0: depends on time
	}{
		{[]string{"epochs", "-losses", "plrank2,lambdaloss", "-samples", "1,8", "-runs", "3", "-trial-seconds", "0.01"}, "what was measured", []string{epochsFile}, 2 * 2 * 3},
		{[]string{"time", "-losses", "plrank2,plrank-rb", "-runs", "2", "-seconds", "0.05"}, "DCG@5 by seconds of training", []string{timeFile, "time.svg", "time.png"}, 0},
		{[]string{"fairness", "-losses", "lambdaloss,policy-gradient,plrank2,plrank-rb", "-runs", "2", "-epochs", "3"}, "disparity after 3 epochs", []string{fairnessFile, "fairness-epochs.svg"}, 4 * 2 * 3},
		{[]string{"fairness", "-samples", "2,5", "-losses", "plrank2,plrank-rb", "-runs", "2", "-epochs", "3"}, "disparity by epoch", []string{fairnessSamplesFile, "fairness-samples.svg"}, 2 * 2 * 2 * 3},
		{[]string{"fairness", "-weights", "0,10", "-runs", "2", "-epochs", "2"}, "NDCG@5", []string{frontierFile, "frontier-dcg.svg", "frontier-ndcg.png"}, 2 * 2},
	} {
		stdout := must(t, append(c.args, "-data", data, "-out", out)...)
		if !strings.Contains(stdout, c.table) {
			t.Errorf("%v: no %q in\n%s", c.args, c.table, stdout)
		}
		for _, name := range c.files {
			if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
				t.Errorf("%v: %s: %v", c.args, name, err)
			}
		}
		if n := strings.Count(read(t, filepath.Join(out, c.files[0])), "\n") - 1; c.rows > 0 && n != c.rows {
			t.Errorf("%v: %d rows, want %d", c.args, n, c.rows)
		}
	}
	report := read(t, filepath.Join(out, reportFile))
	for _, c := range []chapter{epochsChapter, timeChapter, fairnessChapter, fairnessSamplesChapter, frontierChapter} {
		if !strings.Contains(report, "## "+c.title) {
			t.Errorf("the report has no chapter %q", c.title)
		}
	}
	again := filepath.Join(t.TempDir(), "again")
	must(t, "fairness", "-losses", "lambdaloss,policy-gradient,plrank2,plrank-rb", "-runs", "2", "-epochs", "3", "-data", data, "-out", again)
	if read(t, filepath.Join(out, fairnessFile)) != read(t, filepath.Join(again, fairnessFile)) {
		t.Error("the same seed gives another disparity")
	}
}

// Training for the disparity lowers it, by every estimator.
func TestFairnessLearns(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	must(t, "fairness", "-data", folder(t), "-out", out, "-losses", "policy-gradient,placement-policy-gradient,plrank1,plrank2,plrank-rb", "-runs", "1", "-epochs", "12", "-lr", "0.2")
	table, err := readTable(filepath.Join(out, fairnessFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, loss := range table.distinct("loss") {
		values, err := table.where("loss", loss).floats(disparity)
		if err != nil {
			t.Fatal(err)
		}
		if first, last := values[0], values[len(values)-1]; !(last < first) {
			t.Errorf("%s: disparity %v, from %v", loss, last, first)
		}
	}
}

func TestAllRunsEveryExperiment(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"all", "-data", folder(t), "-out", out, "-minutes", "0.02", "-losses", "lambdaloss,plrank2,plrank-rb", "-samples", "1,1000", "-epochs", "8"}
	must(t, args...)
	for _, c := range chapters() {
		if c.name == fairnessSamplesChapter.name || c.name == exactChapter.name || c.name == authorsChapter.name || c.name == changesChapter.name {
			continue // only where -samples asks for it; not of the data; not by this command
		}
		if _, err := os.Stat(filepath.Join(out, c.csv)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		var from provenance
		if found, err := readJSON(filepath.Join(out, c.name+provenanceEnding), &from); !found || err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if !strings.HasPrefix(from.Command, "go run ./reproduce all ") {
			t.Errorf("%s came from %q", c.name, from.Command)
		}
		if c.name == "samples" && (from.Settings.Runs >= paperRuns || len(from.LeftOut) == 0) {
			t.Errorf("about a second, and nothing was left out: %+v", from)
		}
	}
	// The plan is kept: what is finished is not repeated with other numbers of runs.
	before := read(t, filepath.Join(out, samplesFile))
	must(t, args...)
	if after := read(t, filepath.Join(out, samplesFile)); after != before {
		t.Error("called again, it does other runs")
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                                      "want a subcommand: samples, epochs, time,",
		"figures":                               `unknown subcommand "figures": want one of samples, epochs, time, fairness,`,
		"samples -losses plrank3":               "no loss \"plrank3\": the nearest of",
		"samples -losses plrank2,plrank2":       "plrank2 is repeated",
		"samples -samples 0":                    "want numbers of 1 or more",
		"samples -weights 1":                    "-weights does not apply to samples",
		"samples -runs 0":                       "-runs 0: want 1 or more",
		"samples -without lambdaloss":           "want a loss, @ and a number",
		"samples -without x@1":                  "no loss \"x\"",
		"samples more":                          `unexpected argument "more"`,
		"samples -scale 2":                      "-scale 2: want a fraction in (0, 1]",
		"fairness -weights -1":                  "of 0 or more",
		"fairness -weights 1 -samples 5":        "-samples cannot be used with -weights",
		"fairness -weights 1 -losses plrank2":   "-losses cannot be used with -weights",
		"fairness -losses softmax":              "softmax",
		"all -losses plrank2,softmax":           "softmax",
		"samples -data synthetic:letor":         "mslr, yahoo, istella",
		"samples -samples 5 -without plrank2@6": "has no 6",
		"variance -model x":                     "-out",
		"variance -model x -out y -epochs 2":    "-epochs cannot be used with -model",
		"time -seconds NaN":                     "-seconds NaN: want a number above 0",
	} {
		status, stdout, stderr := call(t.Context(), strings.Fields(args)...)
		if status != command.ExitUsage || stdout != "" || !strings.Contains(stderr, want) || !strings.Contains(stderr, "-help") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d: %s%s", args, status, stdout, stderr)
		}
	}
	for args, want := range map[string]string{
		"samples -data no/such/folder":      "no/such/folder",
		"epochs -data testdata/x -fold 100": "testdata/x",
	} {
		status, _, stderr := call(t.Context(), append(strings.Fields(args), "-out", filepath.Join(t.TempDir(), "out"))...)
		if status != command.ExitError || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d: %s", args, status, stderr)
		}
	}
	// No test split.
	dir := folder(t)
	if err := os.Remove(filepath.Join(dir, "test.txt")); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := call(t.Context(), "samples", "-data", dir); status != command.ExitError || !strings.Contains(stderr, "no test split") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// The manual has every subcommand, and every flag, which some subcommand has.
func TestHelp(t *testing.T) {
	status, stdout, stderr := call(t.Context(), "-help")
	if status != 0 || stderr != "" {
		t.Errorf("status %d: %s", status, stderr)
	}
	for _, c := range subcommands() {
		if !strings.Contains(stdout, "\n  "+c.name+"\n") {
			t.Errorf("no %s", c.name)
		}
		for _, f := range c.flags {
			if defaults().flags().Lookup(f) == nil {
				t.Errorf("%s has a flag -%s that there is not", c.name, f)
			}
			if !strings.Contains(stdout, "\n  -"+f+" ") && !strings.Contains(stdout, "\n  -"+f+"\n") { // the latter: on or off
				t.Errorf("no flag -%s", f)
			}
		}
	}
}

// A full is a device without any room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputLost(t *testing.T) {
	data := folder(t)
	for _, args := range [][]string{{"-help"}, samplesArgs(data, t.TempDir(), "-epochs", "1")} {
		var stderr bytes.Buffer
		if status := run(t.Context(), args, full{}, &stderr); status != command.ExitError || !strings.HasSuffix(stderr.String(), "reproduce: standard output: no space left on device\n") {
			t.Errorf("%v: %d, %q", args, status, &stderr)
		}
	}
}

func TestOneCallInAFolder(t *testing.T) {
	out := t.TempDir()
	lock, err := file.TakeLock(filepath.Join(out, ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"exact", "-out", out}
	if status, _, stderr := call(t.Context(), args...); status != command.ExitError || !strings.Contains(stderr, "another call is at work in "+out) {
		t.Errorf("during another call: %d, %s", status, stderr)
	}
	lock.Release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, stderr := call(ctx, args...); strings.Contains(stderr, "another call") {
		t.Errorf("after it: %s", stderr)
	}
	if _, err := os.Stat(filepath.Join(out, ".lock")); err == nil {
		t.Error("the lock stays")
	}
}
