package train

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// Model files and checkpoints with a changed byte, and those that are cut short, are
// refused or mean what was written; nothing panics.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	s := tinySplits()
	c := Config{Optimization: Optimization{Epochs: 2, Optimizer: "adam"}, Model: Model{Hidden: []int{2}}}
	tr := mustNew(t, c, s)
	r := mustRun(t, tr, Hooks{})
	want, err := datasets.Score(r.Model, s.Test)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	model, checkpoint := filepath.Join(dir, "m.npz"), filepath.Join(dir, "c.npz")
	if err := r.Model.Save(model); err != nil {
		t.Fatal(err)
	}
	if err := saveCheckpoint(tr, checkpoint); err != nil {
		t.Fatal(err)
	}
	var back *Trainer // refused files leave it as it is
	fresh := func() { back = mustNew(t, c, s) }
	fresh()
	for path, same := range map[string]func() (refused, same bool){
		model: func() (bool, bool) {
			back, err := ranker.Open(model)
			if err != nil {
				return true, false
			}
			got, err := datasets.Score(back, s.Test)
			return false, err == nil && slices.Equal(got, want)
		},
		checkpoint: func() (bool, bool) {
			if err := back.Restore(checkpoint); err != nil {
				return true, len(back.history.epochs) == 0 && back.loop.steps == 0
			}
			defer fresh()
			return false, slices.Equal(networkOf(back).Weights, networkOf(tr).Weights) && reflect.DeepEqual(timeless(back.history.epochs), timeless(tr.history.epochs)) &&
				reflect.DeepEqual(stateOf(back), stateOf(tr))
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
		for range 200 {
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
		if refusals < 100 {
			t.Errorf("%s: %d of 200 damaged files are refused", path, refusals)
		}
		for range 12 {
			if refused, _ := try(good[:rng.IntN(len(good))]); !refused {
				t.Errorf("%s: a file that is cut short is not refused", path)
			}
		}
	}
}
