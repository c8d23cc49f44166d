package trainer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

func TestErrorsAreOneLine(t *testing.T) {
	t.Parallel()
	data := fold(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	trainFile := filepath.Join(data, "train.txt")
	run := filepath.Join(dir, "run")
	if status, _, stderr := call("-data", data, "-scorer", "mlp", "-out", run, "-epochs", "1"); status != 0 {
		t.Fatal(stderr)
	}
	free := file("free.txt", "0 qid:1 1:1\n0 qid:1 1:2\n")

	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-lose", "x"}, 2, "-lose"},
		{[]string{"x"}, 2, `unexpected argument "x"`},
		{[]string{"--scores=y"}, 2, "there is no flag -scores (did you mean -scorer?)"},
		{[]string{"-loss", "x"}, 2, "the nearest of "},
		{[]string{"-optimizer", "x"}, 2, "sgd, momentum, adam, adamw"},
		{[]string{"-categorical", "3,x"}, 1, "no feature \"x\": ids go from 1"},
		{[]string{"-activation", "x"}, 2, "none, sigmoid, tanh, relu, gelu, swiglu"},
		{[]string{"-metric", "x"}, 2, "the nearest of "},
		{[]string{"-gain", "x"}, 2, "exp2, linear, binary"},
		{[]string{"-data", ""}, 2, "-data is empty: want a file, or leave -data out"},
		{[]string{"-out", ""}, 2, "-out is empty: want a folder, or leave -out out"},
		{[]string{"-threads", "-1"}, 2, "-threads -1: want 0 to 1024"},
		{[]string{"-cutoff", "2000000000"}, 2, "-cutoff 2000000000: want 1 to 1000000, or all"},
		{[]string{"-convention", "x"}, 2, "zero, one, skip"},
		{[]string{"-preset", "x"}, 2, "default, paper"},
		{[]string{"-samples", "some"}, 2, "dynamic"},
		{[]string{"-samples", "0"}, 2, "-samples 0: want 1 to 10000000, or dynamic"},
		{[]string{"-hidden", "64,-2"}, 2, "such as 64,32"},
		{[]string{"-epochs", "0"}, 2, "-epochs"},
		{[]string{"-epochs", "many"}, 2, "-epochs"},
		{[]string{"-lr", "0"}, 2, "-lr"},
		{[]string{"-lr", "NaN"}, 2, "learning rate is NaN: want a finite number above 0 (-lr)"},
		{[]string{"-batch", "9223372036854775807"}, 2, "batch is 9223372036854775807: want 1 to 1000000000 (-batch)"},
		{[]string{"-dropout", "1"}, 2, "[0, 1)"},
		{[]string{"-vali", "x"}, 2, "-data"},
		{[]string{"-resume"}, 2, "-out"},
		{[]string{"-resume", "-out", run, "-lr", "0.5"}, 2, `started with -lr "0.002", not "0.5"`},
		{[]string{"-resume", "-out", run, "-preset", "paper"}, 2, "started with -preset"},

		{[]string{"-transform", "x", "-data", data}, 1, `unknown transform "x"`},
		{[]string{"-data", filepath.Join(dir, "none")}, 1, "none: no such file"},
		{[]string{"-data", dir}, 1, "no training file"},
		{[]string{"-data", file("bad.txt", "1 qid:1 1:1\n1 qid:1 1:x\n")}, 1, "bad.txt:2: "},
		{[]string{"-data", file("empty.txt", "")}, 1, "empty.txt"},
		{[]string{"-data", trainFile, "-vali", filepath.Join(dir, "none")}, 1, "no such file"},
		{[]string{"-data", free, "-vali", trainFile}, 1, "free.txt has a relevant document"},
		{[]string{"-data", trainFile, "-vali", free}, 1, "free.txt has a relevant document"},
		{[]string{"-data", file("nan.txt", "nan qid:1 1:1\n0 qid:2 1:2\n")}, 1, "nan.txt:1: "},
		{[]string{"-data", file("high.txt", "99 qid:1 1:1\n0 qid:1 1:2\n"), "-vali", trainFile}, 1, "linear"},
		{[]string{"-data", data, "-out", run}, 1, "exists"},
		{[]string{"-data", data, "-out", trainFile}, 1, "exists"},
		{[]string{"-data", data, "-out", filepath.Join(trainFile, "a")}, 1, "not a directory"},
		{[]string{"-resume", "-out", run, "-data", dir}, 1, "no training file"},
		{[]string{"-resume", "-out", filepath.Join(dir, "none")}, 1, "no run to resume"},
	} {
		status, stdout, stderr := call(c.args...)
		if status != c.status || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%v: status %d, want %d; %q, want %q", c.args, status, c.status, stderr, c.want)
		}
		if n := strings.Count(strings.TrimSpace(stderr), "\n"); n > 0 {
			t.Errorf("%v: more than a line:\n%s", c.args, stderr)
		}
	}
	if entries, _ := os.ReadDir(run); len(entries) != 7 {
		t.Errorf("the folder of the first run has %d files, want 7", len(entries))
	}
}

