package rundir

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/plrank/plrank/internal/filelock"
)

// lockFile is there while a run is at work in the folder, and stays if it is killed. The
// lock itself does not: it ends with the process.
const lockFile = ".lock"

// A lock keeps other runs out of a folder.
type lock struct {
	held    *filelock.Lock // nil: released, or there are no locks
	missing string         // a warning: why there are none
}

// take keeps other runs out; without locks in the file system it only warns.
func (l *lock) take(folder string, take func(path string) (*filelock.Lock, error)) error {
	held, err := take(filepath.Join(folder, lockFile))
	var other *filelock.HeldError
	switch {
	case errors.As(err, &other):
		return fmt.Errorf("train: another run is at work in %s: %s: wait until it has ended, or name another folder", folder, other.Owner)
	case errors.Is(err, filelock.ErrUnsupported):
		l.missing = fmt.Sprintf("%s: %v: do not start another run in it before this one has ended", folder, err)
	case err != nil:
		return fmt.Errorf("train: %w", err)
	}
	l.held = held
	return nil
}

// release lets other runs into the folder.
func (l *lock) release() {
	if l.held != nil {
		l.held.Release()
		l.held = nil
	}
}
