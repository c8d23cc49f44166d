package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/plrank/plrank/internal/atomicfile"
	"github.com/plrank/plrank/train"
)

// removeLeftovers removes what is left of writing that was cut off.
func (f folder) removeLeftovers() {
	for _, name := range []string{SettingsFile, HistoryFile, ModelFile, ResultFile, CurveFile, InitialFile, nextFile} {
		for _, left := range atomicfile.Leftovers(f.File(name)) {
			os.Remove(left) // one that stays is no harm
		}
	}
}

// restore brings t to the last checkpoint that is whole; without any, it stays at the
// beginning.
func (f folder) restore(t *train.Trainer) (warning string, err error) {
	last, previous := f.File(CheckpointFile), f.File(PreviousFile)
	err = t.Restore(last)
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing && !errors.Is(err, train.ErrDamaged) {
		return "", err
	}
	other := t.Restore(previous)
	switch {
	case other == nil:
		// A damaged checkpoint must not become the one before.
		if other = atomicfile.Rename(previous, last); other != nil {
			return "", fmt.Errorf("train: %w", other)
		}
		return fmt.Sprintf("%v: going on from the checkpoint before it, after epoch %d", err, len(t.History())), nil
	case missing && errors.Is(other, fs.ErrNotExist):
		return "", nil
	case errors.Is(other, fs.ErrNotExist):
		return "", fmt.Errorf("%w; there is none before it: please start the run anew", err)
	}
	return "", fmt.Errorf("%w; and so is the one before it: %w", err, other)
}

// saveCheckpoint keeps the last checkpoint as the one before.
func (f folder) saveCheckpoint(c *train.Checkpoint) error {
	last, next := f.File(CheckpointFile), f.File(nextFile)
	if err := c.Save(next); err != nil {
		return err
	}
	err := atomicfile.Rename(last, f.File(PreviousFile))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = atomicfile.Rename(next, last)
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}
