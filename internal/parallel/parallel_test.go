package parallel

import (
	"errors"
	"runtime"
	"strings"
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

// A panic in any piece reaches the caller, once the other workers have ended.
func TestForPanics(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runtime.GOMAXPROCS(4)
	bad := errors.New("bad piece")
	for at := range 50 {
		var active atomic.Int64
		func() {
			defer func() {
				err, _ := recover().(error)
				if !errors.Is(err, bad) || !strings.Contains(err.Error(), "TestForPanics") {
					t.Errorf("piece %d: %v", at, err)
				}
				if n := active.Load(); n != 0 {
					t.Errorf("piece %d: %d pieces are not at their end", at, n)
				}
			}()
			For(50, 4, func(_, i int) {
				active.Add(1)
				defer active.Add(-1)
				time.Sleep(time.Duration(i%3) * time.Microsecond)
				if i == at {
					panic(bad)
				}
			})
		}()
	}
	defer func() {
		if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), "a text") {
			t.Errorf("%v", err)
		}
	}()
	For(4, 4, func(_, i int) { panic("a text") })
}

func TestGo(t *testing.T) {
	done := false
	wait := Go(func() { time.Sleep(time.Millisecond); done = true })
	if wait(); !done {
		t.Error("did not wait")
	}
	bad := errors.New("bad")
	wait = Go(func() { panic(bad) })
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, bad) {
			t.Errorf("%v", err)
		}
	}()
	wait()
}
