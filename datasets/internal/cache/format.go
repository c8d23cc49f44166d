package cache

import "github.com/plrank/plrank/datasets/internal/table"

// A cache file is
//
//	magic      8 bytes
//	order      uint32, to tell the byte order of the machine that wrote it
//	checksum   uint32, CRC-32C of the header
//	length     uint64, of the header
//	header     JSON: header
//	sections   one after another, each at a multiple of 64 bytes
//
// with numbers in the byte order of the machine. Only the checksums of the header speak of
// the sections.
type header struct {
	Key    string
	Splits [3][]*section // in the order of content.lists, with nil for a nil list; nil: no such split
}

type section struct {
	Length    int64    // bytes
	Count     int64    // of values
	Checksums []uint32 // CRC-32C of each block

	bytes []byte // when a cache is read
}

const (
	magic      = "plrankds"
	order      = 0x01020304
	introSize  = 24
	align      = 64
	blockSize  = 1 << 22
	mostHeader = 1 << 28
)

// padding is the number of bytes from at to the next multiple of align.
func padding(at int64) int64 { return -at & (align - 1) }

// content is what the sections of a split are made of.
type content struct {
	table.Data
	names []string // Name and Warnings
	parts []int    // the line before each part; nil: there is one file
}

// lists are pointers to the list of each section. Numbers of 4 bytes are written as they
// are in memory, others as int64, and strings each after its length.
func (c *content) lists() []any {
	return []any{
		&c.Features, &c.Labels, &c.Weights, &c.QueryWeights, &c.Lines,
		&c.Offsets, &c.FeatureIDs, &c.Groups, &c.parts,
		&c.names, &c.QueryIDs, &c.DocumentIDs, &c.FeatureNames, &c.GroupNames,
	}
}
