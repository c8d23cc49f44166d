// Package memory gives memory for many numbers, and does work on them on all cores. It knows
// nothing of their meaning.
package memory

import (
	"strings"
	"unsafe"

	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/parallel"
)

// Number is a number that has the same bytes in a file and in memory.
type Number interface {
	float32 | float64 | int32 | int
}

// Bytes is the memory of numbers.
func Bytes[T Number](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), int(unsafe.Sizeof(*new(T)))*len(values))
}

// Numbers is the inverse of [Bytes]; the memory must begin at a multiple of the size of a number.
func Numbers[T Number](bytes []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/int(unsafe.Sizeof(*new(T))))
}

// Unwritten returns memory for n numbers, which may have anything in it: the caller writes all of it.
// make may write zeros to its memory at once, which then takes room while the source of the
// numbers still has all of its own. The memory of a Builder is not written.
func Unwritten(n int) []float32 {
	var b strings.Builder
	b.Grow(max(4*n, 1))
	b.WriteByte(0) // an empty string may be anywhere
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.StringData(b.String()))), n)
}

// For calls f(0) … f(n-1) on all cores, and lets mapped files go that f has read a lot of.
// Each call may write only what belongs to its own index, so results do not depend on the
// number of cores.
func For(n int, f func(i int)) {
	parallel.For(n, parallel.Workers(n), func(_, i int) {
		f(i)
		file.Relieve()
	})
}
