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
	level                          []int // by field: number of the categorical feature, −1 for none
	names                          []string
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
		if n < len(s.feature) && s.feature[n] >= 0 && n != s.group && s.level[n] < 0 {
			// A plain number, as most are; anything else goes the long way.
			if v, used, err := text.Float32(b[i:]); err == nil && (i+used == len(b) || b[i+used] == s.comma) {
				features[s.feature[n]] = v
				i += used + 1
				continue
			}
		}
		value, next, err := field(b, i, s.comma)
		if err == nil {
			err = s.set(to, features, &r, n, value)
		}
		if err != nil {
			to.FailLine("%s: %v", s.called(n), err)
			return
		}
		i = next
	}
	if n < len(s.feature) {
		to.FailLine("%d fields, but the %s has %d: none for %s", n, s.first(), len(s.feature), s.called(n))
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
func (s *reader) set(to *table.Builder, features []float32, r *row, n int, value []byte) (err error) {
	word := bytes.TrimSpace(value)
	if n == s.group {
		r.group = word // and it may be a feature
	}
	switch {
	case n >= len(s.feature):
		return fmt.Errorf("more fields than the %d of the %s", len(s.feature), s.first())
	case s.level[n] >= 0:
		features[s.feature[n]] = to.Level(s.level[n], word)
	case s.feature[n] >= 0:
		if features[s.feature[n]], err = text.Field(value); err != nil {
			return fmt.Errorf("%s is %w", text.Quote(value), err)
		}
	case n == s.label && len(word) > 0:
		if r.label, err = text.Field(value); err == nil && r.label != r.label {
			err = text.ErrNumber
		}
		if err != nil {
			return fmt.Errorf("the label %s is %w", text.Quote(value), err)
		}
	case n == s.query:
		if r.query = word; len(word) == 0 {
			return errors.New("no query id")
		}
	case n == s.weight:
		if r.weight, err = text.Field(value); err != nil || !table.IsWeight(r.weight) {
			return fmt.Errorf("the weight is %s: want a number of 0 or more", text.Quote(value))
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

// called is what field n is called in messages.
func (s *reader) called(n int) string {
	if n < len(s.names) {
		return fmt.Sprintf("column %q", s.names[n])
	}
	return fmt.Sprintf("field %d", n+1)
}

// look leaves out the columns that are text: of whose values in the first lines more than half
// are no numbers.
func (s *reader) look(lines []byte) {
	numbers, texts := make([]int, len(s.feature)), make([]int, len(s.feature))
	for line := range bytes.Lines(lines) {
		line = bytes.TrimRight(line, "\r\n")
		for i, n := 0, 0; i <= len(line) && n < len(s.feature); n++ {
			value, next, err := field(line, i, s.comma)
			if err != nil {
				break // which reading it will tell
			}
			v, err := text.Field(value)
			switch {
			case errors.Is(err, text.ErrNumber):
				texts[n]++
			case err != nil || v == v:
				numbers[n]++
			}
			i = next
		}
	}
	ids := s.IDs
	s.IDs = []int{}
	for n, at := range s.feature {
		switch {
		case at < 0:
		case texts[n] > numbers[n] && s.level[n] < 0:
			s.feature[n] = -1
			s.Text = append(s.Text, s.names[n])
			delete(s.Names, ids[at])
		default:
			s.feature[n] = len(s.IDs)
			s.IDs = append(s.IDs, ids[at])
		}
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
