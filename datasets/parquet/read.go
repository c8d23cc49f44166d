package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/text"
)

// rowReader reads a file, some rows at a time.
type rowReader struct {
	*reader.Columns
	used    []int // columns that are read, by position
	leaves  []leaf
	pages   []*pages  // of a row group, by position
	numbers []float32 // rows × features
	allowed *allowance
}

// readRows reads the file with these bytes in chunks of about size bytes, and calls each with
// them in turn, and with the part of the file that has been read. Lines are rows, from 1. All memory
// is in proportion to the bytes.
func readRows(file []byte, o reader.Options, sidecar reader.Sidecar, size int,
	each func(c *reader.Chunk, l *reader.Layout, part float64) error) error {
	meta, err := readMeta(file)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(meta.RowGroups, func(g rowGroup) bool { return g.NumRows != 0 }) {
		return nil // whatever the columns, or their types, as none can be found without rows
	}
	r, err := newReader(file, meta, o, sidecar)
	if err != nil {
		return err
	}
	width := len(r.used)
	for _, v := range r.Vectors {
		width += v.Dimension
	}
	rows := max(1, size/4/max(1, width))
	all, most := 0, mostNumbers(len(file)) // rows, and numbers
	for _, group := range meta.RowGroups {
		if group.NumRows < 0 || group.NumRows > int64(most/max(1, len(r.used))-all) {
			return fmt.Errorf("%w: %d documents in %d bytes", errDamaged, group.NumRows, len(file))
		}
		all += int(group.NumRows)
	}
	r.allowed = newAllowance(len(file))
	b, done := r.NewBuilder(o), 0
	for _, group := range meta.RowGroups {
		if group.NumRows == 0 { // it may have no pages, or none of the columns
			continue
		}
		if err := r.open(file, &group); err != nil {
			return err
		}
		for left := int(group.NumRows); left > 0; {
			if err := o.Ctx().Err(); err != nil {
				return err
			}
			n := min(left, rows)
			c := &reader.Chunk{Line: 1 + done, Remaining: all - done - n}
			if err := r.chunk(b, c, n); err != nil {
				return err
			}
			left, done = left-n, done+n
			if at := slices.IndexFunc(r.used, func(n int) bool { return r.pages[n].over() }); left == 0 && at >= 0 && c.FaultCount == 0 {
				return r.inColumn(r.used[at], fmt.Errorf("%w: too many values", errDamaged))
			}
			if err := each(c, &r.Layout, float64(done)/float64(all)); err != nil {
				return err
			}
		}
	}
	return nil
}

// newReader finds the use of the columns.
func newReader(file []byte, meta *fileMeta, o reader.Options, sidecar reader.Sidecar) (*rowReader, error) {
	columns, others, err := leaves(meta.Schema, durations(meta))
	if err != nil {
		return nil, err
	}
	var names []string
	for i, l := range columns {
		if names = append(names, l.name); o.Headerless {
			names[i] = strconv.Itoa(i + 1)
		}
	}
	r := &rowReader{leaves: columns, pages: make([]*pages, len(columns)), allowed: newAllowance(len(file))}
	if r.Columns, err = reader.NewColumns(names, o, sidecar.Sized, r.look(file, meta)); err != nil {
		if len(others) > 0 {
			err = fmt.Errorf("%w; columns of types that are not read: %s", err, text.List(others))
		}
		return nil, err
	}
	var numbers []string
	for n, l := range columns {
		form := text.String
		if l.isNumber() {
			form = text.Numeral
		} else if r.isNumber(n) {
			numbers = append(numbers, l.name)
		}
		r.SetForm(n, form)
	}
	if numbers != nil && o.FeatureIDs == nil { // a model knows what its features are
		r.Warnings = append(slices.Clip(r.Warnings), fmt.Sprintf("columns of text whose values are numbers were read as numbers, "+
			"1.10 as 1.1: %s: name those that are categorical features", text.List(numbers)))
	}
	for _, other := range others {
		if !slices.Contains(o.Unasked, other) { // the first of several files has told of it
			r.LeaveOut(other, reader.OutUnread)
		}
	}
	for n := range columns {
		if slices.Contains([]int{r.Label, r.Query, r.Document, r.Group}, n) || r.Feature[n] >= 0 || r.Vector[n] >= 0 ||
			slices.Contains(r.Numbers, n) {
			r.used = append(r.used, n)
		}
	}
	return r, nil
}

// lookedAt is how many rows are looked at to find the kind of a column, at least.
const lookedAt = 1 << 12

// look counts the first values of columns, when it is asked. Dates and times are no numbers.
func (r *rowReader) look(file []byte, meta *fileMeta) reader.Look {
	look := reader.Look{Dimension: func(n int) (int, error) {
		kinds, err := r.count(file, meta, n)
		return kinds.Dimension, err
	}}
	for i := range r.leaves {
		look.Lists = append(look.Lists, r.leaves[i].isList)
	}
	look.Kind = func(n int) (string, error) {
		if l := r.leaves[n]; l.isNumber() {
			return schema.Number, nil
		} else if moment, is := moments[l.form]; is || l.form != textual {
			return cmp.Or(moment, schema.Text), nil
		}
		kinds, err := r.count(file, meta, n)
		if errors.Is(err, errUnread) {
			return schema.Text, nil
		}
		return kinds.Kind(), err
	}
	return look
}

