package journal

import (
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// synced is the flag of a file whose writes come to the disk before they return: one call for both.
const synced = os.O_SYNC

// write writes to the disk, and gives the system the memory of the lines back for the next ones. Otherwise
// these get new memory: in a virtual machine writing to that takes five times as long.
func write(f *os.File, lines []byte) error {
	_, err := f.Write(lines)
	if err == nil {
		_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	}
	return err
}

// beginPromptly lets the goroutine run as soon as the disk has answered, not when what runs on its core
// has used up its time slice: Linux lets threads with shorter slices begin first, from 6.12 on. The thread
// is the goroutine's alone.
func beginPromptly() {
	runtime.LockOSThread()
	if a, err := unix.SchedGetAttr(0, 0); err == nil && a.Policy == unix.SCHED_NORMAL {
		a.Runtime = uint64(100 * time.Microsecond)
		_ = unix.SchedSetAttr(0, a, 0)
	}
}
