package separated

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
)

// reader reads lines: it knows the use of every field.
type reader struct {
	table.Layout
	comma                          byte
	label, query, document, weight int   // fields; −1: none
	group, base                    int   // −1: none
	feature                        []int // by field: column of the parser, −1 for none
}

// row is what a line says besides features.
type row struct {
	label, weight, base    float32
	query, document, group []byte
}

// line reads one line of separated values. An empty feature is missing, an
// empty label is no label. There are no comments: a value may begin with #.
func (s *reader) line(to *table.Builder, b []byte) {
	b = bytes.TrimSuffix(b, []byte("\r"))
	if text.SkipBlanks(b, 0) == len(b) && (s.comma != '\t' || bytes.IndexByte(b, '\t') < 0) {
		return
	}
	features := to.Row()
	r := row{label: text.Missing}
	n := 0
	for i := 0; i <= len(b); n++ {
		if n < len(s.feature) && s.feature[n] >= 0 && n != s.group {
			// A plain number, as most are; anything else goes the long way.
			if v, used, err := text.Float32(b[i:]); err == nil && (i+used == len(b) || b[i+used] == s.comma) {
				features[s.feature[n]] = v
				i += used + 1
				continue
			}
		}
		value, next, err := field(b, i, s.comma)
		if err == nil {
			err = s.set(features, &r, n, value)
		}
		if err != nil {
			to.Fail(i, "%v", err)
			return
		}
		i = next
	}
	if n < len(s.feature) {
		to.Fail(len(b), "%d fields, but the %s has %d", n, s.first(), len(s.feature))
		return
	}
	to.EndRow(r.label, r.query, r.document)
	if s.weight >= 0 {
		to.Weight(r.weight)
	}
	if s.base >= 0 {
		to.BaseScore(r.base)
	}
	if s.group >= 0 {
		to.Group(r.group, true)
	}
}

// set sets what field n is to its value.
func (s *reader) set(features []float32, r *row, n int, value []byte) (err error) {
	word := bytes.TrimSpace(value)
	if n == s.group {
		r.group = word // and it may be a feature
	}
	switch {
	case n >= len(s.feature):
		return fmt.Errorf("more fields than the %d of the %s", len(s.feature), s.first())
	case s.feature[n] >= 0:
		if features[s.feature[n]], err = text.Field(value); err != nil {
			return fmt.Errorf("field %s: %w", text.Quote(value), err)
		}
	case n == s.label && len(word) > 0:
		if r.label, err = text.Field(value); err == nil && r.label != r.label {
			err = text.ErrNumber
		}
		if err != nil {
			return fmt.Errorf("label %s: %w", text.Quote(value), err)
		}
	case n == s.query:
		if r.query = word; len(word) == 0 {
			return errors.New("no query id")
		}
	case n == s.weight:
		if r.weight, err = text.Field(value); err != nil || !table.IsWeight(r.weight) {
			return fmt.Errorf("weight %s: want a number of 0 or more", text.Quote(value))
		}
	case n == s.base:
		if r.base, err = text.Field(value); err != nil || !table.IsFinite(r.base) {
			return fmt.Errorf("base score %s: want a finite number", text.Quote(value))
		}
	case n == s.document:
		r.document = word
	}
	return nil
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
	for i = start; ; i += len(`""`) { // an escaped quote
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return nil, 0, errors.New("a quoted field without its closing quote (fields must not span lines)")
		}
		if i += n; !bytes.HasPrefix(b[i+1:], []byte{'"'}) {
			break
		}
	}
	field = bytes.ReplaceAll(b[start:i], []byte(`""`), []byte(`"`))
	if i++; i < len(b) && b[i] != comma {
		return nil, 0, errors.New("text after a quoted field")
	}
	return field, i + 1, nil
}
