package cli

import (
	"context"
	"flag"
	"runtime"
	"runtime/debug"
)

// Threads is the value of -threads: processor cores, 0 for all.
type Threads int

// Define defines the flag -threads.
func (t *Threads) Define(f *flag.FlagSet) {
	IntVar(f, (*int)(t), "threads", 0, mostThreads, "processor `cores` to use; 0 is all")
}

// mostThreads is more than machines have: each thread takes memory.
const mostThreads = 1024

// Use sets the number for the process.
func (t Threads) Use() {
	if t > 0 {
		runtime.GOMAXPROCS(int(t))
	}
}

// The garbage that the collector leaves, in percent of the heap. Features hold no pointers, so a collection takes no
// longer with many of them than with few, and may run as often.
const (
	mostGarbage   = 40
	leastGarbage  = 4
	enoughGarbage = 64 << 20 // bytes, where the percentage lies between the two
)

// garbagePercent returns the percentage for a heap of some bytes.
func garbagePercent(heap uint64) int {
	return int(min(mostGarbage, max(leastGarbage, 100*enoughGarbage/max(1, heap))))
}

// LimitGarbage sets the percentage for the present heap. A command calls it when it begins, and again when the
// features are in memory.
func LimitGarbage() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	debug.SetGCPercent(garbagePercent(m.HeapAlloc))
}

// Await returns the result of work that cannot be interrupted, or context.Canceled as soon as the context ends: then
// the work still runs, and the program should end.
func Await[T any](ctx context.Context, work func() (T, error)) (value T, err error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return value, context.Canceled // which command.Run reports
	}
}
