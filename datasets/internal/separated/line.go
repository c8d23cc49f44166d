package separated

import (
	"bytes"
	"fmt"

	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
)

// reader reads lines: it knows the use of every field.
type reader struct {
	table.Layout
	comma                          byte
	label, query, document, weight int   // fields; −1: none
	group                          int   // −1: none
	feature                        []int // by field: column of the parser, −1 for none
}

// line reads one line of separated values. An empty feature is missing, an
// empty label is no label. There are no comments: a value may begin with #.
func (s *reader) line(to *table.Builder, b []byte) {
	b = bytes.TrimSuffix(b, []byte("\r"))
	if text.SkipBlanks(b, 0) == len(b) && (s.comma != '\t' || bytes.IndexByte(b, '\t') < 0) {
		return
	}
	row := to.Row()
	label, weight, n := text.Missing, float32(0), 0
	var query, document, group []byte
	for i := 0; i <= len(b); n++ {
		if n < len(s.feature) && s.feature[n] >= 0 && n != s.group {
			// A plain number, as most are; anything else goes the long way.
			if v, used, err := text.Float32(b[i:]); err == nil && (i+used == len(b) || b[i+used] == s.comma) {
				row[s.feature[n]] = v
				i += used + 1
				continue
			}
		}
		value, next, err := field(b, i, s.comma)
		if err != nil {
			to.Fail(i, "%v", err)
			return
		}
		if n == s.group {
			group = bytes.TrimSpace(value)
		}
		switch {
		case n >= len(s.feature):
			to.Fail(i, "more fields than the %d of the %s", len(s.feature), s.first())
			return
		case s.feature[n] >= 0:
			v, err := text.Field(value)
			if err != nil {
				to.Fail(i, "field %s: %v", text.Quote(value), err)
				return
			}
			row[s.feature[n]] = v
		case n == s.label:
			if len(bytes.TrimSpace(value)) == 0 {
				break
			}
			v, err := text.Field(value)
			if err == nil && v != v {
				err = text.ErrNumber
			}
			if err != nil {
				to.Fail(i, "label %s: %v", text.Quote(value), err)
				return
			}
			label = v
		case n == s.query:
			if query = bytes.TrimSpace(value); len(query) == 0 {
				to.Fail(i, "no query id")
				return
			}
		case n == s.weight:
			if weight, err = text.Field(value); err != nil || !table.IsWeight(weight) {
				to.Fail(i, "weight %s: want a number of 0 or more", text.Quote(value))
				return
			}
		case n == s.document:
			document = bytes.TrimSpace(value)
		}
		i = next
	}
	if n < len(s.feature) {
		to.Fail(len(b), "%d fields, but the %s has %d", n, s.first(), len(s.feature))
		return
	}
	to.EndRow(label, query, s.query >= 0, document)
	if s.weight >= 0 {
		to.Weight(weight)
	}
	if s.group >= 0 {
		to.Group(group, true)
	}
}

// first names the first line in messages.
func (s *reader) first() string {
	if s.Header {
		return "header"
	}
	return "first line"
}

// field is the field at b[i:] and where the next one begins: beyond len(b)
// after the last one. A field may be quoted ("a ""b"" c"), within its line.
func field(b []byte, i int, comma byte) (field []byte, next int, err error) {
	if i == len(b) || b[i] != '"' {
		n := bytes.IndexByte(b[i:], comma)
		if n < 0 {
			return b[i:], len(b) + 1, nil
		}
		return b[i : i+n], i + n + 1, nil
	}
	start := i + 1
	for i = start; i < len(b); i++ {
		if b[i] != '"' {
			continue
		}
		if i+1 < len(b) && b[i+1] == '"' {
			i++
			continue
		}
		field = bytes.ReplaceAll(b[start:i], []byte(`""`), []byte(`"`))
		if i++; i < len(b) && b[i] != comma {
			return nil, 0, fmt.Errorf("text after a quoted field")
		}
		return field, i + 1, nil
	}
	return nil, 0, fmt.Errorf("a quoted field without its closing quote (fields must not span lines)")
}
