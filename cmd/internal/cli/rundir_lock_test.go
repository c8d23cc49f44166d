package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/train"
)

// A folder has one run at a time: a new one or one that is resumed, with or without a
// checkpoint in it.
func TestOneRunInAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	dir, err := CreateRun(path)
	if err != nil {
		t.Fatal(err)
	}
	c := train.Config{Optimization: train.Optimization{Epochs: 1}}
	inUse := func(when string, err error) {
		t.Helper()
		if want := fmt.Sprintf("train: another run is at work in %s: process %d on ", path, os.Getpid()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", when, err, want)
		}
	}
	_, err = CreateRun(path)
	inUse("before it begins", err)
	tr := newRun(t, c, tinySplits())
	if _, err := dir.Begin(tr, nil, c); err != nil {
		t.Fatal(err)
	}
	_, err = OpenRun(path, &train.Config{})
	inUse("before a checkpoint", err)
	run(t, tr, train.Hooks{Epoch: dir.Epoch})
	_, err = OpenRun(path, &train.Config{})
	inUse("with a checkpoint", err)
	_, err = CreateRun(path)
	inUse("with a checkpoint", err)
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenRun(path, &train.Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = OpenRun(path, &train.Config{})
	inUse("resumed", err)
	again.Close()
	if _, err := os.Stat(dir.File(CheckpointFile)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir.File(lockFile)); err == nil {
		t.Error("the lock file stays")
	}
}

// Where the file system has no locks, a run warns and goes on.
func TestRunWithoutLocksWarns(t *testing.T) {
	c := train.Config{Optimization: train.Optimization{Epochs: 1}}
	path := t.TempDir()
	none := func(string) (*file.Lock, error) {
		return nil, fmt.Errorf("%w: %w", file.ErrNoLocks, errors.New("no locks available"))
	}
	lock, unlocked, err := lockFolder(path, "run", none)
	if lock != nil || err != nil {
		t.Fatal(lock, err)
	}
	dir := &RunDir{path: path, unlocked: unlocked}
	warnings, err := dir.Begin(newRun(t, c, tinySplits()), nil, c)
	if want := path + ": the file system has no locks: no locks available: do not start another run in it before this one has ended"; err != nil || !slices.Equal(warnings, []string{want}) {
		t.Errorf("%q, %v", warnings, err)
	}
	if err := dir.Close(); err != nil {
		t.Error(err)
	}
}
