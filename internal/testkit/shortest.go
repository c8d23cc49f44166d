package testkit

import "time"

// Shortest returns the shortest time of some calls, which other programs on the machine disturb least.
func Shortest(f func()) time.Duration {
	const enough = 50 * time.Millisecond
	best := time.Hour
	for begin := time.Now(); ; {
		start := time.Now()
		f()
		if best = min(best, time.Since(start)); time.Since(begin) > enough {
			return best
		}
	}
}
