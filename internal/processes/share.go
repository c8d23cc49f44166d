package processes

import "unsafe"

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
