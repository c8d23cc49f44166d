package reader

import (
	"bufio"
	"context"
	"fmt"

	"github.com/plrank/plrank/internal/text"
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

// openRowsBeside is openRows for the file of a kind beside a data file; nil if there is none.
func openRowsBeside(ctx context.Context, kind Kind, data string) (*rowFile, error) {
	path, err := kind.Find(data)
	if path == "" || err != nil {
		return nil, err
	}
	return openRows(ctx, path)
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

// openBase opens the file of base scores, unless they are in a column; nil if there is none.
func openBase(t *Table) (f *rowFile, err error) {
	if column := t.Layout.Roles[BaseRole]; column != "" {
		t.HasBase = true
		return nil, warnUnused(t, BaseFile, fmt.Sprintf("base scores are in column %q", column))
	}
	f, err = openRowsBeside(t.Options.Ctx(), BaseFile, t.Path)
	t.HasBase = f != nil
	return f, err
}

// setBase sets the base scores of the next chunk. What is wrong with them is told at the end.
func setBase(f *rowFile, c *Chunk) {
	c.BaseScores = make([]float32, len(c.Labels))
	for r := range c.BaseScores {
		line, ok := f.next()
		if !ok {
			return
		}
		score, err := text.Field(line)
		if err == nil && IsFinite(score) {
			c.BaseScores[r] = score
		} else if f.failed == nil {
			f.failed = fmt.Errorf("datasets: %s:%d: %s is not a base score: want a finite number%s", f.path, f.row, text.Quote(line), text.Hint(line))
		}
	}
}
