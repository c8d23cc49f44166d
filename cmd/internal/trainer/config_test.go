package trainer

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/train"
)

// A run is repeated from its config.json, and flags override it.
func TestRunIsRepeatedFromItsConfig(t *testing.T) {
	t.Parallel()
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
	older, dropped := filepath.Join(t.TempDir(), "older.json"), filepath.Join(t.TempDir(), "dropped.json")
	write(t, older, `{"sharedMembers": 0, "latentCross": false, "categorical": [17, "brand"], "seed": 5}`)
	if o, err := parse([]string{"-config", older}); err != nil || o.Seed != 5 || !slices.Equal(o.Categorical, train.Features{"17", "brand"}) {
		t.Errorf("a file of an older version: %+v, %v", o, err)
	}
	write(t, dropped, `{"sharedMembers": 4}`)
	grouped, ofItems := t.TempDir(), t.TempDir()
	write(t, filepath.Join(grouped, "config.json"), `{"groups": "sellers.txt"}`)
	write(t, filepath.Join(ofItems, "config.json"), `{"items": "runners.csv"}`)
	for args, want := range map[string]string{
		"-preset paper -config " + config: "-preset has no meaning with -config",
		"-config none.json":               "none.json: no such file",
		"-config " + bad:                  `unknown field "learningrat"`,
		"-resume -out " + grouped:         "groups are not read from sellers.txt any more",
		"-resume -out " + ofItems:         "the items of runners.csv are not joined any more",
		"-config " + dropped:              "dropped.json: shared members and latent cross are not trained from plrank v0.1.0 on",
	} {
		if status, _, stderr := call(strings.Fields(args)...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", args, status, stderr)
		}
	}
}

// The flags that need -data, or -clicks, find it in the files of a run, too: with -config, and with -resume, where the
// paths of data may change.
func TestPathsBesideThoseOfARun(t *testing.T) {
	t.Parallel()
	data, moved := fold(t), fold(t)
	vali := filepath.Join(moved, "vali.txt")
	out, _ := trained(t, data)
	config := filepath.Join(out, "config.json")
	if o, err := parse([]string{"-config", config, "-vali", vali}); err != nil || o.Data != data || o.Vali != vali {
		t.Errorf("-config: %+v, %v", o, err)
	}
	must(t, "-resume", "-out", out, "-epochs", "2", "-vali", vali)

	_, log, bias := logged(t)
	out = filepath.Join(t.TempDir(), "clicks")
	callQuick(t, "-clicks", log, "-bias", bias, "-out", out)
	must(t, "-resume", "-out", out, "-epochs", "2", "-bias", bias)
	if o, err := parse([]string{"-config", filepath.Join(out, "config.json"), "-estimator", "dr(0.1)"}); err != nil || o.Clicks != log || o.Estimator != "dr(0.1)" {
		t.Errorf("-config: %+v, %v", o, err)
	}
	if _, err := parse([]string{"-config", filepath.Join(out, "config.json"), "-vali", vali}); err == nil || !strings.Contains(err.Error(), "-vali, -test and -fold need -data") {
		t.Errorf("without -data: %v", err)
	}
}

// With -json, standard output is an object for each epoch and one at the end.
func TestJSONIsAnObjectForEachEpoch(t *testing.T) {
	t.Parallel()
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

// Why a run stopped is said.
func TestReasonOfTheEndIsSaid(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		3: "stopped after epoch 3: none of the last 2 was better (-patience)",
		9: "all 9 epochs are done",
	} {
		if got := ending(train.Config{Optimization: train.Optimization{Epochs: 9, Patience: 2}}, &train.Result{History: make([]train.Epoch, n)}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
