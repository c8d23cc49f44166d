package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// A RunDir is the folder of a run. It is locked for other runs until Close or the end of the process.
type RunDir struct {
	path     string
	written  func() error // waits for what Epoch began to write; nil: nothing
	lock     *file.Lock   // nil: the file system has no locks
	unlocked string       // a warning: why there are none
}

// CreateRun creates the folder of a run, and its parents. An existing folder must contain no more than a run leaves
// before its first checkpoint, and no other run may be at work in it.
func CreateRun(path string) (*RunDir, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("train: %s exists and is not a directory", path)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	d, err := lockedRun(path)
	if err != nil {
		return nil, err
	}
	if err := filepath.WalkDir(path, checkUnbegun); err != nil {
		d.Close()
		return nil, fmt.Errorf("train: %s exists: %w: name a new folder, or resume the run in it", path, err)
	}
	return d, nil
}

// checkUnbegun returns an error for a file that a run leaves only after its first checkpoint, or that is not of a run.
func checkUnbegun(_ string, entry fs.DirEntry, err error) error {
	name := entry.Name()
	if err != nil || entry.IsDir() || name == SettingsFile || name == InitialFile || strings.HasPrefix(name, ".") {
		return err // folders are of folds and models; hidden files are locks, and what is left of writing that was cut off
	}
	return fmt.Errorf("it contains %s", name)
}

// OpenRun opens the folder of a run to go on with it, and reads its settings. No other run may be at work in it.
func OpenRun(path string, settings any) (*RunDir, error) {
	if err := ReadSettings(path, settings); err != nil {
		return nil, err
	}
	return lockedRun(path)
}

// lockedRun returns the folder of a run, locked.
func lockedRun(path string) (d *RunDir, err error) {
	d = &RunDir{path: path}
	if d.lock, d.unlocked, err = LockFolder(path, "run"); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return d, nil
}

// lockFile exists while a program is at work in a folder, and stays if it is killed.
const lockFile = ".lock"

// LockFolder keeps other programs out of a folder that one of this kind of work writes. If the file system has no locks, the lock is nil,
// and a warning says so.
func LockFolder(folder, work string) (lock *file.Lock, warning string, err error) {
	return lockFolder(folder, work, file.TakeLock)
}

func lockFolder(folder, work string, take func(path string) (*file.Lock, error)) (lock *file.Lock, warning string, err error) {
	lock, err = take(filepath.Join(folder, lockFile))
	var other *file.LockHeldError
	switch {
	case errors.As(err, &other):
		err = fmt.Errorf("another %s is at work in %s: %s: wait until it has ended, or name another folder", work, folder, other.Owner)
	case errors.Is(err, file.ErrNoLocks):
		return nil, fmt.Sprintf("%s: %v: do not start another %s in it before this one has ended", folder, err, work), nil
	}
	return lock, "", err
}

// Begin writes the settings of a run that begins or goes on, and its initial model, if it has one. A run that goes on is
// brought to the checkpoint of the folder, or to the one before it if the last is damaged; a warning says so, or that
// nothing keeps other runs out of the folder. An existing result, of fewer epochs, is removed.
func (d *RunDir) Begin(t *train.Trainer, initial *ranker.Model, settings any) (warnings []string, err error) {
	d.removeLeftovers()
	if warnings, err = d.restore(t); err != nil {
		return nil, err
	}
	if d.unlocked != "" {
		warnings = append(warnings, d.unlocked)
	}
	if err := d.writeJSON(SettingsFile, settings); err != nil {
		return warnings, err
	}
	if err := d.keepInitial(initial); err != nil || t.Done() {
		return warnings, err
	}
	return warnings, d.removeResult(ResultFile)
}

// BeginSeveral is Begin for the folder above the folders of several runs, with its file of results.
func (d *RunDir) BeginSeveral(settings any, results string) error {
	if err := d.writeJSON(SettingsFile, settings); err != nil {
		return err
	}
	return d.removeResult(results)
}

// Epoch saves what t has learnt after an epoch. The files are written while training goes on: the next Epoch, Wait and
// Finish wait for them. A resumed run writes all anew from the checkpoint.
func (d *RunDir) Epoch(t *train.Trainer, e train.Epoch) error {
	if err := d.Wait(); err != nil {
		return err
	}
	checkpoint, err := t.Checkpoint()
	if err != nil {
		return err
	}
	var model *ranker.File // nil: the model of an earlier epoch is better
	if e.Best || e.Epoch == 1 {
		best, err := t.Best()
		if err != nil {
			return err
		}
		model = best.File()
	}
	history := t.History()
	ended := parallel.Go(func() {
		if err = d.saveCheckpoint(checkpoint); err == nil && model != nil {
			err = model.Save(d.File(ModelFile))
		}
		if err == nil {
			err = d.writeHistory(history)
		}
	})
	d.written = func() error { ended(); return err }
	return nil
}

// Wait returns when the files of the last Epoch are written, with the error if they could not be. A run that ends
// without Finish must call it.
func (d *RunDir) Wait() error {
	wait := d.written
	if wait == nil {
		return nil
	}
	d.written = nil
	return wait()
}

// Finish writes the final model, history and result.
func (d *RunDir) Finish(r *recipe.Result, report *train.Report) error {
	if err := d.Wait(); err != nil {
		return err
	}
	if err := r.Model.Save(d.File(ModelFile)); err != nil {
		return err
	}
	if err := d.writeHistory(r.History); err != nil {
		return err
	}
	return d.writeJSON(ResultFile, SummaryOf(r, report))
}

// FinishFolds writes the FoldsFile.
func (d *RunDir) FinishFolds(r *FoldReport, interrupted bool) error {
	s := &FoldsSummary{Folds: r.Folds, Interrupted: interrupted, LabelFree: r.LabelFree, bySplit: newBySplit[map[string]Spread]()}
	for _, split := range r.Splits {
		s.add(split.Name, split.Rankers, split.Rows)
	}
	return d.writeJSON(FoldsFile, s)
}

// Close waits like Wait, and lets other runs into the folder, which it removes if it is empty. A nil RunDir is closed.
func (d *RunDir) Close() error {
	if d == nil {
		return nil
	}
	err := d.Wait()
	if d.lock != nil {
		d.lock.Release()
		d.lock = nil
	}
	os.Remove(d.path) // which fails if something is in it
	return err
}
