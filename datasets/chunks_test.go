package datasets

import (
	"github.com/plrank/plrank/datasets/internal/reading"
	"github.com/plrank/plrank/datasets/internal/table"
)

// inChunks are the options of reading text in chunks of about so many bytes.
func inChunks(o ReadOptions, size int) reading.Options {
	r := o.reading()
	r.ChunkSize = size
	return r
}

// readBlocksInChunks is ReadBlocks for chunks of a size.
func readBlocksInChunks(path string, o ReadOptions, size int, yield func(block *Dataset, read int64) error) ([]string, error) {
	return reading.Blocks(path, inChunks(o, size), func(d *table.Data, read int64) error { return yield(newDataset(d), read) })
}
