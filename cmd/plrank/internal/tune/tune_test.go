package tune

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/train"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

var (
	must = commandtest.Command(Run).Must
	call = commandtest.Command(Run).Call
)

// quick are flags of the shortest trials.
func quick(args ...string) []string {
	return append([]string{"-epochs", "1", "-members", "1", "-scorer", "mlp"}, args...)
}

// A result is what -json prints.
type result struct {
	Metric  string
	Trials  []*trial
	Command []string
	Model   string
}

func parsed(t *testing.T, text string) (r result) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err, text)
	}
	return r
}

// checkCommand trains by the command for the best trial, whose value the model in the folder must have.
func checkCommand(t *testing.T, r result, out string) {
	t.Helper()
	commandtest.Command(trainer.Run).Must(t, r.Command[2:]...)
	var summary cli.RunSummary
	if err := json.Unmarshal([]byte(commandtest.Read(t, filepath.Join(out, "best", "result.json"))), &summary); err != nil {
		t.Fatal(err)
	}
	if got := summary.Metrics["vali"][r.Metric]; got != r.Trials[0].Value {
		t.Errorf("the model has %v, the trial had %v", got, r.Trials[0].Value)
	}
}

// The command of the best trial trains a model with the value that the trial had, also where a
// word of it has a blank; and no trial has a better one.
func TestCommandOfTheBestGivesItsValue(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my data")
	commandtest.Letor(t, filepath.Join(dir, "train.txt"), 20, 1)
	commandtest.Letor(t, filepath.Join(dir, "vali.txt"), 10, 2)
	commandtest.Letor(t, filepath.Join(dir, "test.txt"), 10, 3)
	args := quick("-data", dir, "-grid", "lr=.001,.03", "-grid", "hidden=4;4,2", "-epochs", "2")
	out := filepath.Join(t.TempDir(), "tuning")
	stdout, stderr := must(t, append(args, "-json", "-out", out)...)
	r := parsed(t, stdout)
	if len(r.Trials) != 5 || r.Metric != "expected-ndcg@10" || !regexp.MustCompile(`(?m)  best(  \S+ left)?$`).MatchString(stderr) {
		t.Fatalf("%+v\n%s", r, stderr)
	}
	for _, other := range r.Trials[1:] {
		if other.Value > r.Trials[0].Value || other.End != complete {
			t.Errorf("%+v is better than %+v", other, r.Trials[0])
		}
	}
	checkCommand(t, r, out)
	text, _ := must(t, args...)
	if !strings.Contains(text, "'-data="+dir+"'") || !strings.Contains(text, "plrank train") || strings.Contains(text, "test:") {
		t.Errorf("%s", text)
	}
}

// On folds, too, the command gives the value: all folds have the highest grade of all their data, and -fold is the
// only one.
func TestCommandOfTheBestOnFoldsGivesItsValue(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "one.txt")
	commandtest.Letor(t, data, 12, 1)
	commandtest.Write(t, data, commandtest.Read(t, data)+"4 qid:99 1:1 2:1 4:1\n0 qid:99 1:0 2:1 4:0\n")
	for _, fold := range []string{"0", "2"} {
		out := filepath.Join(t.TempDir(), "tuning")
		stdout, _ := must(t, quick("-data", data, "-folds", "3", "-fold", fold, "-metric", "err@5", "-grid", "lr=.01,.02", "-json", "-out", out)...)
		r := parsed(t, stdout)
		trained, _ := commandtest.Command(trainer.Run).Must(t, append(r.Command[2:], "-json")...)
		trained = strings.TrimSpace(trained)
		var report struct {
			Splits []struct {
				Name string
				Rows []map[string]json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(trained[strings.LastIndexByte(trained, '\n')+1:]), &report); err != nil {
			t.Fatal(err)
		}
		rows := report.Splits[1].Rows
		text := rows[len(rows)-1][r.Metric]
		var mean struct{ Mean train.Value }
		if fold != "0" {
			text = json.RawMessage(`{"mean":` + string(text) + "}")
		}
		if err := json.Unmarshal(text, &mean); err != nil {
			t.Fatal(err)
		}
		if got, want := mean.Mean, r.Trials[0].Value; report.Splits[1].Name != "vali" || math.Abs(float64(got-want)) > 1e-12 {
			t.Errorf("-fold %s: the models have %v, the trial had %v", fold, got, want)
		}
	}
}

