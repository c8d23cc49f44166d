package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// thread returns the processor time of the thread.
func thread() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return passed()
	}
	return time.Duration(t.Nano())
}
