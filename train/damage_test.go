package train

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Model files and checkpoints with a changed byte, and those that are cut short, are
// refused or mean what was written; nothing panics.
func TestDamagedFiles(t *testing.T) {
	s := tinySplits()
	c := Config{Optimization: Optimization{Epochs: 2, Optimizer: "adam"}, Model: Model{Hidden: []int{2}}}
	tr := mustNew(t, c, s)
	r := mustRun(t, tr, Hooks{})
	want, err := r.Ranker.Score(s.Test)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	model, checkpoint := filepath.Join(dir, "m.npz"), filepath.Join(dir, "c.npz")
	if err := r.Ranker.Save(model); err != nil {
		t.Fatal(err)
	}
	if err := tr.SaveCheckpoint(checkpoint); err != nil {
		t.Fatal(err)
	}
	for path, same := range map[string]func() (refused, same bool){
		model: func() (bool, bool) {
			back, err := LoadRanker(model)
			if err != nil {
				return true, false
			}
			got, err := back.Score(s.Test)
			return false, err == nil && slices.Equal(got, want)
		},
		checkpoint: func() (bool, bool) {
			back := mustNew(t, c, s)
			if err := back.Restore(checkpoint); err != nil {
				return true, len(back.history) == 0 && back.step == 0
			}
			return false, slices.Equal(back.weights, tr.weights) && reflect.DeepEqual(timeless(back.history), timeless(tr.history)) &&
				reflect.DeepEqual(back.optimizer, tr.optimizer) && slices.Equal(trainedWeights(back.best), trainedWeights(tr.best))
		},
	} {
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		try := func(data []byte) (bool, bool) {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			return same()
		}
		if refused, same := try(good); refused || !same {
			t.Fatalf("%s: the whole file is refused (%t), or another one", path, refused)
		}
		rng := rand.New(rand.NewPCG(1, 0))
		refusals := 0
		for range 400 {
			data := bytes.Clone(good)
			i := rng.IntN(len(data))
			data[i] ^= byte(1 + rng.IntN(255))
			refused, same := try(data)
			if !refused && !same {
				t.Errorf("%s: byte %d: the damage was not detected", path, i)
			}
			if refused {
				refusals++
			}
		}
		if refusals < 200 {
			t.Errorf("%s: %d of 400 damaged files are refused", path, refusals)
		}
		for range 12 {
			if refused, _ := try(good[:rng.IntN(len(good))]); !refused {
				t.Errorf("%s: a file that is cut short is not refused", path)
			}
		}
	}
}

// A run whose last checkpoint is damaged or gone goes on from the one before it, says so,
// and ends as it would have; with both damaged it does not go on.
func TestPreviousCheckpoint(t *testing.T) {
	s := tinySplits()
	c := Config{Optimization: Optimization{Epochs: 4, Optimizer: "adam"}, Model: Model{Hidden: []int{2}}}
	whole := mustNew(t, c, s)
	mustRun(t, whole, Hooks{})
	path := t.TempDir()
	dir, err := CreateDir(path)
	if err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("stopped")
	if _, err := mustNew(t, c, s).Run(t.Context(), Hooks{Epoch: func(tr *Trainer, e Epoch) error {
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
		tr := mustNew(t, c, s)
		warning, err := dir.Begin(tr, c)
		if err != nil || !strings.Contains(warning, "checkpoint.npz") || !strings.HasSuffix(warning, "going on from the checkpoint before it, after epoch 2") {
			t.Fatalf("%s: %q, %v", name, warning, err)
		}
		mustRun(t, tr, Hooks{Epoch: dir.Epoch})
		if err := dir.Wait(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(tr.weights, whole.weights) || !reflect.DeepEqual(timeless(tr.history), timeless(whole.history)) {
			t.Errorf("%s: the run ended otherwise", name)
		}
		for path, epochs := range map[string]int{last: 4, previous: 3} {
			tr := mustNew(t, c, s)
			if err := tr.Restore(path); err != nil || len(tr.history) != epochs {
				t.Errorf("%s: %s has %d epochs, %v; want %d", name, path, len(tr.history), err, epochs)
			}
		}
	}
	put(last, good[:100])
	put(previous, before[:100])
	if _, err := dir.Begin(mustNew(t, c, s), c); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "and so is the one before it") {
		t.Errorf("both damaged: %v", err)
	}
	if err := os.Remove(previous); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Begin(mustNew(t, c, s), c); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "none before it") {
		t.Errorf("the only one damaged: %v", err)
	}
}
