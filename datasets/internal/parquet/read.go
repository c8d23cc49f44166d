package parquet

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"github.com/plrank/plrank/datasets/internal/separated"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
	"github.com/plrank/plrank/internal/parallel"
)

// reader reads a file, some rows at a time.
type reader struct {
	*separated.Columns
	used    []int // columns that are read, by position
	leaves  []leaf
	pages   []*pages // of a row group, by position; nil for columns that are not read
	rooms   []room
	numbers []float32  // rows × features
	texts   [][][]byte // by position, of columns that are read as text
	allowed *allowance
}

// Read reads the file with these bytes in chunks of so many bytes, or a few more, and calls each with
// them in turn, and with the part of the file that has been read. Lines are rows, from 1. All memory
// is in proportion to the bytes.
func Read(file []byte, o table.Options, beside table.Beside, size int, each func(c *table.Chunk, l *table.Layout, part float64) error) error {
	meta, err := readMeta(file)
	if err != nil {
		return err
	}
	r, err := newReader(meta, o, beside)
	if err != nil {
		return err
	}
	all, most := 0, mostNumbers(len(file)) // rows, and numbers
	for _, group := range meta.RowGroups {
		if group.NumRows < 0 || group.NumRows > int64(most/max(1, len(r.used))-all) {
			return fmt.Errorf("%w: %d documents in %d bytes", errDamaged, group.NumRows, len(file))
		}
		all += int(group.NumRows)
	}
	r.allowed = newAllowance(len(file))
	rows := max(1, size/4/max(1, len(r.used)))
	b, done := r.NewBuilder(o), 0
	for _, group := range meta.RowGroups {
		if err := r.open(file, &group); err != nil {
			return err
		}
		for left := int(group.NumRows); left > 0; {
			if err := o.Ctx().Err(); err != nil {
				return err
			}
			n := min(left, rows)
			c := &table.Chunk{Line: 1 + done}
			if err := r.chunk(b, c, n); err != nil {
				return err
			}
			left, done = left-n, done+n
			if err := each(c, &r.Layout, float64(done)/float64(all)); err != nil {
				return err
			}
		}
	}
	return nil
}

// newReader finds the use of the columns.
func newReader(meta *format.FileMetaData, o table.Options, beside table.Beside) (*reader, error) {
	columns, others, err := leaves(meta.Schema)
	if err != nil {
		return nil, err
	}
	var names []string
	for i, l := range columns {
		if names = append(names, l.name); o.Headerless {
			names[i] = strconv.Itoa(i + 1)
		}
	}
	r := &reader{leaves: columns}
	if r.Columns, err = separated.NewColumns(names, o, beside.Sized); err != nil {
		if len(others) > 0 {
			err = fmt.Errorf("%w; columns of types that are not read: %s", err, text.List(others))
		}
		return nil, err
	}
	if o.FeatureIDs == nil {
		r.LeaveOut(func(n int) bool { return columns[n].isText() })
	}
	for _, other := range others {
		if !slices.Contains(o.Ignore, other) { // as those that the first of several files has, which are told
			r.Unread = append(r.Unread, other)
		}
	}
	for n := range columns {
		switch n {
		case r.Label, r.Query, r.Document, r.Weight, r.Base, r.Group:
			r.used = append(r.used, n)
		default:
			if r.Feature[n] >= 0 {
				r.used = append(r.used, n)
			}
		}
	}
	r.pages, r.rooms, r.texts = make([]*pages, len(columns)), make([]room, len(columns)), make([][][]byte, len(columns))
	return r, nil
}

// isNumber tells whether a column is nothing but a feature of numbers.
func (r *reader) isNumber(n int) bool { return r.Feature[n] >= 0 && r.Level[n] < 0 && n != r.Group }

// open begins a row group. Its columns must not share bytes: dictionaries of all of them are in memory at once.
func (r *reader) open(file []byte, group *format.RowGroup) error {
	spans := make([]span, len(r.used))
	for i, n := range r.used {
		l := r.leaves[n]
		if l.index >= len(group.Columns) {
			return errDamaged
		}
		c := &group.Columns[l.index]
		s, err := part(file, &c.MetaData, c.FilePath)
		if err != nil {
			return r.at(n, err)
		}
		r.pages[n] = &pages{leaf: l, codec: c.MetaData.Codec, rest: file[s.from:s.to:s.to], allowed: r.allowed}
		spans[i] = s
	}
	if overlap(spans) {
		return fmt.Errorf("%w: two of its columns overlap", errDamaged)
	}
	return nil
}

// at is an error with the column that it is about.
func (r *reader) at(n int, err error) error { return fmt.Errorf("column %q: %w", r.Called[n], err) }

// chunk reads the next n rows of the row group.
func (r *reader) chunk(b *table.Builder, c *table.Chunk, n int) error {
	width := len(r.IDs)
	if len(r.numbers) < n*width {
		r.numbers = make([]float32, n*width)
	}
	c.Size = int64(n) * int64(4*width+1)
	faults := make([]error, len(r.used)) // of single columns
	parallel.Each(len(r.used), parallel.Workers(len(r.used)), func(_, i int) error {
		at := r.used[i]
		if r.isNumber(at) {
			faults[i] = r.pages[at].numbers(r.numbers[r.Feature[at]:], width, n, &r.rooms[at])
			return nil
		}
		if len(r.texts[at]) < n {
			r.texts[at] = make([][]byte, n)
		}
		faults[i] = r.pages[at].texts(r.texts[at], n, &r.rooms[at])
		return nil
	})
	b.Begin(c)
	for i, err := range faults {
		var f fault
		switch {
		case errors.As(err, &f):
			c.Lines = f.row
			b.FailLine("column %q: %v", r.Called[r.used[i]], f.error)
		case err != nil:
			return r.at(r.used[i], err)
		}
	}
	if c.FaultCount == 0 {
		for c.Lines = 0; c.Lines < n; c.Lines++ {
			r.row(b, c.Lines)
		}
	}
	b.Finish()
	return nil
}

// row adds a row to the chunk.
func (r *reader) row(b *table.Builder, row int) {
	to := r.Begin(b)
	to.Copy(r.numbers[row*len(r.IDs):])
	for _, n := range r.used {
		if r.isNumber(n) {
			continue
		}
		if err := r.Set(b, &to, n, r.texts[n][row]); err != nil {
			b.FailLine("column %q: %v", r.Called[n], err)
			return
		}
	}
	r.End(b, &to)
}
