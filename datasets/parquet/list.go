package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// listOf reports whether these elements of a schema, the first of which has the others within it, are lists of floating point
// numbers, and makes a leaf of them: a group LIST of a repeated group of one element, as Arrow, Polars, DuckDB and Spark write
// lists and lists of a fixed size; a group LIST of a repeated element, as older writers do; or a repeated element.
func listOf(e []format.SchemaElement, l *leaf, index int) bool {
	is := func(i int, repetition format.FieldRepetitionType) bool {
		return e[i].RepetitionType.Valid && e[i].RepetitionType.V == repetition
	}
	logical, annotated := e[0].LogicalType.Value, e[0].ConvertedType.Valid && e[0].ConvertedType.V == deprecated.List
	if logical != nil {
		_, annotated = logical.(*format.ListType)
	}
	last := len(e) - 1
	repeated := min(1, last)
	for i := range last {
		if e[i].NumChildren.V != 1 || i > 1 {
			return false
		}
	}
	if last > 0 && (!annotated || is(0, format.Repeated)) || !is(repeated, format.Repeated) || last == 2 && is(2, format.Repeated) {
		return false
	}
	element, ok := newLeaf(e[last], index)
	if !ok || !(element.kind == format.Float || element.kind == format.Double || element.form == half) || !element.isNumber() {
		return false
	}
	*l, l.isList, l.name, l.optional = element, true, e[0].Name, false
	if last > 0 && is(0, format.Optional) {
		l.empty = 1
	}
	if l.deepest = l.empty + 1; last == 2 && is(2, format.Optional) {
		l.deepest++
	}
	return true
}

// A list is what is read of a page of lists, some numbers at a time.
type list struct {
	repeats runs // by number or empty list: 0 where a row begins, 1 elsewhere
	starts  []uint32
	levels  []uint32
	numbers []float32 // the numbers of these
	at      int       // in starts and levels
	bytes   []byte    // room for pages
	used    int       // of numbers
}

// listRoom is how many numbers of lists are read at a time.
const listRoom = 1 << 13

// listLevels returns the levels of a page of lists, whose lengths stand before them in a page of the first version, and the rest.
func (p *pages) listLevels(b []byte, h *format.DataPageHeader) (levels, rest []byte, err error) {
	for _, encoding := range []format.Encoding{h.RepetitionLevelEncoding, h.DefinitionLevelEncoding} {
		if encoding != format.RLE || len(b) < 4 {
			return nil, nil, errDamaged
		}
		n := binary.LittleEndian.Uint32(b)
		if b = b[4:]; uint64(n) > uint64(len(b)) {
			return nil, nil, errDamaged
		}
		p.list.repeats, levels, b = runs{b: levels, width: 1}, b[:n], b[n:] // the first levels are of repetition
	}
	return levels, b, nil
}

// fill reads more of the lists of a page. It reports false at the end of the column.
func (p *pages) fill(space *room) (more bool, err error) {
	l := &p.list
	if p.left == 0 {
		if len(p.rest) == 0 {
			return false, nil
		}
		if err := p.next(); err != nil {
			return false, err
		}
	}
	n := min(p.left, listRoom)
	p.left -= n
	if l.starts, err = l.repeats.read(l.starts, n); err != nil {
		return false, err
	}
	if l.levels, err = p.present.read(l.levels, n); err != nil {
		return false, err
	}
	numbers := 0
	for _, level := range l.levels {
		if level == p.deepest {
			numbers++
		}
	}
	if err := p.allowed.take(4 * numbers); err != nil {
		return false, err
	}
	if space.indexes, err = p.indexes.read(space.indexes, numbers); err != nil {
		return false, err
	}
	l.numbers, l.at, l.used = slices.Grow(l.numbers[:0], numbers)[:numbers], 0, 0
	plain, first := p.values.plain, 0
	if numbers > 0 {
		first = int(space.indexes[0])
	}
	if p.kind == format.Float && p.form == number && p.values != p.dictionary && first+numbers <= p.values.n {
		for i := range l.numbers { // as most files have them
			l.numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(plain[4*(first+i):]))
		}
		return true, nil
	}
	for i, index := range space.indexes {
		b, err := p.at(p.values, int(index))
		if err != nil {
			return false, err
		}
		if l.numbers[i], err = p.number(b); err != nil {
			l.numbers[i] = infinite
		}
	}
	return true, nil
}

var errNullNumber = errors.New("the vector has a number that is null: want null for the whole vector where it is missing")

// vectors appends the next n rows to a column of vectors: a null or an empty list is one that is missing.
func (p *pages) vectors(to *reader.Vectors, n int, space *room) error {
	l := &p.list
	open := false // a row has begun
	for rows := 0; ; {
		if l.at == len(l.levels) {
			more, err := p.fill(space)
			if err != nil {
				return err
			}
			if !more {
				if open {
					rows, to.Ends = rows+1, append(to.Ends, len(to.Values))
				}
				if rows < n {
					return p.next() // which has no page
				}
				return nil
			}
		}
		if l.starts[l.at] == 0 {
			if open {
				rows, to.Ends = rows+1, append(to.Ends, len(to.Values))
			}
			if rows == n {
				return nil
			}
		} else if !open {
			return errDamaged
		}
		open = true
		from, level := l.at, l.levels[l.at]
		for l.at++; l.at < len(l.levels) && l.starts[l.at] != 0; l.at++ {
			if l.levels[l.at] != level {
				level = p.deepest - 1 // numbers and nulls
			}
		}
		switch {
		case level == p.deepest:
			end := l.used + l.at - from
			to.Values = append(to.Values, l.numbers[l.used:end]...)
			l.used = end
		case level > p.empty || l.at > from+1:
			return fault{rows, errNullNumber}
		}
	}
}

// over reports whether there is more in the page than was asked for.
func (p *pages) over() bool { return p.left > 0 || p.list.at < len(p.list.levels) }
