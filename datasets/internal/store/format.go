package store

import (
	"iter"
	"slices"
	"strconv"
)

// Lists are pointers to the lists of each split, of float32, float64, int32, int or string; others, and maps, are kept as JSON. All
// splits have lists of the same types, in the same order; nil: the split is absent.
type Lists [3][]any

// A cache file is
//
//	magic      8 bytes
//	order      uint32, to tell the byte order of the machine that wrote it, and the bits of its int
//	checksum   uint32, CRC-32C of the header
//	length     uint64, of the header
//	header     JSON: header
//	sections   one after another, each at a multiple of 64 bytes
//
// with numbers in the byte order of the machine. Only the checksums of the header speak of
// the sections.
type header struct {
	Key    string
	Splits [3][]*section // a section for each list; nil: the list, or the split, is nil
}

// A section is a list. Numbers are as they are in memory, strings stand each after its length, and all else is JSON.
type section struct {
	Length    int64    // bytes
	Checksums []uint32 // CRC-32C of each block

	bytes []byte
}

const (
	magic      = "plrankds"
	order      = 0x01020300 | strconv.IntSize
	introSize  = 24
	align      = 64
	blockSize  = 1 << 22
	mostHeader = 1 << 28
)

// padding is the number of bytes from at to the next multiple of align.
func padding(at int64) int64 { return -at & (align - 1) }

// sections returns the sections of all splits, in the order of the file.
func (h *header) sections() []*section {
	all := slices.Concat(h.Splits[:]...)
	return slices.DeleteFunc(all, func(s *section) bool { return s == nil })
}

func (s *section) blocks() iter.Seq[[]byte] { return slices.Chunk(s.bytes, blockSize) }
