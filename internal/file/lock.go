package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// ErrNoLocks is the error of a file system that has no locks.
var ErrNoLocks = errors.New("the file system has no locks")

// A LockHeldError reports a lock that another process has, or this one.
type LockHeldError struct {
	Owner string // such as "process 12 on host, since 2026-01-02 15:04:05 +0000"
}

func (e *LockHeldError) Error() string { return "locked by " + e.Owner }

// A Lock is held until Release, or the end of the process.
type Lock struct {
	file     *os.File
	released atomic.Bool
}

// TakeLock takes the lock of a file, which it makes if there is none. It does not wait: the
// error is a [*LockHeldError], ErrUnsupported, or the error of making the file.
func TakeLock(path string) (*Lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			return nil, err
		}
		taken, err := try(f)
		switch {
		case err != nil:
			f.Close()
			os.Remove(path)
			return nil, fmt.Errorf("%w: %w", ErrNoLocks, err)
		case !taken:
			defer f.Close()
			return nil, &LockHeldError{owner(f)}
		case is(f, path):
			sign(f)
			return &Lock{file: f}, nil
		}
		// Whoever had it has removed the file after it was opened here: others lock a new one.
		f.Close()
	}
}

// is reports whether a file is the one of that path.
func is(f *os.File, path string) bool {
	own, err := f.Stat()
	there, other := os.Stat(path)
	return err == nil && other == nil && os.SameFile(own, there)
}

// sign writes who has the lock, for the messages of others. They can do without.
func sign(f *os.File) {
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	if f.Truncate(0) == nil {
		fmt.Fprintf(f, "process %d on %s, since %s\n", os.Getpid(), host, time.Now().Format("2006-01-02 15:04:05 -0700"))
	}
}

// owner is what sign has written.
func owner(f *os.File) string {
	const most = 300
	text, err := io.ReadAll(io.LimitReader(f, most))
	line, _, whole := strings.Cut(string(text), "\n")
	if err != nil || !whole { // it is being written
		return "another process"
	}
	return line
}

// Release gives the lock back, and removes its file. Another call does nothing: the file may belong to the next holder.
func (l *Lock) Release() {
	if l.released.Swap(true) {
		return
	}
	os.Remove(l.file.Name()) // before others can take it; one that stays does no harm
	l.file.Close()
}
