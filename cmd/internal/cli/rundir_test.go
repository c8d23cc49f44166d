package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// What is written while training goes on is what the epoch left: steps of the next one do
// not get into it, and Wait waits for it.
func TestFilesOfAnEpochAreItsOwn(t *testing.T) {
	c := recipe.Paper()
	c.Epochs = 3
	dir, err := CreateRun(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	tr := newRun(t, c, tinySplits())
	if _, err := dir.Begin(tr, nil, c); err != nil {
		t.Fatal(err)
	}
	var saved [][]byte // after each epoch, before training goes on
	other := filepath.Join(t.TempDir(), "checkpoint.npz")
	run(t, tr, train.Hooks{Epoch: func(tr *train.Trainer, e train.Epoch) error {
		c, err := tr.Checkpoint()
		if err == nil {
			err = c.Save(other)
		}
		if err != nil {
			return err
		}
		saved = append(saved, read(t, other))
		return dir.Epoch(tr, e)
	}})
	if err := dir.Wait(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{CheckpointFile: saved[2], PreviousFile: saved[1]} {
		if !bytes.Equal(read(t, dir.File(name)), want) {
			t.Errorf("%s is not from its epoch", name)
		}
	}
}

// Files that cannot be written are an error of the next epoch, or else of Wait and Finish.
func TestFilesOfAnEpochCannotBeWritten(t *testing.T) {
	c := recipe.Paper()
	c.Epochs = 2
	path := filepath.Join(t.TempDir(), "run")
	for _, end := range []struct {
		name  string
		after func(*RunDir, *train.Trainer, train.Epoch) error
	}{
		{"the next epoch", func(d *RunDir, t *train.Trainer, e train.Epoch) error { return d.Epoch(t, e) }},
		{"Wait", func(d *RunDir, _ *train.Trainer, _ train.Epoch) error { return d.Wait() }},
		{"Finish", func(d *RunDir, _ *train.Trainer, _ train.Epoch) error { return d.Finish(nil, nil) }},
	} {
		dir, err := CreateRun(path)
		if err != nil {
			t.Fatal(err)
		}
		tr := newRun(t, c, tinySplits())
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := dir.Epoch(tr, train.Epoch{}); err != nil {
			t.Errorf("%s: %v before anything was written", end.name, err)
		}
		if err := end.after(dir, tr, train.Epoch{}); err == nil || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: error %v, want the one about the folder that is gone", end.name, err)
		}
		if err := dir.Wait(); err != nil {
			t.Errorf("%s: %v once more", end.name, err)
		}
	}
}

func TestFolderHasOneRunFromBeginToFinish(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "run") // parents are made
	if _, err := OpenRun(path, &train.Config{}); err == nil || !strings.Contains(err.Error(), "no run to resume") {
		t.Errorf("got %v", err)
	}
	dir, err := CreateRun(path)
	if err != nil {
		t.Fatal(err)
	}
	dir.Close()
	if _, err := os.Stat(path); err == nil {
		t.Error("a folder without files stays")
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if dir, err = CreateRun(path); err != nil {
		t.Fatalf("an empty folder: %v", err)
	}
	c := train.Config{Optimization: train.Optimization{Epochs: 1}}
	tr := newRun(t, c, tinySplits())
	if _, err := dir.Begin(tr, nil, c); err != nil {
		t.Fatal(err)
	}
	var back train.Config
	if err := ReadSettings(path, &back); err != nil || back.Epochs != 1 {
		t.Errorf("%+v, %v", back, err)
	}
	dir.Close()
	// What a run leaves that failed before its first checkpoint, or was killed then.
	for _, name := range []string{".config.json.123", ".checkpoint.npz.9", ".lock"} {
		if err := os.WriteFile(dir.File(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if dir, err = CreateRun(path); err != nil {
		t.Fatalf("a run that has not begun: %v", err)
	}

	r := run(t, tr, train.Hooks{Epoch: dir.Epoch})
	report, err := tr.Report(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Finish(&recipe.Result{Result: r}, report); err != nil {
		t.Fatal(err)
	}
	dir.Close()
	if _, err := CreateRun(path); err == nil || !strings.Contains(err.Error(), "exists: it contains checkpoint.npz: name a new folder, or resume the run in it") {
		t.Errorf("a run that has begun: %v", err)
	}
	if _, err := CreateRun(filepath.Dir(path)); err == nil {
		t.Error("a folder of runs: no error")
	}
	if _, err := CreateRun(dir.File(CheckpointFile)); err == nil {
		t.Error("a file: no error")
	}

	// A run that goes on beyond its end has no result until it has finished.
	result := func() (s RunSummary) {
		text, err := os.ReadFile(dir.File(ResultFile))
		if err != nil || json.Unmarshal(text, &s) != nil {
			t.Fatal(err)
		}
		return s
	}
	if _, err := dir.Begin(newRun(t, c, tinySplits()), nil, c); err != nil || result().Interrupted {
		t.Errorf("nothing left to do: %+v, %v", result(), err)
	}
	c.Epochs = 2
	tr = newRun(t, c, tinySplits())
	if _, err := dir.Begin(tr, nil, c); err != nil || len(tr.History()) != 1 {
		t.Errorf("an epoch to go: %v", err)
	}
	if _, err := os.Stat(dir.File(ResultFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an epoch to go, and a result: %v", err)
	}
	if _, err := OpenRun(path, &back); err != nil || back.Epochs != 2 {
		t.Errorf("the extension is not kept: %+v, %v", back, err)
	}
	if err := dir.Finish(&recipe.Result{Result: run(t, tr, train.Hooks{Epoch: dir.Epoch})}, report); err != nil || result().Interrupted || result().Epochs != 2 {
		t.Errorf("at the end: %+v, %v", result(), err)
	}

	os.WriteFile(dir.File(SettingsFile), []byte("{"), 0o644)
	if _, err := OpenRun(path, &back); err == nil || !strings.Contains(err.Error(), SettingsFile) {
		t.Errorf("got %v", err)
	}
}
