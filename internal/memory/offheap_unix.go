//go:build unix

package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// OffHeap is memory for numbers that is given back the moment it is freed, not
// when the garbage collector runs: while a table becomes a dataset, only
// the part that is still to be copied is in memory twice.
type OffHeap struct {
	Values []float32
	mapped []byte
}

// NewOffHeap is memory for n zeros.
func NewOffHeap(n int) OffHeap {
	const small = 1 << 14 // values; below, a system call costs more than it saves
	if n >= small {
		if b, err := unix.Mmap(-1, 0, n*4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err == nil {
			return OffHeap{unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), n), b}
		}
	}
	return OffHeap{Values: make([]float32, n)}
}

// Free gives the memory back; Values must not be used any more.
func (s *OffHeap) Free() {
	if s.mapped != nil {
		_ = unix.Munmap(s.mapped) // it fails for bytes that were never mapped alone
	}
	*s = OffHeap{}
}
