package reader

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/text"
)

// Columns are the columns of a table, by their use.
type Columns struct {
	Layout
	Called                        []string
	Label, Query, Document, Group int   // positions; −1: none
	Numbers                       []int // positions by optional column; −1: none
	Feature                       []int // by position: number in IDs, −1 for none
	Level                         []int // by position: number in Categorical, −1 for none
	Vector                        []int // by position: number in Vectors; noVector, or leftOutVector

	unused int // the label where none is used; −1: none
}

// SetForm says in which form the column at position n has texts of categories; without it they are cells.
func (s *Columns) SetForm(n int, form text.Form) {
	if k := s.Level[n]; k >= 0 {
		if s.Forms == nil {
			s.Forms = make([]text.Form, len(s.Categorical))
		}
		s.Forms[k] = form
	}
}

// Set sets what the column at position n is to a value: the text as it is, or the text of a number. It is nil for null, in formats
// that have it.
func (s *Columns) Set(to *Builder, n int, value []byte) (err error) {
	if n == s.Group {
		to.group = value // and it may be a feature
	}
	switch k := s.Level[n]; {
	case s.Vector[n] >= 0:
		v := &to.c.Vectors[s.Vector[n]]
		v.Values, err = parseVector(v.Values, value)
		v.Ends = append(v.Ends, len(v.Values))
		return err
	case k >= 0 && value == nil && s.form(k) != text.Cell:
		to.features[s.Feature[n]] = text.Missing
	case k >= 0:
		if err := text.CheckUTF8(value); err != nil {
			return err
		}
		to.features[s.Feature[n]] = to.Level(k, value)
	case s.Feature[n] >= 0:
		if to.features[s.Feature[n]], err = to.number(s.IDs[s.Feature[n]], value); err != nil {
			return fmt.Errorf("%s is %w%s", text.Quote(value), err, text.Hint(value))
		}
	case n == s.Label:
		if len(bytes.TrimSpace(value)) == 0 {
			return nil
		}
		if to.label, err = text.Field(value); err == nil && to.label != to.label {
			err = text.ErrNumber
		}
		if err != nil {
			return fmt.Errorf("the label %s is %w%s", text.Quote(value), err, text.Hint(value))
		}
		if !to.isLabel(to.label) {
			return fmt.Errorf("the label is %s: want %s", text.Quote(value), WantGrade)
		}
	case n == s.Query:
		if to.query = value; len(value) == 0 {
			return errors.New("no query id (-query-column names another column)")
		}
	case n == s.Document:
		to.document = value
	default:
		if i := slices.Index(s.Numbers, n); i >= 0 {
			to.numbers[i], err = numbers[i].parse(value)
			return err
		}
	}
	return nil
}

// separatedReader reads lines.
type separatedReader struct{ *Columns }

// line reads one line of separated values, or several that quoted values span. An empty feature is missing, an
// empty label means unlabelled. There are no comments: a value may begin with #.
func (s *separatedReader) line(to *Builder, b []byte) {
	b = bytes.TrimSuffix(b, []byte("\r"))
	if isBlank(b, s.Comma) {
		return
	}
	features := to.Row()
	n := 0
	for i := 0; i <= len(b); n++ {
		if n < len(s.Feature) && s.Feature[n] >= 0 && n != s.Group && s.Level[n] < 0 && to.options.Missing == nil {
			// A plain number, as most are; anything else goes the long way.
			if v, used, err := text.Float32(b[i:]); err == nil && (i+used == len(b) || b[i+used] == s.Comma) {
				features[s.Feature[n]] = v
				to.noteLarge(s.IDs[s.Feature[n]], v, b[i:i+used])
				i += used + 1
				continue
			}
		}
		value, next, err := field(b, i, s.Comma)
		switch {
		case err == nil && n >= len(s.Feature):
			err = fmt.Errorf("more fields than the %d of the %s", len(s.Feature), s.first())
		case err == nil:
			err = s.Set(to, n, value)
		}
		if err != nil {
			to.FailLine("%s: %v", s.called(n), err)
			return
		}
		i = next
	}
	if n < len(s.Feature) {
		to.FailLine("%d fields, but the %s has %d: none for %s", n, s.first(), len(s.Feature), s.called(n))
		return
	}
	to.EndRow()
}

// isBlank reports whether a line is blank, not a row.
func isBlank(b []byte, comma byte) bool {
	return text.SkipBlanks(b, 0) == len(b) && (comma != '\t' || bytes.IndexByte(b, '\t') < 0)
}

// called is what field n is called in messages.
func (s *separatedReader) called(n int) string {
	if n < len(s.Called) {
		return fmt.Sprintf("column %q", s.Called[n])
	}
	return fmt.Sprintf("field %d", n+1)
}