// The highest grade is the one of all splits, for a trial as for the command.
func TestTrialsGoByTheHighestGradeOfTheTestSplit(t *testing.T) {
	t.Parallel()
	data := commandtest.Fold(t)
	test := filepath.Join(data, "test.txt")
	commandtest.Write(t, test, commandtest.Read(t, test)+"1 qid:99 1:1 2:1 4:0\n4 qid:99 1:1 2:1 4:1\n0 qid:100 1:0 2:1 4:0\n")
	out := filepath.Join(t.TempDir(), "tuning")
	stdout, _ := must(t, quick("-data", data, "-metric", "err@5", "-grid", "lr=.01", "-json", "-out", out)...)
	r := parsed(t, stdout)
	checkCommand(t, r, out)
}

// A -config may be of a run that measured its test split after every epoch.
func TestConfigOfARunThatEvaluatedItsTestSplit(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "run")
	commandtest.Command(trainer.Run).Quick(t, "-data", commandtest.Fold(t), "-evaluate-test", "-out", out)
	stdout, _ := must(t, "-config", filepath.Join(out, "config.json"), "-grid", "lr=.01", "-json")
	if r := parsed(t, stdout); r.Trials[0].End != complete {
		t.Errorf("%+v", r.Trials[0])
	}
}

// A flag that has no effect in any trial is a warning; not one that has some in a trial.
func TestFlagsWithoutEffectInAnyTrialAreWarnings(t *testing.T) {
	t.Parallel()
	data := commandtest.Fold(t)
	for _, c := range []struct{ args, want string }{
		{"-grid momentum=.1,.9", "-momentum has no effect with -optimizer adam: it is for -optimizer momentum"},
		{"-grid momentum=.1,.9 -grid optimizer=adam,momentum", ""},
		{"-samples 5 -grid loss=softmax,mse", "-samples has no effect with -loss softmax"},
		{"-samples 5 -grid loss=softmax,plrank2", ""},
		{"-drop-label-free-test -grid lr=.1", ""}, // the command for the best has it
	} {
		_, stderr := must(t, append(strings.Fields(c.args), "-data", data, "-epochs", "1", "-members", "1")...)
		if n := strings.Count(stderr, "no effect"); !strings.Contains(stderr, c.want) || (n > 0) != (c.want != "") || n > 1 {
			t.Errorf("%s: %s, want %q", c.args, stderr, c.want)
		}
	}
}

// The test split is not even kept.
func TestTrialsHaveNoTestSplit(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-data", commandtest.Fold(t)}, {"-data", commandtest.Folds(t, 3), "-folds", "all"}} {
		trials, err := trainer.OpenTrials(t.Context(), quick(args...), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		for _, fold := range trials.Folds {
			if fold.Test != nil || fold.Train == nil || fold.Vali == nil {
				t.Errorf("%v", fold)
			}
		}
	}
}

// lines are the trials of a log without their times.
func lines(t *testing.T, out string) []string {
	t.Helper()
	var list []string
	for line := range strings.Lines(commandtest.Read(t, filepath.Join(out, "trials.jsonl"))) {
		line, _, _ = strings.Cut(line, `,"seconds"`)
		list = append(list, strings.TrimSpace(line))
	}
	return list[1:]
}

