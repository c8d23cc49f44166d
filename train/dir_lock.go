package train

import (
	"errors"
	"fmt"
	"os"

	"github.com/plrank/plrank/internal/filelock"
)

// lockFile is there while a run is at work in the folder, and stays if it is killed. The
// lock itself does not: it ends with the process.
const lockFile = ".lock"

// hold keeps other runs out of the folder; without locks in its file system, Begin warns.
func (d *Dir) hold(take func(path string) (*filelock.Lock, error)) error {
	lock, err := take(d.File(lockFile))
	var held *filelock.HeldError
	switch {
	case errors.As(err, &held):
		return fmt.Errorf("train: another run is at work in %s: %s: wait until it has ended, or name another folder", d.path, held.Owner)
	case errors.Is(err, filelock.ErrUnsupported):
		d.unlocked = fmt.Sprintf("%s: %v: do not start another run in it before this one has ended", d.path, err)
	case err != nil:
		return fmt.Errorf("train: %w", err)
	}
	d.lock = lock
	return nil
}

// release lets other runs into the folder.
func (d *Dir) release() {
	if d.lock != nil {
		d.lock.Release()
		d.lock = nil
	}
}

// Close waits like Wait, and lets other runs into the folder. A Dir that is not closed keeps
// them out until the process ends.
func (d *Dir) Close() error {
	defer d.release()
	return d.Wait()
}

// Abandon is Close for a run that cannot begin, and removes the folder if nothing is in it.
func (d *Dir) Abandon() {
	d.release()
	os.Remove(d.path) // which fails if something is
}
