package reader

import (
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
	LETOR  string // what LETOR text has in its place, in messages, unless that is a File

	File    Kind // the file next to the data with a number a line; "": there is none
	Queries bool // the file may be of queries instead, by its length: it is read at the end, see setWeights
}

// numbers are all that are declared, in the order of Chunk.Numbers.
var numbers []*Number

// parse returns the number of a field.
func (n *Number) parse(value []byte) (float32, error) {
	v, err := text.Field(value)
	if err != nil || !n.Valid(v) {
		err = fmt.Errorf("the %s is %s: want %s%s", n.What, text.Quote(value), n.Want, text.Hint(value))
	}
	return v, err
}