// look counts the values of a number of columns in the first lines, when it is asked.
func look(lines []byte, columns int, comma byte) Look {
	kinds := sync.OnceValue(func() []Kinds {
		kinds := make([]Kinds, columns)
		for length := 0; len(lines) > 0; lines = lines[length:] {
			length, _ = row(lines, comma)
			line := bytes.TrimRight(lines[:length], "\r\n")
			if isBlank(line, comma) {
				continue
			}
			for i, n := 0, 0; i <= len(line) && n < columns; n++ {
				value, next, err := field(line, i, comma)
				if err != nil {
					break // which reading it will tell
				}
				kinds[n].Add(value)
				i = next
			}
		}
		return kinds
	})
	return Look{
		Kind:      func(n int) (string, error) { return kinds()[n].Kind(), nil },
		Dimension: func(n int) (int, error) { return kinds()[n].Dimension, nil },
	}
}

// Kinds counts the values of a column by what they are. Missing values do not count.
type Kinds struct {
	Numbers, Texts int
	Dimension      int // of the first vector
	commas         int // texts that look like numbers with a decimal comma
	vectors        int // texts that look like vectors
}

// Add counts a value.
func (k *Kinds) Add(value []byte) {
	if k.Dimension == 0 {
		k.Dimension = dimensionOf(value)
	}
	v, err := text.Field(value)
	switch {
	case errors.Is(err, text.ErrNumber) && !text.IsMarker(bytes.TrimSpace(value)):
		k.Texts++
		if text.LooksDecimalComma(value) {
			k.commas++
		}
		if d := dimensionOf(value); d > 2 || d == 2 && bytes.IndexByte(value, '[') >= 0 { // 3,5 is a number, and 1 2 may be a text
			k.vectors++
		}
	case err != nil && !errors.Is(err, text.ErrNumber) || err == nil && v == v:
		k.Numbers++
	}
}

// Kind returns the kind of most values, see schema.Header.
func (k *Kinds) Kind() string {
	switch {
	case k.Texts <= k.Numbers:
		return schema.Number
	case k.vectors > k.Texts/2:
		return schema.Vectors
	case k.commas > k.Texts/2:
		return schema.DecimalCommas
	}
	return schema.Text
}

// first names the first line in messages.
func (s *separatedReader) first() string {
	if s.Header {
		return "header"
	}
	return "first line"
}

// longestRow is how far the closing quote of a row may be from its beginning: beyond, a quote was forgotten.
const longestRow = 1 << 20

// row returns the length of the first row of a text, with its newline: a line, or several that quoted fields span. If the
// text does not have the closing quote of a field, the row is open, and the length is the length of a line.
func row(b []byte, comma byte) (length int, open bool) {
	line := bytes.IndexByte(b, '\n') + 1
	if line == 0 {
		line = len(b)
	}
	if bytes.IndexByte(b[:line], '"') < 0 {
		return line, false
	}
	whole := len(b)
	b = b[:min(whole, max(line, longestRow))]
	for i := 0; i < len(b); i++ {
		if b[i] == '"' {
			i = closingQuote(b, i+1) + 1
			if i == 0 {
				return line, true
			}
		}
		for i < len(b) && b[i] != comma && b[i] != '\n' {
			i++
		}
		if i < len(b) && b[i] == '\n' {
			return i + 1, false
		}
	}
	if len(b) < whole {
		return line, true
	}
	return whole, false
}

// closingQuote returns the position of the quote that closes a field, which begins at i; −1 if there is none.
func closingQuote(b []byte, i int) int {
	for ; ; i += len(`""`) { // an escaped quote
		n := bytes.IndexByte(b[min(i, len(b)):], '"')
		if n < 0 {
			return -1
		}
		if i += n; !bytes.HasPrefix(b[i+1:], []byte{'"'}) {
			return i
		}
	}
}

// wholeRows returns the length of the rows that end within whole lines.
func wholeRows(lines []byte, comma byte) int {
	for at := 0; ; {
		quote := bytes.IndexByte(lines[at:], '"')
		if quote < 0 {
			return len(lines)
		}
		at += bytes.LastIndexByte(lines[at:at+quote], '\n') + 1
		length, open := row(lines[at:], comma)
		if open && len(lines)-at < longestRow {
			return at
		}
		at += length
	}
}

// field is the field at b[i:] and where the next one begins: beyond len(b)
// after the last one. A field may be quoted ("a ""b"" c").
func field(b []byte, i int, comma byte) (field []byte, next int, err error) {
	if i == len(b) || b[i] != '"' {
		n := bytes.IndexByte(b[i:], comma)
		if n < 0 {
			return b[i:], len(b) + 1, nil
		}
		return b[i : i+n], i + n + 1, nil
	}
	start := i + 1
	if i = closingQuote(b, start); i < 0 {
		return nil, 0, errors.New("a quoted field without its closing quote")
	}
	field = bytes.ReplaceAll(b[start:i], []byte(`""`), []byte(`"`))
	if i++; i < len(b) && b[i] != comma {
		return nil, 0, errors.New("text after a quoted field")
	}
	return field, i + 1, nil
}
