//go:build unix

package datasets

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// offHeap is memory for numbers that is given back the moment it is freed, not
// when the garbage collector runs: while a table becomes a dataset, only
// the part that is still to be copied is in memory twice.
type offHeap struct {
	values []float32
	mapped []byte
}

// newOffHeap is memory for n zeros.
func newOffHeap(n int) offHeap {
	const small = 1 << 14 // values; below, a system call costs more than it saves
	if n >= small {
		if b, err := unix.Mmap(-1, 0, n*4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err == nil {
			return offHeap{unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), n), b}
		}
	}
	return offHeap{values: make([]float32, n)}
}

// free gives the memory back; values must not be used any more.
func (s *offHeap) free() {
	if s.mapped != nil {
		unix.Munmap(s.mapped)
	}
	*s = offHeap{}
}
