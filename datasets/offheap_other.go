//go:build !unix

package datasets

// offHeap is memory for numbers; see offheap_unix.go.
type offHeap struct{ values []float32 }

func newOffHeap(n int) offHeap { return offHeap{make([]float32, n)} }

func (s *offHeap) free() { *s = offHeap{} }
