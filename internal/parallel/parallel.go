// Package parallel spreads work over the cores.
package parallel

import (
	"runtime"
	"sync/atomic"
)

// Workers is the number of workers that make use of all cores for so many pieces of
// work. It may change while a program runs: ask once, make scratch space for as many,
// and give the number to For.
func Workers(n int) int { return min(n, runtime.GOMAXPROCS(0)) }

// For calls f(worker, i) for every i in [0, n) in so many goroutines, and returns when
// all have ended. Which worker takes which i is left open: the number
// of the worker is for scratch space, and a call may write only what belongs to
// its own i, so that results do not depend on the number of cores.
//
// The caller is one of the workers. That makes small work cheap: nothing waits for
// a goroutine to start, and one that starts too late finds nothing left to do. A
// panic in f ends the program, unless it happens in the caller's part.
func For(n, workers int, f func(worker, i int)) {
	if workers <= 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	var next, left atomic.Int64
	left.Store(int64(n))
	finished := make(chan struct{})
	work := func(worker int) {
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			f(worker, int(i))
			if left.Add(-1) == 0 {
				close(finished)
			}
		}
	}
	for w := 1; w < workers; w++ {
		go work(w)
	}
	work(0)
	// Others are at their last piece. To sleep and to be woken takes longer than a
	// small piece does, above all on a thread that is locked, as Gorgonia's is.
	const patience = 5000
	for range patience {
		if left.Load() == 0 {
			return
		}
	}
	<-finished
}
