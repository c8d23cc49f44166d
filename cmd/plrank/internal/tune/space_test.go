package tune

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/recipe"
)

// All values of the space make sense, alone and together, and every flag of it can be tried.
func TestSpaceMakesSense(t *testing.T) {
	t.Parallel()
	data, err := trainer.OpenTrials(t.Context(), []string{"-data=" + commandtest.Fold(t)}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	g := gridOf(t, recipe.Networks...)
	trials, err := g.trials(20, 1)
	if err != nil || len(recipe.Networks) < 12 {
		t.Fatal(len(recipe.Networks), err)
	}
	trees, err := gridOf(t, recipe.Forests...).trials(10, 1)
	if err != nil {
		t.Fatal(err)
	}
	trials = append(trials, trees...)
	for _, c := range g {
		if err := c.check(false); err != nil {
			t.Error(err)
		}
		for _, value := range c.values {
			trials = append(trials, []string{"-" + c.flag + "=" + value})
		}
	}
	for _, flags := range trials {
		if _, _, err := data.Config(flags...); err != nil {
			t.Errorf("%v: %v", flags, err)
		}
	}
}

// Without -grid the first trial is the recipe, and others have all flags of the space but those given. Values are of
// a metric that does not depend on the scale of scores, unless another is asked for.
func TestSearchWithoutGrid(t *testing.T) {
	t.Parallel()
	data := commandtest.Fold(t)
	out := filepath.Join(t.TempDir(), "tuning")
	args := quick("-data", data, "-hidden", "4", "-trials", "3", "-seed", "2")
	stdout, stderr := must(t, append(args, "-json", "-out", out)...)
	r := parsed(t, stdout)
	checkCommand(t, r, out)
	if len(r.Trials) != 3 || r.Metric != "ndcg@10" || !slices.Contains(r.Command, "-metric=ndcg@10") || !strings.Contains(stderr, "trial 3/3  -") {
		t.Fatalf("%+v\n%s", r, stderr)
	}
	var first trial
	if err := json.Unmarshal([]byte(lines(t, out)[0]+"}"), &first); err != nil || len(first.Flags) != 0 {
		t.Errorf("%+v, %v: not the recipe", first, err)
	}
	for _, trial := range r.Trials {
		given := []string{"hidden", "epochs", "members"}
		if n := len(trial.Flags); n != 0 && n != len(recipe.Networks)-len(given) {
			t.Errorf("%q", trial.Flags)
		}
		for _, flag := range given {
			if slices.ContainsFunc(trial.Flags, func(f string) bool { return strings.HasPrefix(f, "-"+flag+"=") }) {
				t.Errorf("%q have -%s, which is given for all", trial.Flags, flag)
			}
		}
	}
	stdout, _ = must(t, "-resume", "-out", out, "-trials", "4")
	if !strings.Contains(stdout, "the best of 4 trials") || strings.Count(stdout, "recipe") != len(recipe.Networks)-3 {
		t.Errorf("%s", stdout)
	}
	// Where nothing is said of models, some trials are forests, and the first is a network.
	stdout, _ = must(t, "-data", data, "-trials", "3", "-json", "-epochs", "1")
	r = parsed(t, stdout)
	if n := len(slices.DeleteFunc(r.Trials, func(t *trial) bool { return !slices.Contains(t.Flags, "-scorer=forest") })); n != 1 {
		t.Errorf("%d forests: %s", n, stdout)
	}
	stdout, _ = must(t, append(args, "-json", "-metric", "expected-ndcg@10", "-trials", "1")...)
	if r := parsed(t, stdout); r.Metric != "expected-ndcg@10" {
		t.Errorf("%+v", r)
	}
	// Values of the loss compare no losses.
	stdout, _ = must(t, append(args, "-metric", "loss", "-trials", "2")...)
	if strings.Contains(stdout, "-loss") {
		t.Errorf("%s", stdout)
	}
}

// A trial is cut when the time is over. It counts with its best epoch so far, and is run again by a search that goes on.
func TestTrialIsCutWhenTheTimeIsOver(t *testing.T) {
	t.Parallel()
	data := commandtest.Fold(t)
	for minutes := 0.01; ; minutes *= 2 { // until there is time for an epoch on this machine
		out := filepath.Join(t.TempDir(), "out")
		args := quick("-data", data, "-epochs", "1000000", "-minutes", strconv.FormatFloat(minutes, 'g', -1, 64), "-json", "-out", out)
		stdout, stderr := must(t, args...)
		r := parsed(t, stdout)
		if len(r.Trials) == 0 && minutes < 1 {
			continue
		}
		if len(r.Trials) != 1 || r.Trials[0].End != cut || r.Command == nil || !strings.Contains(stderr, "trial 1    "+r.Metric) || !strings.Contains(stderr, "of 1000000  best") {
			t.Fatalf("%s\n%s", stdout, stderr)
		}
		if kept := lines(t, out); len(kept) != 0 {
			t.Errorf("%q", kept)
		}
		if status, stdout, stderr := call("-resume", "-out", out, "-minutes", "1e-9"); status != 0 || !strings.HasPrefix(stdout, "0 trials") {
			t.Errorf("%d, %s, %s", status, stdout, stderr)
		}
		return
	}
}

// No trial begins without hope for half of one.
func TestTrialNeedsTimeForHalfOfOne(t *testing.T) {
	for left, want := range map[time.Duration]bool{-time.Second: false, 4 * time.Second: false, 7 * time.Second: true} {
		s := &search{end: time.Now().Add(left), done: []*trial{{Seconds: 4}, {Seconds: 16}}}
		if got := s.timeFor(); got != want {
			t.Errorf("%v: %t", left, got)
		}
		if s.done = nil; s.timeFor() != (left > 0) {
			t.Errorf("%v: the first trial", left)
		}
	}
	if !new(search).timeFor() {
		t.Error("a search without end has no time")
	}
}
