package datasets

import (
	"github.com/plrank/plrank/datasets/internal/reading"
)

// inChunks are the options of reading text in chunks of about so many bytes.
func inChunks(o ReadOptions, size int) reading.Options {
	r := o.reading()
	r.ChunkSize = size
	return r
}

// readBlocksInChunks is ReadBlocks for chunks of a size.
func readBlocksInChunks(path string, o ReadOptions, size int, yield func(block *Dataset, read int64) error) ([]string, error) {
	return readBlocks(path, inChunks(o, size), yield)
}
