package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/filelock"
)

// A folder has one run at a time: a new one or one that is resumed, with or without a
// checkpoint in it.
func TestOneRunInAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	dir, err := CreateDir(path)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Optimization: Optimization{Epochs: 1}}
	inUse := func(when string, err error) {
		t.Helper()
		if want := fmt.Sprintf("train: another run is at work in %s: process %d on ", path, os.Getpid()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", when, err, want)
		}
	}
	_, err = CreateDir(path)
	inUse("before it begins", err)
	tr := mustNew(t, c, tinySplits())
	if _, err := dir.Begin(tr, c); err != nil {
		t.Fatal(err)
	}
	_, err = OpenDir(path, &Config{})
	inUse("before a checkpoint", err)
	mustRun(t, tr, Hooks{Epoch: dir.Epoch})
	_, err = OpenDir(path, &Config{})
	inUse("with a checkpoint", err)
	_, err = CreateDir(path)
	inUse("with a checkpoint", err)
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenDir(path, &Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = OpenDir(path, &Config{})
	inUse("resumed", err)
	again.Abandon()
	if _, err := os.Stat(dir.File(CheckpointFile)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir.File(lockFile)); err == nil {
		t.Error("the lock file stays")
	}
}

// Where the file system has no locks, a run warns and goes on.
func TestRunWithoutLocks(t *testing.T) {
	c := Config{Optimization: Optimization{Epochs: 1}}
	dir := &Dir{path: t.TempDir()}
	none := func(string) (*filelock.Lock, error) {
		return nil, fmt.Errorf("%w: %w", filelock.ErrUnsupported, errors.New("no locks available"))
	}
	if err := dir.hold(none); err != nil {
		t.Fatal(err)
	}
	warning, err := dir.Begin(mustNew(t, c, tinySplits()), c)
	if want := dir.path + ": the file system has no locks: no locks available: do not start another run in it before this one has ended"; err != nil || warning != want {
		t.Errorf("%q, %v", warning, err)
	}
	if err := dir.Close(); err != nil {
		t.Error(err)
	}
}
