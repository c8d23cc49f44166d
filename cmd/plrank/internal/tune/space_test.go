package tune

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/cmd/plrank/internal/evaluate"
	"github.com/plrank/plrank/cmd/plrank/internal/mix"
	"github.com/plrank/plrank/train"
)

// All values of the space make sense, alone and together, and every flag of it can be tried.
func TestSpaceMakesSense(t *testing.T) {
	t.Parallel()
	data, err := trainer.OpenTrials(t.Context(), []string{"-data=" + commandtest.Fold(t)}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	spaces, err := shared(nil).spaces("ndcg@10")
	if err != nil || len(spaces) != 2 || len(spaces[0]) < 12 {
		t.Fatal(spaces, err)
	}
	for _, g := range spaces {
		var trials [][]string
		for i := range uint64(15) {
			trials = append(trials, g.draw(rand.New(rand.NewPCG(1, i))))
		}
		for _, c := range g {
			if err := c.check(false); err != nil {
				t.Error(err)
			}
			for _, value := range c.values {
				trials = append(trials, []string{"-" + g[0].flag + "=" + g[0].values[0], "-" + c.flag + "=" + value})
			}
		}
		for _, flags := range trials {
			if _, _, err := data.Models(flags...); err != nil {
				t.Errorf("%v: %v", flags, err)
			}
		}
	}
}

// flagsOf returns the names of the flags of trials that are not mixtures, after trial 0.
func flagsOf(trials []*trial) (list [][]string) {
	for _, t := range trials {
		if t.Number > 0 && t.Parts == nil {
			var names []string
			for _, f := range t.Flags {
				name, _, _ := strings.Cut(f, "=")
				names = append(names, name)
			}
			list = append(list, names)
		}
	}
	return list
}

// Without -grid, trial 0 is the plan as it is, others are networks, forests and mixtures of the best, and nothing worse than trial 0 is
// the best. Values are of rankings, unless another metric is asked for. The best model is kept, and has its value.
func TestSearchWithoutGrid(t *testing.T) {
	t.Parallel()
	data, out := commandtest.Fold(t), filepath.Join(t.TempDir(), "tuning")
	stdout, stderr := must(t, "-data", data, "-epochs", "2", "-trials", "4", "-seed", "2", "-json", "-out", out)
	r := parsed(t, stdout)
	if len(r.Trials) != 5 || r.Metric != "ndcg@10" || !strings.Contains(stderr, "trial 0/4  the plan as it is  ndcg@10") {
		t.Fatalf("%+v\n%s", r, stderr)
	}
	forests, mixtures := 0, 0
	for _, trial := range r.Trials {
		switch {
		case trial.End != complete || trial.Value > r.Trials[0].Value || trial.Number == 0 && len(trial.Flags) > 0:
			t.Errorf("%+v", trial)
		case trial.Parts != nil:
			mixtures++
		case slices.Contains(trial.Flags, "-scorer=forest"):
			forests++
		}
	}
	if forests != 2 || mixtures != 1 {
		t.Errorf("%d forests, %d mixtures: %s", forests, mixtures, stdout)
	}
	for _, trial := range r.Trials {
		model := filepath.Join(out, fmt.Sprintf("trial%d.npz", trial.Number))
		if trial.Number == r.Trials[0].Number && r.Model != model {
			t.Errorf("the best model is %s, not %s", r.Model, model)
		}
		if trial.Parts != nil { // made again from its parts
			model = filepath.Join(t.TempDir(), "mixed.npz")
			args, weights := []string{"-out", model}, ""
			for _, p := range trial.Parts {
				args, weights = append(args, filepath.Join(out, fmt.Sprintf("trial%d.npz", p.Trial))), weights+fmt.Sprintf("%v,", p.Weight)
			}
			if len(args) > 3 { // mix takes two or more
				commandtest.Command(mix.Run).Must(t, append(args, "-weights", weights)...)
			} else {
				model = args[2]
			}
		}
		measured, _ := commandtest.Command(evaluate.Run).Must(t, "-model", model, "-data", data, "-metric", "ndcg@10", "-json")
		var report train.Report
		if err := json.Unmarshal([]byte(measured), &report); err != nil {
			t.Fatal(err)
		}
		vali := report.Splits[1]
		if got := vali.Rows[len(vali.Rows)-1]["ndcg@10"]; vali.Name != "vali" || math.Abs(float64(got-trial.Value)) > 1e-12 {
			t.Errorf("%s of %s: %v, want %v", vali.Name, model, got, trial.Value)
		}
	}
	stdout, _ = must(t, "-resume", "-out", out, "-trials", "8")
	if !strings.Contains(stdout, "the best of 9 trials") || !strings.Contains(stdout, "its model is "+out) || !strings.Contains(stdout, " × trial ") {
		t.Errorf("%s", stdout)
	}
	for line := range strings.Lines(stdout[:strings.Index(stdout, "\n\n")]) {
		if utf8.RuneCountInString(line) > 81 {
			t.Errorf("%d characters: %s", utf8.RuneCountInString(line), line)
		}
	}
	stdout, _ = must(t, "-data", data, "-epochs", "1", "-metric", "expected-ndcg@10", "-trials", "1", "-json")
	if r := parsed(t, stdout); r.Metric != "expected-ndcg@10" {
		t.Errorf("%+v", r)
	}
	// A flag of models leaves the plan what train makes of it.
	stdout, stderr = must(t, "-data", data, "-epochs", "1", "-hidden", "4", "-trials", "1", "-json")
	if r := parsed(t, stdout); !strings.Contains(stderr, "-hidden 4: for model 3") || r.Trials[0].Number == 0 && slices.Contains(r.Command, "-scorer=mlp") {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	// A metric may be spelt in other ways.
	stdout, _ = must(t, "-data", data, "-epochs", "1", "-metric", "NDCG@05", "-trials", "1", "-json")
	if r := parsed(t, stdout); r.Metric != "ndcg@5" || !(r.Trials[1].Value > 0) {
		t.Errorf("%+v", r)
	}
	// Values of the loss compare no losses.
	stdout, _ = must(t, "-data", data, "-epochs", "1", "-metric", "loss", "-trials", "2", "-hidden", "4", "-json")
	for _, flags := range flagsOf(parsed(t, stdout).Trials) {
		if slices.Contains(flags, "-loss") {
			t.Errorf("%q", flags)
		}
	}
}

// Spaces go by the scorer: a forest has depth, leaves and the like, and no trial is left out.
func TestSpacesAreOfTheScorer(t *testing.T) {
	t.Parallel()
	data := commandtest.Fold(t)
	for args, want := range map[string][]string{
		"-scorer forest":              {"-loss", "-lr", "-depth", "-leaves", "-min-weight", "-l2", "-sampling", "-feature-sampling", "-bins"},
		"-rising 1 -scorer forest":    {"-loss", "-lr", "-depth", "-leaves", "-min-weight", "-l2", "-sampling", "-feature-sampling", "-bins"},
		"-scorer attention -blocks 1": nil, // of networks
	} {
		stdout, stderr := must(t, append(strings.Fields(args), "-data", data, "-epochs", "1", "-trials", "3", "-json")...)
		r := parsed(t, stdout)
		list := flagsOf(r.Trials)
		if len(r.Trials) != 4 || len(list) != 3 || strings.Contains(stderr, "no effect") {
			t.Errorf("%s: %s\n%s", args, stdout, stderr)
		}
		for _, flags := range list {
			if want != nil && !slices.Equal(flags, want) || want == nil && (slices.Contains(flags, "-depth") || !slices.Contains(flags, "-hidden")) {
				t.Errorf("%s: %q", args, flags)
			}
		}
	}
}

// A draw whose flags exclude each other is drawn again: 3 heads do not divide 4.
func TestInvalidDrawsAreDrawnAgain(t *testing.T) {
	t.Parallel()
	stdout, _ := must(t, "-data", commandtest.Fold(t), "-epochs", "1", "-scorer", "attention", "-blocks", "1", "-grid", "heads=2,3", "-grid", "hidden=4;6",
		"-grid", "lr=1e-3..1e-2", "-trials", "8", "-json")
	r := parsed(t, stdout)
	for _, trial := range r.Trials {
		if trial.End != complete {
			t.Errorf("%+v", trial)
		}
	}
	if len(r.Trials) != 9 {
		t.Errorf("%d trials", len(r.Trials))
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
		if len(r.Trials) != 1 || r.Trials[0].End != cut || r.Command == nil || !strings.Contains(stderr, "trial 0  the plan as it is  "+r.Metric) || !strings.Contains(stderr, ", cut short  best") {
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
