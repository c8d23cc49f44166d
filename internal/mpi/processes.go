package mpi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// A Group is what train.Processes is.
type Group interface {
	Rank() int // of this process, from 0
	Size() int // processes

	Broadcast(b []byte)        // b becomes b of rank 0
	Allgather(dst, src []byte) // dst becomes src of rank 0, of rank 1, and so on
	Alltoall(dst, src []byte)  // part r of src goes to rank r, part r of dst comes from there
}

// GroupOf returns g, or for nil the group of this one process.
func GroupOf(g Group) Group {
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

// Share completes numbers: rank r has the ones from begin[r] to begin[r+1]−1. It is collective.
func Share[T float32 | float64](g Group, numbers []T, begin []int) {
	room := 0
	for rank := range g.Size() {
		room = max(room, begin[rank+1]-begin[rank])
	}
	mine, all := make([]T, room), make([]T, g.Size()*room)
	copy(mine, numbers[begin[g.Rank()]:begin[g.Rank()+1]])
	g.Allgather(Bytes(all), Bytes(mine))
	for rank := range g.Size() {
		copy(numbers[begin[rank]:begin[rank+1]], all[rank*room:])
	}
}

// Sum adds to numbers what the other processes have. It is collective.
func Sum(g Group, numbers []uint64) {
	all := make([]uint64, g.Size()*len(numbers))
	g.Allgather(Bytes(all), Bytes(numbers))
	clear(numbers)
	for i, v := range all {
		numbers[i%len(numbers)] += v
	}
}

// Bytes returns the memory of numbers. The ranks have one byte order.
func Bytes[T float32 | float64 | uint64](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), int(unsafe.Sizeof(T(0)))*len(x))
}

// Agreed reports an error that all ranks know of: they end for the same reason,
// and one of them can say so for all.
type Agreed struct{ error }

// Unwrap returns the error itself.
func (e Agreed) Unwrap() error { return e.error }

// longestText is what is passed on of the text of an error.
const longestText = 1000

// Agree is collective. It returns nil if no rank has an error. Otherwise it returns an error on every rank: its own, if all
// have the same, or else the error of the first rank that has one, with its number. A nil Group is one process.
func Agree(g Group, err error) error {
	if g == nil || g.Size() == 1 {
		return err
	}
	var agreed Agreed
	if errors.As(err, &agreed) {
		return err
	}
	record := make([]byte, 1+longestText) // whether there is one, and its text
	if err != nil {
		record[0] = 1
		copy(record[1:], err.Error())
	}
	all := make([]byte, g.Size()*len(record))
	g.Allgather(all, record)
	records := slices.Collect(slices.Chunk(all, len(record)))
	first := slices.IndexFunc(records, func(record []byte) bool { return record[0] == 1 })
	switch {
	case first < 0:
		return nil
	case len(slices.CompactFunc(slices.Clone(records), bytes.Equal)) == 1:
		return Agreed{err}
	}
	return Agreed{fmt.Errorf("rank %d of %d: %s", first, g.Size(), bytes.TrimRight(records[first][1:], "\x00"))}
}

// Alike is collective. It returns an error if a rank has another text than rank 0 for what is named. A nil Group is one
// process.
func Alike(g Group, what, text string) error {
	if g == nil || g.Size() == 1 {
		return nil
	}
	var err error
	if first := string(FromFirst(g, []byte(text))); first != text {
		err = fmt.Errorf("train: %s: %s, on rank 0 %s", what, text, first)
	}
	return Agree(g, err)
}

// FromFirst is collective. It returns the bytes of rank 0.
func FromFirst(g Group, own []byte) []byte {
	size := binary.LittleEndian.AppendUint64(nil, uint64(len(own)))
	g.Broadcast(size)
	first := slices.Clone(own)
	if g.Rank() > 0 {
		first = make([]byte, binary.LittleEndian.Uint64(size))
	}
	g.Broadcast(first)
	return first
}
