package ops

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// workers is the number of goroutines that each may use.
func workers() int { return runtime.GOMAXPROCS(0) }

// each calls f(worker, i) for every i in [0, n), on all cores. The result must
// not depend on which worker takes which i: a worker number (below the count
// given) only picks scratch space. The error of the smallest i that failed is
// returned, so that a message does not depend on the scheduler either. A panic
// in f comes back as an error: it would otherwise end the process, because
// Gorgonia runs an op outside the caller's goroutine.
func each(n, workers int, f func(worker, i int) error) error {
	workers = min(workers, n)
	if workers <= 1 {
		for i := range n {
			if err := guarded(f, 0, i); err != nil {
				return err
			}
		}
		return nil
	}
	var (
		next   atomic.Int64
		wg     sync.WaitGroup
		mu     sync.Mutex
		first  error
		firstI = n
	)
	for w := range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := guarded(f, w, i); err != nil {
					mu.Lock()
					if i < firstI {
						first, firstI = err, i
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}

func guarded(f func(worker, i int) error, worker, i int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f(worker, i)
}
