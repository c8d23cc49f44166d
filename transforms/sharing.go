package transforms

import "unsafe"

// Sharing is how several processes share work on the same data: this one is number Rank of
// Size. All call Allgather at the same times; it sets dst to src of process 0, of process 1,
// and so on. The zero value is a single process.
type Sharing struct {
	Rank, Size int
	Allgather  func(dst, src []byte)
}

// share is the share of this process in n pieces of work: those from from to to−1.
func (s Sharing) share(n int) (from, to int) {
	return s.Rank * n / max(1, s.Size), (s.Rank + 1) * n / max(1, s.Size)
}

// or sets the flags of all processes that one of them has set.
func (s Sharing) or(flags []bool) {
	if s.Size <= 1 {
		return
	}
	for i, set := range allgather(s, flags) {
		flags[i%len(flags)] = flags[i%len(flags)] || set
	}
}

// gather completes sums, of which each piece of work has so many, and every process those of
// its share.
func (s Sharing) gather(sums []moments, each int) {
	if s.Size <= 1 || len(sums) == 0 {
		return
	}
	pieces := len(sums) / each
	own := make([]moments, (pieces/s.Size+1)*each) // room for the largest share
	from, to := s.share(pieces)
	copy(own, sums[from*each:to*each])
	all := allgather(s, own)
	for rank := range s.Size {
		from, to := Sharing{Rank: rank, Size: s.Size}.share(pieces)
		copy(sums[from*each:to*each], all[rank*len(own):])
	}
}

// allgather is what all processes have, one after another, each as many values.
func allgather[T bool | moments](s Sharing, own []T) []T {
	bytes := func(values []T) []byte {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), int(unsafe.Sizeof(*new(T)))*len(values))
	}
	all := make([]T, s.Size*len(own))
	s.Allgather(bytes(all), bytes(own))
	return all
}
