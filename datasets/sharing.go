package datasets

import "unsafe"

// Sharing is how several processes share work on the same data: this one is number Rank of
// Size. Allgather is called by all in turn, and gives each of them what all have: dst becomes
// src of process 0, of process 1, and so on.
type Sharing struct {
	Rank, Size int
	Allgather  func(dst, src []byte)
}

// alone shares nothing.
var alone = Sharing{Rank: 0, Size: 1}

// part is this process's part of n pieces of work: those from from to to−1.
func (s Sharing) part(n int) (from, to int) { return s.Rank * n / s.Size, (s.Rank + 1) * n / s.Size }

// or makes every flag that one process has set one of all.
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

// gather completes sums, of which each piece of work has so many, and of which every process
// has its part.
func (s Sharing) gather(sums []moments, each int) {
	if s.Size == 1 || len(sums) == 0 {
		return
	}
	pieces := len(sums) / each
	room := (pieces/s.Size + 1) * each
	own, all := make([]moments, room), make([]moments, s.Size*room)
	from, to := s.part(pieces)
	copy(own, sums[from*each:to*each])
	s.Allgather(bytesOfMoments(all), bytesOfMoments(own))
	for rank := range s.Size {
		from, to := Sharing{Rank: rank, Size: s.Size}.part(pieces)
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