// The folder of a run is made before the data are read, with those above it. A run that
// fails before its first checkpoint can be started again.
func TestOutIsMadeFirst(t *testing.T) {
	t.Parallel()
	data := fold(t)
	out := filepath.Join(t.TempDir(), "runs", "fold1")
	if status, _, stderr := call("-data", filepath.Join(data, "none"), "-out", out); status != 1 || !strings.Contains(stderr, "no such file") {
		t.Fatal(status, stderr)
	}
	if status, _, stderr := call("-data", data, "-out", out, "-epochs", "2", "-lr", "1e39"); status != 1 || !strings.Contains(stderr, "epoch 1, step") {
		t.Fatal(status, stderr)
	}
	if status, _, stderr := call("-data", data, "-out", out, "-epochs", "1"); status != 0 {
		t.Fatal(status, stderr)
	}
	if status, _, stderr := call("-data", filepath.Join(data, "none"), "-out", out); status != 1 || !strings.Contains(stderr, "exists") {
		t.Errorf("a run that has begun: %d, %q", status, stderr) // before the data are looked for
	}
}

// An extension is kept: a run that is interrupted in it goes on to its end by -resume
// alone, and is not at its end before. Data may have moved, but not changed.
func TestExtensionIsKept(t *testing.T) {
	t.Parallel()
	data := fold(t)
	out := filepath.Join(t.TempDir(), "run")
	if status, _, stderr := call("-data", data, "-out", out, "-epochs", "1", "-seed", "3", "-scorer", "mlp", "-hidden", "4", "-members", "1"); status != 0 {
		t.Fatal(status, stderr)
	}
	result := func() (r cli.RunSummary) {
		if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "result.json"))), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stderr := &watcher{word: "matrix products", f: cancel} // once the data are read
	if status := run(ctx, nil, []string{"-resume", "-out", out, "-epochs", "3"}, io.Discard, stderr); status != 130 || !result().Interrupted {
		t.Errorf("interrupted: %d, %q, %+v", status, stderr, result())
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(data, moved); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := call("-resume", "-out", out); status != 1 || !strings.Contains(stderr, data) {
		t.Errorf("the data have gone: %d, %q", status, stderr)
	}
	good := read(t, filepath.Join(moved, "test.txt"))
	write(t, filepath.Join(moved, "test.txt"), strings.Replace(good, " 1:", " 1:1", 1))
	if status, _, stderr := call("-resume", "-out", out, "-data", moved); status != 1 || !strings.Contains(stderr, "feature values of the test split differ") {
		t.Errorf("the data have changed: %d, %q", status, stderr)
	}
	write(t, filepath.Join(moved, "test.txt"), good)
	for range 2 { // the second time nothing is left to do
		if status, _, stderr := call("-resume", "-out", out, "-data", moved); status != 0 {
			t.Fatal(status, stderr)
		}
		if r := result(); r.Interrupted || r.Epochs != 3 {
			t.Errorf("at the end: %+v", r)
		}
	}
	whole := filepath.Join(t.TempDir(), "whole")
	if status, _, stderr := call("-data", moved, "-out", whole, "-epochs", "3", "-seed", "3", "-scorer", "mlp", "-hidden", "4", "-members", "1"); status != 0 {
		t.Fatal(status, stderr)
	}
	for _, name := range []string{"model.npz", "result.json", "config.json"} {
		if read(t, filepath.Join(whole, name)) != read(t, filepath.Join(out, name)) {
			t.Errorf("%s of the extended run differs", name)
		}
	}
}

