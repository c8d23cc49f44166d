package file

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// try takes the lock of a file, and reports whether nobody else has it. Others cannot read
// what is locked: it is a byte far behind the end.
func try(f *os.File) (bool, error) {
	at := &windows.Overlapped{OffsetHigh: math.MaxInt32}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
