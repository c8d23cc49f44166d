package journal

import (
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// synced is the flag by which a write returns when its bytes are on the disk: one system call does both.
const synced = os.O_SYNC

// write writes to the disk, and lets the system reuse the pages of the lines for the next ones. Writing to
// new pages takes five times as long in a virtual machine.
func write(f *os.File, lines []byte) error {
	_, err := f.Write(lines)
	if err == nil {
		_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	}
	return err
}

// beginPromptly makes the goroutine run as soon as the disk has answered, instead of after another thread's time slice:
// since 6.12, Linux runs threads with shorter slices first. It locks the goroutine to a thread of its own.
func beginPromptly() {
	runtime.LockOSThread()
	if a, err := unix.SchedGetAttr(0, 0); err == nil && a.Policy == unix.SCHED_NORMAL {
		a.Runtime = uint64(100 * time.Microsecond)
		_ = unix.SchedSetAttr(0, a, 0)
	}
}
