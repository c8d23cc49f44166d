package ops

import (
	"fmt"
	"sync"

	"github.com/plrank/plrank/internal/parallel"
)

// each calls f(worker, i) for every i in [0, n), on all cores. The result must
// not depend on which worker takes which i: a worker number (below workers, from
// parallel.Workers) only picks scratch space. The error of the smallest i that
// failed is returned, so that a message does not depend on the scheduler either.
// A panic in f comes back as an error: it would otherwise end the process, because
// Gorgonia runs an op outside the caller's goroutine.
func each(n, workers int, f func(worker, i int) error) error {
	var (
		mu     sync.Mutex
		first  error
		firstI = n
	)
	parallel.For(n, workers, func(w, i int) {
		if err := guarded(f, w, i); err != nil {
			mu.Lock()
			if i < firstI {
				first, firstI = err, i
			}
			mu.Unlock()
		}
	})
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