// A search that was interrupted, or killed while it wrote a line, goes on to what it would have
// found without.
func TestInterruptedSearchGoesOn(t *testing.T) {
	t.Parallel()
	data := commandtest.Fold(t)
	args := quick("-data", data, "-grid", "lr=1e-3..1e-1", "-trials", "4", "-seed", "5")
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, append(args, "-out", whole)...)
	want := lines(t, whole)

	// Interrupted after trials 0 to 2.
	out := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(t.Context())
	stderr := &after{until: "trial 2/4", then: cancel}
	var stdout bytes.Buffer
	if status := page.DoUntil(ctx, new(options), append(args, "-out", out), nil, &stdout, stderr); status != 130 || !strings.Contains(stdout.String(), "the best of 3 trials") {
		t.Fatalf("status %d, %s\n%s", status, &stdout, &stderr.text)
	}
	path := filepath.Join(out, "trials.jsonl")
	if got := lines(t, out); !slices.Equal(got, want[:3]) {
		t.Errorf("kept %q", got)
	}
	// Killed within the next line.
	commandtest.Write(t, path, commandtest.Read(t, path)+want[3][:20])
	must(t, "-resume", "-out", out, "-threads", "1", "-trials", "3")
	must(t, "-resume", "-out", out, "-trials", "4")
	if got := lines(t, out); !slices.Equal(got, want) {
		t.Errorf("after it went on\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// With nothing left to do, it prints the same.
	a, _ := must(t, "-resume", "-out", out)
	b, _ := must(t, "-resume", "-out", whole)
	seconds := regexp.MustCompile(`(?m) +\S+$`)
	if first := func(s string) string {
		table, _, _ := strings.Cut(s, "\n\n")
		return seconds.ReplaceAllString(table, "")
	}; first(a) != first(b) {
		t.Errorf("%s\n%s", a, b)
	}

	for want, args := range map[string][]string{
		out + " exists: it contains trial0.npz: name a new folder, or go on with -resume": append(args, "-out", out),
		"-lr: -resume goes on with the flags of the search":                               {"-resume", "-out", out, "-lr", "3"},
		"-grid: -resume goes on with the flags of the search":                             {"-resume", "-out", out, "-grid", "lr=3"},
		"there is nothing to go on with":                                                  {"-resume", "-out", t.TempDir()},
		"-resume needs the folder of the trials":                                          {"-resume"},
	} {
		if status, _, stderr := call(args...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d, %s", args, status, stderr)
		}
	}
	for text, want := range map[string]string{
		"":                     "there is nothing in it",
		"{}\n":                 `its format is "", want "plrank tune 2"`,
		"no JSON\n":            "not a file of plrank tune",
		head0(t, path) + "x\n": "line 2: invalid character",
		head0(t, path) + `{"flags":["-lr=1"],"end":"complete"}` + "\n": "line 2: a trial without a value",
	} {
		bad := t.TempDir()
		commandtest.Write(t, filepath.Join(bad, "trials.jsonl"), text)
		if status, _, stderr := call("-resume", "-out", bad); status != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%q: %d, %s", text, status, stderr)
		}
	}
	commandtest.Letor(t, filepath.Join(data, "vali.txt"), 10, 7)
	if status, _, stderr := call("-resume", "-out", out); status != 1 || !strings.Contains(stderr, "is of other data: feature values, labels, queries of the validation split differ") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// head0 is the first line of a log.
func head0(t *testing.T, path string) string {
	line, _, _ := strings.Cut(commandtest.Read(t, path), "\n")
	return line + "\n"
}

// after is a writer that calls a function once a text has been written.
type after struct {
	text  bytes.Buffer
	until string
	then  func()
}

func (a *after) Write(p []byte) (int, error) {
	if strings.Contains(string(p), a.until) {
		a.then()
	}
	return a.text.Write(p)
}

// A trial that fails is kept with its error, and the others go on.
func TestFailedTrialsAreKept(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	args := quick("-data", commandtest.Fold(t), "-scorer", "attention", "-grid", "heads=2,3", "-grid", "hidden=4;6", "-out", out, "-json")
	stdout, stderr := must(t, args...)
	r := parsed(t, stdout)
	last := r.Trials[len(r.Trials)-1]
	if len(r.Trials) != 5 || last.End != failed || !strings.Contains(last.Error, "3 heads: want a number that divides 4") || !math.IsNaN(float64(last.Value)) || !strings.Contains(stderr, "failed: ") {
		t.Errorf("%+v\n%s", last, stderr)
	}
	if slices.ContainsFunc(r.Trials[:4], func(t *trial) bool { return t.End != complete }) {
		t.Errorf("%s", stdout)
	}
	table, _ := must(t, "-resume", "-out", out)
	if !strings.Contains(table, "failed") || !strings.Contains(table, "the best of 5 trials") {
		t.Errorf("%s", table)
	}
}

func TestSearchesThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	data := commandtest.Fold(t)
	for want, args := range map[string][]string{
		"want minutes":                            {"-minutes", "-1"},
		"-grid lr: want a flag and its values":    {"-grid", "lr"},
		"no flag of that name":                    {"-grid", "lrr=1,2"},
		"can be tried: the nearest of":            {"-grid", "metric=map,ndcg@5"},
		"-lr is given for all trials, too":        {"-grid", "lr=1,2", "-lr", "3"},
		"no trial with -loss=plrnk: ":             {"-grid", "loss=plrank-rb,plrnk"},
		"no trial with -hidden=x: ":               {"-grid", "hidden=x"},
		"-trials -1: want 0 to 10000":             {"-grid", "lr=1,2", "-trials", "-1"},
		"-grid has a range: -trials must say":     {"-grid", "lr=1..2"},
		"-metric must name one for all":           {"-grid", "loss=plrank-rb,plrank-rb+disparity"},
		"the metric loss goes by -samples":        {"-grid", "samples=5,6", "-metric", "loss"},
		"the metric ndcg@5-loss goes by -samples": {"-grid", "samples=5,6", "-metric", "ndcg@5-loss"},
		"the metric disparity goes by -cutoff":    {"-grid", "cutoff=5,6", "-metric", "disparity"},
		"no such file or directory":               {"-grid", "lr=1,2", "-data", filepath.Join(data, "none")},
		`unknown metric "nonsense"`:               {"-grid", "lr=1,2", "-metric", "nonsense"},
		"there is no flag -evaluate-test":         {"-grid", "lr=1,2", "-evaluate-test"},
	} {
		status, _, stderr := call(append(quick("-data", data), args...)...)
		if status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%q: %d, %s", args, status, stderr)
		}
	}
	if _, err := os.Stat("trials.jsonl"); err == nil {
		t.Error("a file without -out")
	}
}

