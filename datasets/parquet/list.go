package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/internal/text"
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
	*l, l.isList, l.name = element, true, e[0].Name
	if last > 0 && is(0, format.Optional) {
		l.empty = 1
	}
	if l.deepest = l.empty + 1; last == 2 && is(2, format.Optional) {
		l.deepest++
	}
	return true
}

// listRoom is how many entries of lists are read at a time.
const listRoom = 1 << 13

// readVectors sets the vectors to the next n rows of a column of lists: a null or an empty list is one that is missing, and a number
// that is null is NaN.
func (p *pages) readVectors(n int) (err error) {
	v := &p.lists
	for len(v.Ends) <= n && (p.left > 0 || len(p.rest) > 0) { // the last row may go on
		if err := p.next(); err != nil {
			return err
		}
		entries := min(p.left, listRoom)
		if p.starts, err = p.repeats.read(p.starts, entries); err != nil {
			return err
		}
		if err := p.take(entries); err != nil {
			return err
		}
		numbers, err := p.listNumbers()
		if err != nil {
			return err
		}
		for i := 0; i < entries; {
			if p.starts[i] == 0 {
				v.Ends = append(v.Ends, 0)
			} else if len(v.Ends) == 0 {
				return errDamaged
			}
			from, level := i, p.present[i]
			for i++; i < entries && p.starts[i] != 0 && p.present[i] == level; i++ {
			}
			switch {
			case level == p.deepest:
				v.Values, numbers = append(v.Values, numbers[:i-from]...), numbers[i-from:]
			case level > p.empty || i > from+1:
				v.Values = append(v.Values, text.Missing)
			}
			v.Ends[len(v.Ends)-1] = len(v.Values)
		}
	}
	if len(v.Ends) < n {
		return p.next() // which has no page
	}
	end := v.Ends[n-1]
	p.vectors = reader.Vectors{Values: append(p.vectors.Values[:0], v.Values[:end]...), Ends: append(p.vectors.Ends[:0], v.Ends[:n]...)}
	v.Values, v.Ends = slices.Delete(v.Values, 0, end), slices.Delete(v.Ends, 0, n)
	for i := range v.Ends {
		v.Ends[i] -= end
	}
	return nil
}

// listNumbers returns the numbers of entries of lists.
func (p *pages) listNumbers() ([]float32, error) {
	n := len(p.places)
	if err := p.allowed.take(4 * n); err != nil {
		return nil, err
	}
	p.floats = slices.Grow(p.floats[:0], n)[:n]
	if n > 0 && p.kind == format.Float && p.form == number && p.values != p.dictionary && int(p.places[n-1]) < p.values.n {
		plain := p.values.plain[4*p.places[0]:]
		for i := range p.floats { // as most files have them
			p.floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(plain[4*i:]))
		}
		return p.floats, nil
	}
	for i, index := range p.places {
		v, err := p.feature(int(index))
		if errors.Is(err, errDamaged) {
			return nil, err
		}
		if p.floats[i] = v; err != nil {
			p.floats[i] = infinite
		}
	}
	return p.floats, nil
}

// over reports whether there is more in the page than was asked for.
func (p *pages) over() bool { return p.left > 0 || len(p.lists.Ends) > 0 }
