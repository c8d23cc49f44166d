package parallel

import "sync"

// Each is [For] for work that can fail. It returns the error of the smallest i that
// failed, so that a message does not depend on the scheduler.
func Each(n, workers int, f func(worker, i int) error) error {
	var (
		mu     sync.Mutex
		first  error
		firstI = n
	)
	For(n, workers, func(w, i int) {
		if err := f(w, i); err != nil {
			mu.Lock()
			if i < firstI {
				first, firstI = err, i
			}
			mu.Unlock()
		}
	})
	return first
}