// No metric goes by -normalize but the loss: values of trials with and without it are comparable.
func TestNormalizeCanBeTriedByAMetricWithoutACutoff(t *testing.T) {
	t.Parallel()
	args := quick("-data", commandtest.Fold(t), "-grid", "normalize=true,false")
	must(t, append(args, "-metric", "map")...)
	if status, _, stderr := call(append(args, "-metric", "loss")...); status == 0 || !strings.Contains(stderr, "the metric loss goes by -normalize") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// What -report names has a column, with the value of the best epoch, as the training of these flags has it.
func TestReportedMetricsHaveColumns(t *testing.T) {
	t.Parallel()
	shop := commandtest.Shop(t)
	args := []string{"-data", shop, "-group-column", "seller", "-report", "exposure-ratio,P@3", "-epochs", "2", "-members", "1"}
	stdout, _ := must(t, append(args, "-grid", "hidden=;4")...)
	for _, want := range []string{"exposure-ratio", "precision@3", ": -hidden=\n", ": -hidden=4\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %s in\n%s", want, stdout)
		}
	}
	var r struct {
		Trials []trial `json:"trials"`
	}
	stdout, _ = must(t, append(args, "-grid", "hidden=;4", "-json")...)
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	for _, trial := range r.Trials {
		if ratio, p := trial.Report["exposure-ratio"], trial.Report["precision@3"]; len(trial.Report) != 2 || !(ratio > 0 && ratio <= 1) || !(p > 0 && p <= 1) {
			t.Errorf("%v: %v", trial.Flags, trial.Report)
		}
	}
}

// Relevance and fairness of several weights come from one command: each trial has the epoch that is the best by its own
// loss, as the command for it has, and a column for each measure.
func TestWeightsOfFairnessAreTried(t *testing.T) {
	t.Parallel()
	shop, out := commandtest.Shop(t), filepath.Join(t.TempDir(), "out")
	args := quick("-data", shop, "-group-column", "seller", "-grid", "loss=plrank-exact;plrank-exact+3*group-exposure;plrank-exact+100*group-exposure", "-report", "exposure-ratio", "-epochs", "3")
	stdout, _ := must(t, append(args, "-out", out, "-json")...)
	r := parsed(t, stdout)
	if len(r.Trials) != 4 || r.Metric != "expected-ndcg@10" {
		t.Fatalf("%s", stdout)
	}
	checkCommand(t, r, out)
	if least, most := r.Trials[3], r.Trials[0]; least.Flags[0] != "-loss=plrank-exact+100*group-exposure" || least.Report["exposure-ratio"] <= most.Report["exposure-ratio"] {
		t.Errorf("%+v is not fairer than %+v", least, most)
	}
	if text, _ := must(t, "-resume", "-out", out); !strings.Contains(text, "expected-ndcg@10  exposure-ratio  epoch") {
		t.Error(text)
	}
}

// Tables fit the terminal, whatever the length of the flags.
func TestTableFitsTheTerminal(t *testing.T) {
	t.Parallel()
	data := commandtest.Fold(t)
	text, _ := must(t, quick("-data", data, "-grid", "lr=1e-4", "-grid", "hidden=4", "-grid", "loss=plrank-exact+0.1*softmax", "-grid", "activation=gelu", "-metric", "ndcg@10")...)
	table, _, _ := strings.Cut(text, "to make its model")
	for line := range strings.Lines(table) {
		if len(line) > 81 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
}
