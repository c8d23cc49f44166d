package datasets

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f(0) … f(n-1) on all cores. Each call may write only what
// belongs to its own index, so results do not depend on the number of cores.
func parallel(n int, f func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	wg.Wait()
}
