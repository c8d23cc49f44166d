package datasets

import "github.com/plrank/plrank/datasets/internal/reader"

// inChunks returns the options of reading text in chunks of about the given number of bytes.
func inChunks(o ReadOptions, size int) reader.FileOptions {
	return reader.FileOptions{Options: reader.Options(o), ChunkSize: size}
}

// readBlocksInChunks is ReadBlocks for chunks of a size.
func readBlocksInChunks(path string, o ReadOptions, size int, yield func(block *Dataset, read int64) error) ([]string, error) {
	return readBlocks(path, inChunks(o, size), yield)
}
