package reader

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/plrank/plrank/internal/filekind"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/internal/textfile"
)

// formats are asked in turn whether a text is theirs, LETOR last.
var formats = []Format{unread, Separated, LETOR}

// unread returns an error for text in formats that are not read.
func unread(line, _ []byte, _ Options, _ Sidecar) (*Layout, error) {
	kind, known := filekind.OfLine(line)
	if !known {
		return nil, nil
	}
	return nil, fmt.Errorf("the file is %s: %s", kind.Name, kind.Data)
}

// FileOptions say how to read a file.
type FileOptions struct {
	Options
	ChunkSize int // how much text is parsed at once; 0: 1 MB
}

// Read reads the files of a split, and the files that belong to them, as one table. Groups are numbered on from the splits
// before. A query must be in one file. Files without a row, as Spark writes some, are a warning if there are others.
func Read(split Split, o FileOptions, names *Names) (t *Table, err error) {
	s := newScan(split.Path, o, names)
	s.byID = map[string]int{}
	for _, file := range names.Vectors.files { // whose vectors each split needs
		file.ids, file.found = false, false
	}
	var empty []string
	var first *Table // as it is after the first file with documents
	for _, path := range split.Files {
		if split.Files[0] != split.Path {
			s.Parts, s.Starts = append(s.Parts, path), append(s.Starts, s.Lines())
		}
		err := s.read(path, func(*Chunk) error { return nil })
		switch {
		case errors.Is(err, ErrEmpty) && len(split.Files) > 1:
			empty = append(empty, filepath.Base(path))
			continue
		case err != nil:
			return nil, err
		case first != nil:
			err = first.sameKind(s.Table)
		default:
			kept := *s.Table
			kept.Has, first = slices.Clone(s.Has), &kept
			s.o.Options = s.o.ByNames(s.IDs, s.Layout)
		}
		if err != nil {
			s.Free()
			return nil, err
		}
	}
	if first == nil {
		return nil, fmt.Errorf("datasets: %s: %w: all %d parts are empty", split.Path, ErrEmpty, len(split.Files))
	}
	s.Path, s.Options, s.Layout = split.Path, o.Options, first.Layout
	if empty != nil {
		s.Warn("%d of %d parts have no documents: %s", len(empty), len(split.Files), text.List(empty))
	}
	return s.Table, nil
}

// sameKind returns an error if only one of two files has something.
func (t *Table) sameKind(next *Table) error {
	what := []string{"query ids", "weights of queries", "groups"}
	for _, n := range numbers {
		what = append(what, n.Plural)
	}
	has := func(t *Table) []bool { return append([]bool{!t.Sized, t.HasQueryWeights, t.Groups != nil}, t.Has...) }
	other := has(next)
	for i, is := range has(t) {
		with, without := t.Path, next.Path
		if !is {
			with, without = without, with
		}
		if is != other[i] {
			return fmt.Errorf("datasets: %s has %s, but %s has none: want them in all parts, or in none", with, what[i], without)
		}
	}
	return nil
}

// read reads a file to its end. It calls each with every chunk when that has been added. The table is freed if there is an error.
func (s *scan) read(path string, each func(*Chunk) error) (err error) {
	s.begin(path)
	if err := s.o.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(s.o.Ctx())
	defer cancel()
	defer func() {
		if err == nil || errors.Is(err, ErrEmpty) {
			return
		}
		s.Free()
		if stopped := s.o.Stopped(s.Path); stopped != nil {
			err = stopped // rather than that the file is closed
		}
	}()
	if s.sizes, err = readSizes(ctx, s.Path); err != nil {
		return err
	}
	if s.called, err = readNames(ctx, s.Path); err != nil {
		return err
	}
	if err := s.loadVectors(ctx, &s.o.Options); err != nil {
		return err
	}
	err = s.parse(ctx, s.o, func(c *Chunk, l *Layout) error {
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
	return s.end()
}

func (s *scan) sidecar() Sidecar {
	return Sidecar{Path: s.Path, Sized: s.sizes != nil, Names: s.called}
}

// parse calls each with the chunks of the file, in any format.
func (s *scan) parse(ctx context.Context, o FileOptions, each func(*Chunk, *Layout) error) error {
	if format := binaryOf(s.Path); format != nil {
		return format.parse(ctx, s, o, each)
	}
	text, err := textfile.Open(ctx, s.Path)
	if err != nil {
		return fmt.Errorf("datasets: %w", textfile.At(s.Path, err))
	}
	defer text.Close()
	s.consumed = text.Consumed
	return parseChunks(s.Path, text, s.sidecar(), o, each)
}
