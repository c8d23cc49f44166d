package datasets

import (
	"github.com/plrank/plrank/datasets/internal/reading"
	"github.com/plrank/plrank/datasets/internal/table"
)

// inChunks are the options of reading text in chunks of about so many bytes.
func inChunks(o ReadOptions, size int) reading.Options {
	return reading.Options{Options: table.Options(o), ChunkSize: size}
}

// readBlocksInChunks is ReadBlocks for chunks of a size.
func readBlocksInChunks(path string, o ReadOptions, size int, yield func(block *Dataset, read int64) error) ([]string, error) {
	return readBlocks(path, inChunks(o, size), yield)
}
