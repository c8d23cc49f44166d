package train

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What is written while training goes on is what the epoch left: steps of the next one do
// not get into it, and Wait waits for it.
func TestFilesOfAnEpochAreItsOwn(t *testing.T) {
	c := paperRB(1, 10)
	c.Epochs = 3
	dir, err := CreateDir(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	tr := mustNew(t, c, tinySplits())
	if _, err := dir.Begin(tr, c); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "checkpoint.npz")
	mustRun(t, tr, Hooks{Epoch: func(tr *Trainer, e Epoch) error {
		if err := tr.SaveCheckpoint(other); err != nil {
			return err
		}
		if err := dir.Epoch(tr, e); err != nil {
			return err
		}
		for i := range tr.weights { // as the next step does, while the file is written
			tr.weights[i]++
		}
		return nil
	}})
	if err := dir.Wait(); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(dir.File(CheckpointFile)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the checkpoint is not that of the last epoch: %v", err)
	}
}

// Files that cannot be written are an error of the next epoch, or else of Wait and Finish.
func TestFilesOfAnEpochCannotBeWritten(t *testing.T) {
	c := paperRB(1, 10)
	c.Epochs = 2
	path := filepath.Join(t.TempDir(), "run")
	for _, end := range []struct {
		name  string
		after func(*Dir, *Trainer, Epoch) error
	}{
		{"the next epoch", func(d *Dir, t *Trainer, e Epoch) error { return d.Epoch(t, e) }},
		{"Wait", func(d *Dir, _ *Trainer, _ Epoch) error { return d.Wait() }},
		{"Finish", func(d *Dir, _ *Trainer, _ Epoch) error { return d.Finish(nil, nil) }},
	} {
		dir, err := CreateDir(path)
		if err != nil {
			t.Fatal(err)
		}
		tr := mustNew(t, c, tinySplits())
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := dir.Epoch(tr, Epoch{}); err != nil {
			t.Errorf("%s: %v before anything was written", end.name, err)
		}
		if err := end.after(dir, tr, Epoch{}); err == nil || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: error %v, want that of the folder that is gone", end.name, err)
		}
		if err := dir.Wait(); err != nil {
			t.Errorf("%s: %v once more", end.name, err)
		}
	}
}
