package cli

import (
	"context"
	"runtime"
	"runtime/debug"
)

// threads is the value of -threads: processor cores for the process, 0 for all. It takes effect as it is read.
type threads struct{ number[int] }

func (t *threads) Set(text string) error {
	err := t.number.Set(text)
	if err == nil && *t.p > 0 {
		runtime.GOMAXPROCS(*t.p)
	}
	return err
}

// ThreadsFlag returns the flag -threads.
func ThreadsFlag() Flag {
	const most = 1024 // more than machines have: each thread takes memory
	value := Int(new(int), 0, most).(*number[int])
	return Flag{Name: "threads", Value: &threads{*value}, Help: "processor `cores` to use; 0 is all", Resumable: true}
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
// features, or the weights of a model, are in memory.
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
