package reader

import (
	"errors"
	"fmt"
	"hash/maphash"
)

// ErrReturns is the error of [Blocks] for a query that comes back after another one.
var ErrReturns = errors.New("comes back after another one: its documents must stand together")

// ReadBlocks reads a file in blocks of whole queries; see datasets.ReadBlocks.
func ReadBlocks(path string, o FileOptions, yield func(block *Table, read int64) error) (warnings []string, err error) {
	if o.FeatureIDs == nil {
		return nil, fmt.Errorf("datasets: %s: to read it in blocks, the feature ids must be given", path)
	}
	s := newScan(path, o, NewNames(o.Options))
	s.seen, s.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	give := func() error {
		block := s.takeQueries()
		if block == nil {
			return nil
		}
		return yield(block, s.consumed())
	}
	if err = s.read(path, func(*Chunk) error { return give() }); err == nil {
		err = give()
	}
	return s.Warnings, err
}

// takeQueries takes the queries that are whole and their rows off the table, and makes
// another one of them; nil if there are none, or if there was an error: the rest is then read
// for its faults.
func (s *scan) takeQueries() *Table {
	if s.Failed() || s.failed != nil {
		s.Free()
		s.Queries, s.rows, s.next = nil, 0, 0
		return nil
	}
	if len(s.Queries) == 0 {
		return nil
	}
	block := *s.Table
	block.Warnings = nil
	s.Chunks, s.Queries = nil, nil
	s.rows, s.next = s.rows-s.next, 0
	if s.rows > 0 { // they are all of the last chunk: a query that began before it has just ended
		last := block.Chunks[len(block.Chunks)-1]
		s.Chunks = append(s.Chunks, last.Split(len(last.Labels)-s.rows))
	}
	block.Rows, block.Size = 0, 0
	for _, c := range block.Chunks {
		block.Rows += len(c.Labels)
		block.Size += c.Size
	}
	return &block
}
