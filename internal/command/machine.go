package command

import (
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

// mostThreads is beyond what machines have: each takes memory.
const mostThreads = 1024

// Use sets the number for the process.
func (t Threads) Use() {
	if t > 0 {
		runtime.GOMAXPROCS(int(t))
	}
}

// How much garbage the collector leaves, in percent of the heap. Features hold no pointers, so a
// collection takes no longer beside many of them, and may come as often as beside few.
const (
	mostGarbage   = 40
	leastGarbage  = 4
	enoughGarbage = 64 << 20 // bytes, of which the percentage is between these
)

// garbageBeside is that percentage for a heap of so many bytes.
func garbageBeside(heap uint64) int {
	return int(min(mostGarbage, max(leastGarbage, 100*enoughGarbage/max(1, heap))))
}

// LimitGarbage sets the percentage for the heap as it is: when a command begins, and once the
// features are in memory.
func LimitGarbage() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	debug.SetGCPercent(garbageBeside(m.HeapAlloc))
}
