package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// A run whose last checkpoint is damaged or gone goes on from the one before it, says so,
// and ends as it would have; with both damaged it does not go on.
func TestDamagedCheckpointGivesWayToThePrevious(t *testing.T) {
	s := tinySplits()
	c := train.Config{Optimization: train.Optimization{Epochs: 4, Optimizer: "adam"}, Model: train.Model{Hidden: []int{2}}}
	all := newRun(t, c, s)
	whole := run(t, all, train.Hooks{})
	path := t.TempDir()
	dir, err := CreateRun(path)
	if err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("stopped")
	if _, err := newRun(t, c, s).Run(t.Context(), train.Hooks{Epoch: func(tr *train.Trainer, e train.Epoch) error {
		if err := dir.Epoch(tr, e); err != nil || e.Epoch < 3 {
			return err
		}
		return stopped
	}}); !errors.Is(err, stopped) {
		t.Fatal(err)
	}
	if err := dir.Wait(); err != nil {
		t.Fatal(err)
	}
	last, previous := dir.File(CheckpointFile), dir.File(PreviousFile)
	good, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(previous)
	if err != nil {
		t.Fatal(err)
	}
	put := func(path string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, damage := range map[string]func(){
		"cut short": func() { put(last, good[:len(good)/2]) },
		"changed":   func() { put(last, append(bytes.Clone(good[:300]), make([]byte, len(good)-300)...)) },
		"gone": func() {
			if err := os.Remove(last); err != nil {
				t.Fatal(err)
			}
		},
	} {
		put(previous, before)
		damage()
		tr := newRun(t, c, s)
		warnings, err := dir.Begin(tr, nil, c)
		warning := strings.Join(warnings, "\n")
		if err != nil || !strings.Contains(warning, "checkpoint.npz") || !strings.HasSuffix(warning, "going on from the checkpoint before it, after epoch 2") {
			t.Fatalf("%s: %q, %v", name, warning, err)
		}
		r := run(t, tr, train.Hooks{Epoch: dir.Epoch})
		if err := dir.Wait(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Model.Digest() != whole.Model.Digest() || current(t, tr) != current(t, all) || !reflect.DeepEqual(timeless(r.History), timeless(whole.History)) {
			t.Errorf("%s: the run ended otherwise", name)
		}
		for path, epochs := range map[string]int{last: 4, previous: 3} {
			tr := newRun(t, c, s)
			if err := tr.Restore(path); err != nil || len(tr.History()) != epochs {
				t.Errorf("%s: %s has %d epochs, %v; want %d", name, path, len(tr.History()), err, epochs)
			}
		}
	}
	put(last, good[:100])
	put(previous, before[:100])
	if _, err := dir.Begin(newRun(t, c, s), nil, c); !errors.Is(err, train.ErrDamaged) || !strings.Contains(err.Error(), "and so is the one before it") {
		t.Errorf("both damaged: %v", err)
	}
	if err := os.Remove(previous); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Begin(newRun(t, c, s), nil, c); !errors.Is(err, train.ErrDamaged) || !strings.Contains(err.Error(), "none before it") {
		t.Errorf("the only one damaged: %v", err)
	}
}

// A run that goes on knows the initial model by its own folder, and ends as it would have.
func TestRunWithInitialModelResumes(t *testing.T) {
	c := busy("adam")
	c.Loss = "plrank-exact"
	begin := run(t, newRun(t, c, small()), train.Hooks{}).Model
	c.LearningRate, c.Epochs = 5, 3
	whole, err := train.New(c.Plain(), train.Custom{Initial: begin}, small())
	if err != nil {
		t.Fatal(err)
	}
	want := run(t, whole, train.Hooks{})

	dir, err := CreateRun(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := train.New(c.Plain(), train.Custom{Initial: begin}, small())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Begin(tr, begin, c); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stopped")
	if _, err := tr.Run(t.Context(), train.Hooks{Epoch: func(t *train.Trainer, e train.Epoch) error {
		return errors.Join(dir.Epoch(t, e), dir.Wait(), stop)
	}}); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	copied, err := ranker.Open(dir.File(InitialFile))
	if err != nil {
		t.Fatal(err)
	}
	again, err := train.New(c.Plain(), train.Custom{Initial: copied}, small())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Begin(again, copied, c); err != nil {
		t.Fatal(err)
	}
	got := run(t, again, train.Hooks{Initial: func(train.Values) error { return errors.New("the initial model is validated again") }})
	if got.BestEpoch != want.BestEpoch || !reflect.DeepEqual(timeless(got.History), timeless(want.History)) ||
		!reflect.DeepEqual(got.Initial, want.Initial) || !(got.Model.Digest() == want.Model.Digest()) {
		t.Error("a run that went on ends elsewhere")
	}
}

// A model that no epoch betters is in the model file from the first epoch on.
func TestModelFileIsTheInitialModelIfNoEpochIsBetter(t *testing.T) {
	c := busy("adam")
	c.Loss, c.Patience = "plrank-exact", 2
	begin := run(t, newRun(t, c, small()), train.Hooks{}).Model
	for _, average := range []float64{0, 0.5} {
		c.LearningRate, c.Epochs, c.Average = 5, 4, average
		tr, err := train.New(c.Plain(), train.Custom{Initial: begin}, small())
		if err != nil {
			t.Fatal(err)
		}
		dir, err := CreateRun(filepath.Join(t.TempDir(), "run"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dir.Begin(tr, begin, c); err != nil {
			t.Fatal(err)
		}
		r := run(t, tr, train.Hooks{Epoch: dir.Epoch})
		if err := dir.Wait(); err != nil {
			t.Fatal(err)
		}
		saved, err := ranker.Open(dir.File(ModelFile)) // also if the run is killed now
		if err != nil || r.BestEpoch != 0 || saved.Digest() != begin.Digest() {
			t.Errorf("average %v: the model file is not the initial model: %v", average, err)
		}
	}
}
