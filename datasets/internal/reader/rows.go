package reader

import (
	"bufio"
	"context"
	"fmt"

	"github.com/plrank/plrank/internal/textfile"
)

// A rowFile has a line for each row of a data file, which are read side by side.
type rowFile struct {
	path  string
	file  *textfile.File
	lines *bufio.Scanner
	row   int // lines so far

	want string       // what the lines are, for messages
	set  func(*Chunk) // sets what the next lines say of a chunk

	failed error // of the first line that is wrong; end tells, after the errors of the data file
}

func openRows(ctx context.Context, path string) (*rowFile, error) {
	f, err := textfile.Open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	return &rowFile{path: path, file: f, lines: bufio.NewScanner(f)}, nil
}

// openRowsBeside is openRows for the file of a kind next to a data file; nil if there is none.
func openRowsBeside(ctx context.Context, kind Kind, data string) (*rowFile, error) {
	path, err := kind.Find(data)
	if path == "" || err != nil {
		return nil, err
	}
	return openRows(ctx, path)
}

// next goes to the next line, and reports whether there is one.
func (f *rowFile) next() bool {
	if f.lines.Err() != nil || !f.lines.Scan() { // after an error it would give what is left as a line
		return false
	}
	f.row++
	return true
}

// err is the error of reading the lines.
func (f *rowFile) err() error {
	if err := f.lines.Err(); err != nil {
		return fmt.Errorf("datasets: %s:%d: %w", f.path, f.row+1, err)
	}
	return nil
}

// at returns an error with the line that it is about.
func (f *rowFile) at(err error) error { return fmt.Errorf("datasets: %s:%d: %w", f.path, f.row, err) }

// nextRows returns the values of the next rows, zero for the ones that are wrong, as end tells.
func nextRows[T any](f *rowFile, rows int, parse func(line []byte) (T, error)) []T {
	values := make([]T, rows)
	for r := range values {
		if !f.next() {
			break
		}
		v, err := parse(f.lines.Bytes())
		if err == nil {
			values[r] = v
		} else if f.failed == nil {
			f.failed = f.at(err)
		}
	}
	return values
}

// end checks that there is a line for each row.
func (f *rowFile) end(t *Table) error {
	for f.next() {
	}
	if f.failed != nil {
		return f.failed
	}
	if err := f.err(); err != nil {
		return err
	}
	if f.row != t.Rows {
		return fmt.Errorf("datasets: %s: %d lines, but %s has %d documents: want %s", f.path, f.row, t.Path, t.Rows, f.want)
	}
	return nil
}

// addFile adds a file to be read side by side, unless it is nil.
func (s *scan) addFile(f *rowFile, want string, set func(*Chunk)) {
	if f != nil {
		f.want, f.set = want, set
		s.files = append(s.files, f)
	}
}

// openNumbers opens the file of each optional column that the table does not have.
func (s *scan) openNumbers() error {
	for i, n := range numbers {
		column := s.Layout.Roles[n.Role]
		var f *rowFile
		var err error
		switch {
		case n.File == "" || n.Queries:
		case column != "":
			err = warnUnused(s.Table, n.File, fmt.Sprintf("%s are in column %q", n.Plural, column))
		default:
			f, err = openRowsBeside(s.Options.Ctx(), n.File, s.Path)
		}
		if err != nil {
			return err
		}
		s.Has[i] = column != "" || f != nil
		s.addFile(f, "the "+n.What+" of one document a line", func(c *Chunk) { c.Numbers[i] = nextRows(f, len(c.Labels), n.parse) })
	}
	return nil
}
