// Package parallel spreads work over the cores.
package parallel

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// Workers returns the number of workers that make use of all cores for n pieces of
// work. It may change while a program runs: ask once, make scratch space for as many,
// and give the number to For.
func Workers(n int) int { return min(n, runtime.GOMAXPROCS(0)) }

// For calls f(worker, i) for every i in [0, n) in that many goroutines, and returns when
// all have ended. Which worker takes which i is left open: the number
// of the worker is for scratch space, and a call may write only what belongs to
// its own i, so that results do not depend on the number of cores.
//
// The caller is one of the workers. That makes small work cheap: nothing waits for
// a goroutine to start, and one that starts too late finds nothing left to do. A
// panic in f becomes one of For, when all others have ended their pieces; the pieces
// that nobody has begun by then are left undone.
func For(n, workers int, f func(worker, i int)) {
	if workers <= 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	var next, left atomic.Int64
	var failed atomic.Pointer[failure]
	left.Store(int64(n))
	finished := make(chan struct{})
	end := func(pieces int64) {
		if left.Add(-pieces) == 0 {
			close(finished)
		}
	}
	work := func(worker int) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer catch(func(f *failure) {
			failed.CompareAndSwap(nil, f)
			undone := max(0, int64(n)-next.Swap(int64(n)))
			end(undone + 1) // with the one that failed
		})
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			f(worker, int(i))
			end(1)
		}
	}
	for w := 1; w < workers; w++ {
		go work(w)
	}
	work(0)
	// Others are at their last piece. To sleep and to be woken takes longer than a
	// small piece does, above all on a thread that is locked, as Gorgonia's is.
	const patience = 5000
	for i := 0; i < patience && left.Load() > 0; i++ {
	}
	if left.Load() > 0 {
		<-finished
	}
	if f := failed.Load(); f != nil {
		panic(f)
	}
}

// Each calls f as [For] does, for work that can fail. It returns the error of the smallest i that
// failed, so that a message does not depend on the scheduler.
func Each(n, workers int, f func(worker, i int) error) error {
	errs := make([]error, n)
	For(n, workers, func(w, i int) { errs[i] = f(w, i) })
	return cmp.Or(errs...)
}

// Go calls f in a goroutine. The function it returns waits for the end of f, and
// panics if f has.
func Go(f func()) (wait func()) {
	ended := make(chan *failure, 1)
	go func() {
		var failed *failure
		defer func() { ended <- failed }()
		defer catch(func(f *failure) { failed = f })
		debug.SetPanicOnFault(true)
		f()
	}()
	return func() {
		if f := <-ended; f != nil {
			panic(f)
		}
	}
}

// catch recovers a panic of the function that it is deferred in, also the one of
// reading a file that is mapped to memory and was cut short.
func catch(then func(*failure)) {
	if r := recover(); r != nil {
		then(&failure{r, debug.Stack()})
	}
}

// failure is a panic of another goroutine.
type failure struct {
	value any
	stack []byte
}

func (f *failure) Error() string { return fmt.Sprintf("%v, in\n%s", f.value, f.stack) }

// Unwrap returns what the other goroutine panicked with, if that is of type error.
func (f *failure) Unwrap() error {
	err, _ := f.value.(error)
	return err
}
