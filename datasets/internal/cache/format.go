package cache

// A cache file is
//
//	magic      8 bytes
//	order      uint32, to tell the byte order of the machine that wrote it
//	checksum   uint32, CRC-32C of the header
//	length     uint64, of the header
//	header     JSON: header
//	sections   each at a multiple of 64 bytes
//
// with numbers in the byte order of the machine. The header has the checksums
// of the sections.
type header struct {
	Key      string
	Size     int64 // of the file
	Splits   [3]*split
	Sections []section
}

// split names the sections of a split by their index.
type split struct {
	Features, Labels    int // float32
	Weights             int // float32; −1: none
	QueryWeights        int // float32; −1: none
	Lines               int // int32; −1: none
	PartLines           int // int64: the line before each part; −1: there is one file
	Offsets, FeatureIDs int // int64
	Names               int // strings: Name, Warnings
	QueryIDs            int // strings
	DocumentIDs         int // strings; −1: none
	FeatureNames        int // strings; −1: none
	Groups              int // int64, each 1 higher; −1: none
	GroupNames          int // strings; −1: none
}

type section struct {
	Offset, Length int64    // bytes
	Count          int64    // of values
	Checksums      []uint32 // CRC-32C of each block
}

const (
	magic      = "plrankds"
	order      = 0x01020304
	introSize  = 24
	align      = 64
	blockSize  = 1 << 22
	mostHeader = 1 << 28
)
