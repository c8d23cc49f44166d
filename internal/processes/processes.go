// Package processes is what processes that train one model together have in common, and how
// they come to one mind: about errors, texts and numbers.
package processes

import "unsafe"

// A Group is the processes that train one model together: see train.Parts.
type Group interface {
	Rank() int // of this process, from 0
	Size() int // processes

	Broadcast(b []byte)        // b becomes that of rank 0
	Allgather(dst, src []byte) // dst becomes src of rank 0, of rank 1, and so on
	Alltoall(dst, src []byte)  // part r of src goes to rank r, part r of dst comes from there
}

// Of is the group itself, or for nil the group of this one process.
func Of(g Group) Group {
	if g == nil {
		return alone{}
	}
	return g
}

// alone is one process.
type alone struct{}

func (alone) Rank() int                 { return 0 }
func (alone) Size() int                 { return 1 }
func (alone) Broadcast([]byte)          {}
func (alone) Allgather(dst, src []byte) { copy(dst, src) }
func (alone) Alltoall(dst, src []byte)  { copy(dst, src) }

// Share completes numbers of which rank r has those from begin[r] to begin[r+1]−1. It is
// collective.
func Share(g Group, numbers []float64, begin []int) {
	room := 0
	for rank := range g.Size() {
		room = max(room, begin[rank+1]-begin[rank])
	}
	mine, all := make([]float64, room), make([]float64, g.Size()*room)
	copy(mine, numbers[begin[g.Rank()]:begin[g.Rank()+1]])
	g.Allgather(Bytes(all), Bytes(mine))
	for rank := range g.Size() {
		copy(numbers[begin[rank]:begin[rank+1]], all[rank*room:])
	}
}

// Bytes is the memory of numbers. The ranks have one byte order.
func Bytes[T float32 | float64](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), int(unsafe.Sizeof(T(0)))*len(x))
}
