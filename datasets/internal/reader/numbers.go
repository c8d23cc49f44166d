package reader

import (
	"context"
	"errors"
	"fmt"

	"github.com/plrank/plrank/internal/text"
)

// A Number is an optional column of numbers, one a document, such as base scores: it says how files have it. Package
// datasets declares them next to the fields of a Dataset.
type Number struct {
	Role   string                  // in Layout.Roles and Options.Roles
	What   string                  // one of them in messages, such as "base score"
	Plural string                  // all of them in messages
	Flag   string                  // of the command line, that names the column
	Given  func(o *Options) string // the column that the options name; nil: Options.Roles alone name it
	Valid  func(v float32) bool
	Want   string // what is valid, in messages

	// LETOR text may have the column as a feature, by its id. Else the text has no such column.
	Feature bool

	File    Kind // the file next to the data with a number a line; "": there is none
	Queries bool // the file may be of queries instead, by its length: it is read at the end, see setWeights
}

// numbers are all that are declared, in the order of Chunk.Numbers.
var numbers []*Number

// Declare makes an optional column known, and returns its place in Chunk.Numbers. It is for initialization.
func Declare(n *Number) int {
	at := len(numbers)
	numbers = append(numbers, n)
	roles = append(roles, role{name: n.Role, what: n.What, flag: n.Flag, at: func(s *Columns) *int { return &s.Numbers[at] },
		given: func(o *Options) string {
			if n.Given == nil {
				return ""
			}
			return n.Given(o)
		}})
	if n.File != "" {
		kinds = append(kinds, n.File)
	}
	return at
}

// parse returns the number of a field.
func (n *Number) parse(value []byte) (float32, error) {
	v, err := text.Field(value)
	if err != nil || !n.Valid(v) {
		err = fmt.Errorf("the %s is %s: want %s%s", n.What, text.Quote(value), n.Want, text.Hint(value))
	}
	return v, err
}

// read returns the number at the beginning of LETOR text, and its length.
func (n *Number) read(b []byte) (v float32, length int, err error) {
	if v, length, err = text.Value(b); err == nil && !n.Valid(v) {
		err = errors.New("the " + n.What + " must be " + n.Want)
	}
	return v, length, err
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
