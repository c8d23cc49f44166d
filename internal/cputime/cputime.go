// Package cputime measures how long a core takes, whatever else runs on the machine.
package cputime

import (
	"runtime"
	"time"
)

// Shortest calls f until the calls took that long, once or more, and returns the shortest time that one took of a core. f
// starts no goroutines to wait for. Where the system does not tell the time of a thread, it is the time that passed.
func Shortest(enough time.Duration, f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := time.Duration(1<<63 - 1)
	for begin := thread(); ; {
		start := thread()
		f()
		end := thread()
		if best = min(best, end-start); end-begin >= enough {
			return best
		}
	}
}

var begin = time.Now()

// passed returns the time that passed since the program began.
func passed() time.Duration { return time.Since(begin) }
