// Package journal keeps lines in the files of a folder. An accepted line is on the disk: it survives
// if the process is killed, or the machine goes down.
package journal

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/plrank/plrank/internal/file"
)

// A Journal appends lines to the newest file of a folder. Its methods may be called by several
// goroutines at once. Lines that come while the disk is at work are written and synced together.
type Journal struct {
	files    files
	lock     *file.Lock // nil: the file system has no locks
	synced   func(took time.Duration, err error)
	interval time.Duration // syncInterval, except in tests

	mu     sync.Mutex
	next   *Batch
	closed bool
	wake   chan struct{} // of capacity 1: tells run that next has lines; closed at the end
	ended  chan struct{}
}

// A Batch holds lines that are written and synced together.
type Batch struct {
	lines []byte
	adds  int           // the number of calls of Add
	done  chan struct{} // closed when err is known
	err   error
}

func newBatch(space []byte) *Batch { return &Batch{lines: space[:0], done: make(chan struct{})} }

// mostWaiting is the most bytes that wait for the disk, unless one call adds more.
const mostWaiting = 64 << 20

// syncInterval is the least time from one sync to the next if the first was for several calls of Add. Each sync
// takes processor time, and fewer syncs serve as many lines.
const syncInterval = 2 * time.Millisecond

// ErrBehind is returned by Add when lines come faster than the disk takes them.
var ErrBehind = errors.New("the disk does not keep up")

var errClosed = errors.New("the journal is closed")

// Open opens the journal of a folder, and makes the folder if it does not exist. The files are
// PREFIX-TIME.jsonl. Open cuts off an unfinished line that a killed process left at
// the end of a file, with a warning: it was never accepted. Open returns an error if another process has the folder. The
// journal calls synced after each write to the disk.
func Open(folder, prefix string, synced func(took time.Duration, err error)) (j *Journal, warnings []string, err error) {
	j = &Journal{files: newFiles(folder, prefix), synced: synced, interval: syncInterval, next: newBatch(nil),
		wake: make(chan struct{}, 1), ended: make(chan struct{})}
	if err := j.files.makeFolder(); err != nil {
		return nil, nil, err
	}
	var held *file.LockHeldError
	j.lock, err = file.TakeLock(j.files.path(".lock"))
	switch {
	case errors.As(err, &held):
		return nil, nil, fmt.Errorf("%s: another process writes there: %w: wait until it has ended, or name another folder", folder, err)
	case errors.Is(err, file.ErrNoLocks):
		warnings = append(warnings, fmt.Sprintf("%s: %v: let no other process write there", folder, err))
	case err != nil:
		return nil, nil, err
	}
	mended, err := j.files.mend()
	if err != nil {
		j.release()
		return nil, nil, err
	}
	go j.run()
	return j, append(warnings, mended...), nil
}

// Done returns a channel that is closed when it is known whether the lines are on the disk.
func (b *Batch) Done() <-chan struct{} { return b.done }

// Err waits until Done is closed, and returns an error if the lines are not on the disk.
func (b *Batch) Err() error {
	<-b.done
	return b.err
}

// Add takes a copy of whole lines, each with its end. They are accepted once [Batch.Err] says so.
func (j *Journal) Add(lines []byte) (*Batch, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	b := j.next
	switch {
	case j.closed:
		return nil, errClosed
	case len(b.lines) > 0 && len(b.lines)+len(lines) > mostWaiting:
		return nil, ErrBehind
	}
	if len(b.lines) == 0 { // wake run once for a batch
		select {
		case j.wake <- struct{}{}:
		default:
		}
	}
	b.lines = append(b.lines, lines...)
	b.adds++
	return b, nil
}

// run writes one batch after another.
func (j *Journal) run() {
	defer close(j.ended)
	beginPromptly()
	var space []byte // of the last batch
	for range j.wake {
		runtime.Gosched() // lets goroutines that are ready add their lines first
		j.mu.Lock()
		b := j.next
		j.next = newBatch(space)
		j.mu.Unlock()
		start := time.Now()
		b.err = j.files.append(b.lines)
		j.synced(time.Since(start), b.err)
		close(b.done)
		if b.adds > 1 {
			time.Sleep(j.interval - time.Since(start))
		}
		if space = b.lines; cap(space) > mostWaiting/16 {
			space = nil
		}
	}
}

// Close writes the waiting lines, and closes the files.
func (j *Journal) Close() error {
	j.mu.Lock()
	if !j.closed {
		j.closed = true
		close(j.wake)
	}
	j.mu.Unlock()
	<-j.ended
	j.release()
	return j.files.close()
}

func (j *Journal) release() {
	if j.lock != nil {
		j.lock.Release()
	}
}
