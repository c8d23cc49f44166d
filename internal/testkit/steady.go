package testkit

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// Steady calls f(from, to) for one tenth of n requests after another, and fails where memory
// has grown since the first: the heap by more than 1 MB after a collection, or what the
// system has given by more than half and 32 MB. The environment variable PLRANK_REQUESTS may say
// another n, for a test of hours.
func Steady(t *testing.T, n int, f func(from, to int)) {
	t.Helper()
	if more, err := strconv.Atoi(os.Getenv("PLRANK_REQUESTS")); err == nil {
		n = more
	}
	var heap, resident [10]uint64
	for i := range heap {
		to := (i + 1) * n / 10
		f(i*n/10, to)
		resident[i] = residentBytes()
		runtime.GC()
		runtime.GC() // what pools hold goes at the second one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap[i] = m.HeapAlloc
		t.Logf("after %d requests: heap %d KB, resident %d KB", to, heap[i]>>10, resident[i]>>10)
	}
	if heap[9] > heap[0]+1<<20 {
		t.Errorf("the heap grew from %d KB to %d KB", heap[0]>>10, heap[9]>>10)
	}
	if resident[9] > resident[0]*3/2+32<<20 {
		t.Errorf("resident memory grew from %d KB to %d KB", resident[0]>>10, resident[9]>>10)
	}
}

// residentBytes returns the memory that the system has given to this program, 0 if unknown.
func residentBytes() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages uint64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}
