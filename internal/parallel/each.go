package parallel

import (
	"fmt"
	"sync"
)

// Each is [For] for work that can fail. It returns the error of the smallest i that
// failed, so that a message does not depend on the scheduler. A panic in f comes back
// as an error.
func Each(n, workers int, f func(worker, i int) error) error {
	var (
		mu     sync.Mutex
		first  error
		firstI = n
	)
	For(n, workers, func(w, i int) {
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
