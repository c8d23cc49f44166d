package parallel

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

func TestForCallsEachOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(cores)
		for _, n := range []int{0, 1, 2, 7, 1000} {
			calls := make([]atomic.Int64, n)
			busy := make([]atomic.Bool, Workers(n))
			For(n, Workers(n), func(worker, i int) {
				if busy[worker].Swap(true) {
					t.Errorf("%d cores: worker %d has two pieces at once", cores, worker)
				}
				calls[i].Add(1)
				busy[worker].Store(false)
			})
			for i := range calls {
				if c := calls[i].Load(); c != 1 {
					t.Fatalf("%d cores: piece %d of %d was done %d times", cores, i, n, c)
				}
			}
		}
	}
}

// For waits for pieces that take long, too.
func TestForWaits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runtime.GOMAXPROCS(4)
	var ended atomic.Int64
	For(4, 4, func(_, i int) {
		time.Sleep(time.Duration(i) * 10 * time.Millisecond)
		ended.Add(1)
	})
	if n := ended.Load(); n != 4 {
		t.Errorf("%d of 4 pieces had ended", n)
	}
}
