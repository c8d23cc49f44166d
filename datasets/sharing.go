package datasets

import "unsafe"

// Sharing is how several processes share work on the same data: this one is number Rank of
// Size. All call Allgather at the same times; it sets dst to src of process 0, of process 1,
// and so on.
type Sharing struct {
	Rank, Size int
	Allgather  func(dst, src []byte)
}

// alone is a single process.
var alone = Sharing{Rank: 0, Size: 1}

// share is the share of this process in n pieces of work: those from from to to−1.
func (s Sharing) share(n int) (from, to int) { return s.Rank * n / s.Size, (s.Rank + 1) * n / s.Size }

// or sets the flags of all processes that one of them has set.
func (s Sharing) or(flags []bool) {
	if s.Size == 1 {
		return
	}
	own, all := make([]byte, len(flags)), make([]byte, s.Size*len(flags))
	for i, set := range flags {
		if set {
			own[i] = 1
		}
	}
	s.Allgather(all, own)
	for i, set := range all {
		flags[i%len(flags)] = flags[i%len(flags)] || set == 1
	}
}

// gather completes sums, of which each piece of work has so many, and every process those of
// its share.
func (s Sharing) gather(sums []moments, each int) {
	if s.Size == 1 || len(sums) == 0 {
		return
	}
	pieces := len(sums) / each
	room := (pieces/s.Size + 1) * each
	own, all := make([]moments, room), make([]moments, s.Size*room)
	from, to := s.share(pieces)
	copy(own, sums[from*each:to*each])
	s.Allgather(bytesOfMoments(all), bytesOfMoments(own))
	for rank := range s.Size {
		from, to := Sharing{Rank: rank, Size: s.Size}.share(pieces)
		copy(sums[from*each:to*each], all[rank*room:])
	}
}

func bytesOfMoments(m []moments) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(m))), int(unsafe.Sizeof(moments{}))*len(m))
}

// moments are a number of values, their sum and that of their squares.
type moments struct{ n, sum, square float64 }

func (m *moments) add(o moments) {
	m.n += o.n
	m.sum += o.sum
	m.square += o.square
}
