//go:build unix

package datasets

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// slab is memory for numbers that is given back the moment it is freed, not
// when the garbage collector comes by: while a table becomes a dataset, only
// what is still to be copied is in memory twice.
type slab struct {
	values []float32
	mapped []byte
}

// newSlab makes a slab of n zeros.
func newSlab(n int) slab {
	const small = 1 << 14 // values; below, a system call costs more than it saves
	if n >= small {
		if b, err := unix.Mmap(-1, 0, n*4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err == nil {
			return slab{unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), n), b}
		}
	}
	return slab{values: make([]float32, n)}
}

// free gives the memory back; values must not be used any more.
func (s *slab) free() {
	if s.mapped != nil {
		unix.Munmap(s.mapped)
	}
	*s = slab{}
}