// Interrupted before the first step, the run still ends with a model.
func TestInterruptedRunHasAModel(t *testing.T) {
	t.Parallel()
	data := fold(t)
	out := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stderr := &watcher{word: "matrix products", f: cancel} // once the data are read
	var stdout strings.Builder
	status := run(ctx, nil, []string{"-data", data, "-out", out}, &stdout, stderr)
	if status != 130 || !strings.Contains(stderr.String(), "interrupted") || !strings.Contains(stdout.String(), "test: 10 queries") {
		t.Errorf("%d, %q, %q", status, stdout.String(), stderr.String())
	}
	if _, err := ranker.Open(filepath.Join(out, "model.npz")); err != nil {
		t.Error(err)
	}
	if status, _, stderr := call("-resume", "-out", out, "-epochs", "1"); status != 0 {
		t.Errorf("going on: %d, %q", status, stderr)
	}
}

func TestFlagsOverridePresets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		want func(o *options) bool
	}{
		{"", func(o *options) bool { return o.Optimizer == "adam" && o.Preset == "default" }},
		{"-preset paper", func(o *options) bool {
			return o.Batch == 1 && slices.Equal(o.Hidden, []int{32, 32}) && o.Samples == train.Dynamic && o.Preset == "paper"
		}},
		{"-samples 7 -preset paper -loss lambdaloss", func(o *options) bool {
			return o.Samples == 7 && o.Loss == "lambdaloss" && o.LearningRate == 0.01
		}},
		{"-hidden= -activation linear", func(o *options) bool { return len(o.Hidden) == 0 && o.Activation == 0 }},
		{"-hidden 3,4 -normalize=false", func(o *options) bool { return slices.Equal(o.Hidden, []int{3, 4}) && !o.NormalizeGains }},
	} {
		o, err := parse(strings.Fields(c.args))
		if err != nil || !c.want(o) {
			t.Errorf("%s: %+v, %v", c.args, o, err)
		}
	}
}

// A full is a device without any room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A failed print is reported, whatever was to be printed.
func TestLostOutputIsAnError(t *testing.T) {
	t.Parallel()
	data := fold(t)
	for _, args := range [][]string{{"-help"}, {"-data", data, "-epochs", "1"}} {
		var stderr bytes.Buffer
		if status := run(t.Context(), nil, args, full{}, &stderr); status != 1 || !strings.HasSuffix(stderr.String(), "train: standard output: no space left on device\n") {
			t.Errorf("%v: %d, %q", args, status, &stderr)
		}
	}
}

