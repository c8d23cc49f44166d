//go:build !unix

package memory

// OffHeap is memory for numbers; see offheap_unix.go.
type OffHeap struct{ Values []float32 }

func NewOffHeap(n int) OffHeap { return OffHeap{make([]float32, n)} }

func (s *OffHeap) Free() { *s = OffHeap{} }
