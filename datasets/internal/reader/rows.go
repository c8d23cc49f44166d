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
	row   int  // lines so far
	ended bool // there are no more

	failed error // of the first line that is wrong; end tells, after the errors of the data file
}

func openRows(ctx context.Context, path string) (*rowFile, error) {
	f, err := textfile.Open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	return &rowFile{path: path, file: f, lines: bufio.NewScanner(f)}, nil
}

// next is the next line; not ok: there is none.
func (f *rowFile) next() (line []byte, ok bool) {
	if f.ended = f.ended || !f.lines.Scan(); f.ended {
		return nil, false
	}
	f.row++
	return f.lines.Bytes(), true
}

// end checks that there is a line for each row; the lines are called what is wanted.
func (f *rowFile) end(t *Table, want string) error {
	if f == nil {
		return nil
	}
	for !f.ended {
		f.next()
	}
	if f.failed != nil {
		return f.failed
	}
	if err := f.lines.Err(); err != nil {
		return fmt.Errorf("datasets: %s:%d: %w", f.path, f.row+1, err)
	}
	if f.row != t.Rows {
		return fmt.Errorf("datasets: %s: %d lines, but %s has %d documents: want %s", f.path, f.row, t.Path, t.Rows, want)
	}
	return nil
}

func (f *rowFile) close() {
	if f != nil {
		f.file.Close()
	}
}

// openNumbers opens the file of each optional column that the table does not have; nil where there is none.
func openNumbers(t *Table) ([]*rowFile, error) {
	files := make([]*rowFile, len(numbers))
	for i, n := range numbers {
		var err error
		column := t.Layout.Roles[n.Role]
		switch {
		case n.File == "" || n.Queries:
		case column != "":
			err = warnUnused(t, n.File, fmt.Sprintf("%s are in column %q", n.Plural, column))
		default:
			files[i], err = openRowsBeside(t.Options.Ctx(), n.File, t.Path)
		}
		if err != nil {
			return files, err
		}
		t.Has[i] = column != "" || files[i] != nil
	}
	return files, nil
}

// set returns the numbers of the next rows. What is wrong with them is told at the end.
func (n *Number) set(f *rowFile, rows int) []float32 {
	values := make([]float32, rows)
	for r := range values {
		line, ok := f.next()
		if !ok {
			break
		}
		v, err := n.parse(line)
		if err == nil {
			values[r] = v
		} else if f.failed == nil {
			f.failed = fmt.Errorf("datasets: %s:%d: %w", f.path, f.row, err)
		}
	}
	return values
}

// openRowsBeside is openRows for the file of a kind next to a data file; nil if there is none.
func openRowsBeside(ctx context.Context, kind Kind, data string) (*rowFile, error) {
	path, err := kind.Find(data)
	if path == "" || err != nil {
		return nil, err
	}
	return openRows(ctx, path)
}