// Training begins with a model of its own architecture, also where the run goes on; the
// settings of the learning rate are kept.
func TestTrainingBeginsWithTheInitialModel(t *testing.T) {
	t.Parallel()
	data := fold(t)
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	if status, _, stderr := call("-data", data, "-scorer", "mlp", "-out", first, "-epochs", "3"); status != 0 {
		t.Fatal(status, stderr)
	}
	model := filepath.Join(first, "model.npz")
	if status, _, stderr := call("-data", data, "-init-model", model, "-hidden", "5", "-epochs", "1"); status != 1 || !strings.Contains(stderr, "another architecture") {
		t.Errorf("another architecture: %d, %q", status, stderr)
	}
	if status, _, stderr := call("-data", data, "-init-model", model, "-out", second, "-epochs", "1", "-schedule", "plateau(2,0.1)", "-warmup", "0.5"); status != 0 {
		t.Fatal(status, stderr)
	}
	var before, after train.Epoch
	last := func(dir string) string {
		lines := strings.Split(strings.TrimSpace(read(t, filepath.Join(dir, "metrics.jsonl"))), "\n")
		return lines[len(lines)-1]
	}
	if err := errors.Join(json.Unmarshal([]byte(strings.Split(read(t, filepath.Join(first, "metrics.jsonl")), "\n")[0]), &before),
		json.Unmarshal([]byte(last(second)), &after)); err != nil || !(after.Loss < before.Loss) {
		t.Errorf("the first epoch with the model has the loss %v, without it %v (%v)", after.Loss, before.Loss, err)
	}
	if config := read(t, filepath.Join(second, "config.json")); !strings.Contains(config, `"initModel": "`+model) || !strings.Contains(config, `"schedule": "plateau(2,0.1)"`) {
		t.Errorf("config.json: %s", config)
	}
	// It goes on without the file, and names the initial model where that is the best.
	if err := os.Remove(model); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := call("-resume", "-out", second, "-epochs", "2"); status != 0 {
		t.Errorf("going on: %d, %q", status, stderr)
	}
	if status, _, stderr := call("-resume", "-out", second, "-init-model", filepath.Join(second, "model.npz")); status != 2 || !strings.Contains(stderr, "was started with -init-model") {
		t.Errorf("going on with another initial model: %d, %q", status, stderr)
	}
	third := filepath.Join(t.TempDir(), "third")
	status, stdout, stderr := call("-data", data, "-init-model", filepath.Join(second, "initial.npz"), "-out", third, "-epochs", "2", "-metric", "ndcg@10", "-json")
	if status != 0 || !strings.Contains(stderr, "the initial model is better than every epoch, and is kept") || !strings.HasPrefix(stdout, `{"initial":{`) {
		t.Errorf("epochs that are not better: %d, %q, %q", status, stdout, stderr)
	}
	var result cli.RunSummary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(third, "result.json"))), &result); err != nil || result.BestEpoch != 0 || result.Initial["ndcg@10"] != result.Metrics["vali"]["ndcg@10"] {
		t.Errorf("%+v, %v", result, err)
	}
}

// An initial model says what kind the model is. A mixture cannot be trained further, and says so before the data are read.
func TestInitialModelChoosesTheKind(t *testing.T) {
	t.Parallel()
	data, dir := fold(t), t.TempDir()
	whole, path := filepath.Join(dir, "whole"), func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	must(t, "-data", data, "-epochs", "1", "-out", whole)
	if _, stderr := must(t, "-data", data, "-init-model", path("whole", "model2", "model.npz"), "-epochs", "1"); !strings.Contains(stderr, "a forest; one model, by -init-model") {
		t.Error(stderr)
	}
	mixture := path("mixture.npz")
	parts := []*ranker.Model{}
	for _, name := range []string{"model1", "model2"} {
		m, err := ranker.Open(path("whole", name, "model.npz"))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, m)
	}
	f, err := ranker.Mix([]float64{1, 1}, parts...)
	if err == nil {
		err = f.Save(mixture)
	}
	if err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := call("-data", data, "-init-model", mixture); status != 2 || !strings.Contains(stderr, "a mixture is not trained on: want one of its models") {
		t.Errorf("a mixture: %d, %s", status, stderr)
	}
}

// Folds whose first model cannot be trained leave no folder.
func TestFoldsThatCannotBeginLeaveNoFolder(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "run")
	status, _, stderr := call("-data", folds(t, 3), "-folds", "all", "-loss", "softmax+group-exposure", "-out", out)
	if _, err := os.Stat(out); status != 1 || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%d, %v: %s", status, err, stderr)
	}
}

// Two epochs of a network that still learns are too few, and the end says so; of forty of one that does not learn, it does not.
func TestBestEpochThatIsTheLastIsSaid(t *testing.T) {
	t.Parallel()
	data := fold(t)
	for args, want := range map[string]bool{"-epochs 2 -lr 1e-4": true, "-epochs 40 -patience 3 -lr 1e-30": false} {
		_, stderr := must(t, append([]string{"-data", data, "-members", "1"}, strings.Fields(args)...)...)
		if said := strings.Contains(stderr, "the best one is epoch 2, the last: more may help (-epochs); "); said != want {
			t.Errorf("%s: %t, want %t: %s", args, said, want, stderr)
		}
	}
}
