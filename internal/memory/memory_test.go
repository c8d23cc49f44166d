package memory

import (
	"runtime"
	"testing"
)

// Memory that is not zeroed is as long as was asked for, and its own.
func TestUnwrittenMemoryIsNotShared(t *testing.T) {
	for _, n := range []int{0, 1, 3, 1000, 1 << 20} {
		a, b := Unwritten(n), Unwritten(n)
		if len(a) != n || cap(a) != n || a == nil {
			t.Fatalf("%d numbers, room for %d, want %d", len(a), cap(a), n)
		}
		for i := range n {
			a[i], b[i] = float32(i), -1
		}
		runtime.GC()
		for i, v := range a {
			if v != float32(i) {
				t.Fatalf("number %d of %d became %v", i, n, v)
			}
		}
		runtime.KeepAlive(b)
	}
}