// count counts the values of a column by what they are. It reads more than the first rows only while none has a value.
func (r *rowReader) count(file []byte, meta *fileMeta, n int) (kinds reader.Kinds, err error) {
	defer func() { r.pages[n] = nil }()
	for _, group := range meta.RowGroups {
		if group.NumRows == 0 || kinds.Numbers+kinds.Texts > 0 {
			continue
		}
		if _, err = r.openColumn(file, &group, n); err != nil {
			break
		}
		p := r.pages[n]
		for left := int(group.NumRows); err == nil && left > 0 && kinds.Numbers+kinds.Texts == 0; {
			if p.isList {
				err, left = p.readVectors(1), left-1
				kinds.Dimension = len(p.vectors.Values)
				kinds.Numbers += min(1, kinds.Dimension)
				continue
			}
			if err, left = p.readTexts(min(left, lookedAt)), left-lookedAt; err == nil {
				for _, value := range p.texts {
					kinds.Add(value)
				}
			}
		}
	}
	if err != nil && !errors.Is(err, errUnread) {
		err = fmt.Errorf("column %q: %w", r.leaves[n].name, err)
	}
	return kinds, err
}

// isNumber reports whether a column is a feature of numbers, and has no other use.
func (r *rowReader) isNumber(n int) bool { return r.Feature[n] >= 0 && r.Level[n] < 0 && n != r.Group }

// open begins a row group. Its columns must not share bytes: dictionaries of all of them are in memory at once.
func (r *rowReader) open(file []byte, group *rowGroup) error {
	spans := make([]span, len(r.used))
	for i, n := range r.used {
		s, err := r.openColumn(file, group, n)
		if err != nil {
			return r.inColumn(n, err)
		}
		spans[i] = s
	}
	if overlap(spans) {
		return fmt.Errorf("%w: two of its columns overlap", errDamaged)
	}
	return nil
}

// openColumn begins a column of a row group.
func (r *rowReader) openColumn(file []byte, group *rowGroup, n int) (span, error) {
	l := r.leaves[n]
	if l.index >= len(group.Columns) {
		return span{}, errDamaged
	}
	c := &group.Columns[l.index]
	s, err := c.span(len(file))
	if err == nil {
		used := room{}
		if last := r.pages[n]; last != nil {
			used = last.room
		}
		r.pages[n] = &pages{leaf: l, codec: c.MetaData.Codec, rest: file[s.from:s.to:s.to], allowed: r.allowed, room: used}
	}
	return s, err
}

// inColumn returns an error with the column that it is about.
func (r *rowReader) inColumn(n int, err error) error {
	return fmt.Errorf("column %q: %w", r.Called[n], err)
}

// chunk reads the next n rows of the row group.
func (r *rowReader) chunk(b *reader.Builder, c *reader.Chunk, n int) error {
	width := len(r.IDs)
	if len(r.numbers) < n*width {
		r.numbers = make([]float32, n*width)
	}
	c.Size = int64(n) * int64(4*width+1)
	faults := make([]error, len(r.used)) // of single columns
	memory.For(len(r.used), func(i int) {
		at := r.used[i]
		switch p := r.pages[at]; {
		case p.isList:
			faults[i] = p.readVectors(n)
		case r.isNumber(at) && p.leaf.isNumber():
			faults[i] = p.numbers(r.numbers[r.Feature[at]:], width, n)
		default:
			faults[i] = p.readTexts(n)
		}
	})
	b.Begin(c)
	for _, at := range r.used {
		if k := r.Vector[at]; r.leaves[at].isList {
			c.Vectors[k] = r.pages[at].vectors
		}
		for _, value := range r.pages[at].large {
			b.NoteLarge(r.IDs[r.Feature[at]], value)
		}
	}
	for i, err := range faults {
		var f fault
		switch {
		case errors.As(err, &f):
			c.Lines = f.row
			b.FailLine("column %q: %v", r.Called[r.used[i]], f.error)
		case err != nil:
			return r.inColumn(r.used[i], err)
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
func (r *rowReader) row(b *reader.Builder, row int) {
	copy(b.Row(), r.numbers[row*len(r.IDs):])
	for _, n := range r.used {
		if r.isNumber(n) && r.leaves[n].isNumber() || r.leaves[n].isList {
			continue
		}
		value, err := r.pages[n].texts[row], error(nil)
		if n == r.Query || n == r.Document || n == r.Group {
			value, err = r.leaves[n].id(value)
		}
		if err == nil {
			err = r.Set(b, n, value)
		}
		if err != nil {
			b.FailLine("column %q: %v", r.Called[n], err)
			return
		}
	}
	b.EndRow()
}
