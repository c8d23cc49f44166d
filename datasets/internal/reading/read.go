// Package reading reads files of documents, and those that lie beside them, as tables.
package reading

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/letor"
	"github.com/plrank/plrank/datasets/internal/parquet"
	"github.com/plrank/plrank/datasets/internal/separated"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/internal/mapped"
	"github.com/plrank/plrank/internal/textfile"
)

// formats are asked in turn whether a text is theirs. A new one is a package with its function,
// an element before LETOR, the endings of its files in package files, and a line of the comment
// of package datasets.
var formats = []table.Format{separated.Layout, letor.Layout}

// Options say how to read a file.
type Options struct {
	table.Options
	ChunkSize int // how much text is parsed at once; 0: 1 MB
}

// File reads a file and those beside it, and numbers its groups together with those
// before. Its features go to a file in the folder of scratch, if one is given.
func File(path string, o Options, names *table.Names, scratch string) (*table.Table, error) {
	s := newScan(path, o, names)
	s.byID = map[string]int{}
	s.Scratch = scratch
	take, giveBack := func(*table.Chunk) error { return nil }, func() error { return nil }
	if scratch != "" {
		spill, err := table.NewSpill(path, scratch)
		if err != nil {
			return nil, err
		}
		defer spill.Close()
		take, giveBack = spill.Take, func() error { return spill.GiveBack(s.Table) }
	}
	err := s.read(o, take, func() error {
		if err := giveBack(); err != nil {
			return err
		}
		return setWeights(s.Table, s.sizes)
	})
	return s.Table, err
}

// read reads the file to its end. It calls each with every chunk when that has been added,
// and end when all have been, and are found to be right. The table is freed if there is an
// error.
func (s *scan) read(o Options, each func(*table.Chunk) error, end func() error) (err error) {
	if err := o.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(o.Ctx())
	defer cancel()
	defer func() {
		if err == nil {
			return
		}
		s.Free()
		if stopped := o.Stopped(s.Path); stopped != nil {
			err = stopped // rather than that the file is closed
		}
	}()
	if s.sizes, err = readSizes(ctx, s.Path); err != nil {
		return err
	}
	if s.called, err = readNames(ctx, s.Path); err != nil {
		return err
	}
	defer func() { s.groups.close(); s.base.close() }()
	parse := s.parseText
	if isParquet(s.Path) {
		parse = s.parseParquet
	}
	err = parse(ctx, o, func(c *table.Chunk, l *table.Layout) error {
		err := s.add(c, l)
		if err == nil {
			err = each(c)
		}
		if err != nil {
			cancel() // which ends the reading
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	if s.called != nil && s.Layout.IDs != nil {
		if err := warnUnused(s.Table, files.Names, "columns have names of their own"); err != nil {
			return err
		}
	}
	return warnUnused(s.Table, files.Positions, "positions are for LightGBM")
}

func (s *scan) beside() table.Beside { return table.Beside{Sized: s.sizes != nil, Names: s.called} }

// parseText calls each with the chunks of a file of text.
func (s *scan) parseText(ctx context.Context, o Options, each func(*table.Chunk, *table.Layout) error) error {
	file, err := textfile.Open(ctx, s.Path)
	if errors.Is(err, textfile.ErrParquet) { // else it would have been read as such
		return fmt.Errorf("datasets: %s: Parquet is read from its middle: want the file itself, neither compressed as a whole nor from a pipe (its pages may be compressed)", s.Path)
	}
	if err != nil {
		return fmt.Errorf("datasets: %w", textfile.At(s.Path, err))
	}
	defer file.Close()
	s.consumed = file.Consumed
	return parseChunks(s.Path, file, s.beside(), o, each)
}

// isParquet tells whether a file is Parquet. What is not a regular file, such as a pipe, is not.
func isParquet(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	first := make([]byte, 4)
	_, err = io.ReadFull(f, first)
	return err == nil && parquet.Is(first)
}

// parseParquet calls each with the chunks of a Parquet file.
func (s *scan) parseParquet(ctx context.Context, o Options, each func(*table.Chunk, *table.Layout) error) error {
	file, err := mapped.Open(s.Path)
	if err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	defer mapped.Close(file)
	o.Context = ctx
	var failed error // of each
	err = parquet.Read(file, o.Options, s.beside(), cmp.Or(o.ChunkSize, chunkSize), func(c *table.Chunk, l *table.Layout, part float64) error {
		s.consumed = func() int64 { return int64(part * float64(len(file))) }
		failed = each(c, l)
		mapped.Relieve()
		return failed
	})
	if err != nil && failed == nil {
		err = fmt.Errorf("datasets: %s: %w", s.Path, err)
	}
	return err
}
