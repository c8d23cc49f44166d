package reader

import (
	"context"
	"fmt"

	"github.com/plrank/plrank/internal/filekind"
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

// Read reads a file and the files that belong to it, and numbers its groups together with the groups
// of files before. Its features go to a file in the folder of scratch, if one is given.
func Read(path string, o FileOptions, names *Names, scratch string) (*Table, error) {
	s := newScan(path, o, names)
	s.byID = map[string]int{}
	s.Scratch = scratch
	take, giveBack := func(*Chunk) error { return nil }, func() error { return nil }
	if scratch != "" {
		spill, err := NewSpill(path, scratch)
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
func (s *scan) read(o FileOptions, each func(*Chunk) error, end func() error) (err error) {
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
	defer func() {
		for _, f := range s.files {
			f.file.Close()
		}
	}()
	if err := s.loadVectors(ctx, &o.Options); err != nil {
		return err
	}
	err = s.parse(ctx, o, func(c *Chunk, l *Layout) error {
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
		if err := warnUnused(s.Table, NameFile, "columns have names of their own"); err != nil {
			return err
		}
	}
	return warnUnused(s.Table, Positions, "positions are for LightGBM")
}

func (s *scan) sidecar() Sidecar {
	return Sidecar{Path: s.Path, Sized: s.sizes != nil, Names: s.called}
}

// parse calls each with the chunks of the file, in any format.
func (s *scan) parse(ctx context.Context, o FileOptions, each func(*Chunk, *Layout) error) error {
	if format := binaryOf(s.Path); format != nil {
		return format.parse(ctx, s, o, each)
	}
	return s.parseText(ctx, o, each)
}

// parseText calls each with the chunks of a file of text.
func (s *scan) parseText(ctx context.Context, o FileOptions, each func(*Chunk, *Layout) error) error {
	text, err := textfile.Open(ctx, s.Path)
	if err != nil {
		return fmt.Errorf("datasets: %w", textfile.At(s.Path, err))
	}
	defer text.Close()
	s.consumed = text.Consumed
	return parseChunks(s.Path, text, s.sidecar(), o, each)
}
