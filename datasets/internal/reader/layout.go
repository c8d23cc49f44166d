package reader

import (
	"maps"
	"slices"

	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/transforms"
)

// A Format is a text format. It looks at the first line of a text, and the lines after it, and gives the layout of the
// text, or nil if the text is of another format. If no format has a layout, because the line is
// blank, the next line is tried.
type Format func(line, after []byte, o Options, b Sidecar) (*Layout, error)

// Sidecar holds what the files next to a text say about it.
type Sidecar struct {
	Path  string         // of the data
	Sized bool           // there are query sizes: it needs no query ids
	Names map[int]string // of features by id; nil: there are none
}

// A Layout says how the lines of a text become rows.
type Layout struct {
	Read    func(b *Builder, line []byte) // reads a line, without its newline, and adds its row to b
	Comma   byte                          // between separated values, whose quoted ones may span lines; 0: a line is a row
	Header  bool                          // the first line is not a row
	IDs     []int                         // features of all rows, ascending, as in Builder.Row; nil: they turn up in lines
	Names   map[int]string                // of columns by feature id; nil: the format names no columns
	Unasked []string                      // columns that options leave out
	Text    []string                      // columns of text that are no features
	Wants   func(id int) bool             // whether a feature is to be read that turns up in a line

	Roles    map[string]string // names of columns by role, such as schema.Label; nil: the format names no columns
	Out      []Out             // columns that are left out, with a warning
	Warnings []string          // that the format adds

	ByPosition bool // columns have ids by their position, although they have names

	Categorical []int                // of IDs, those whose values are text, in the order of Builder.Level
	Forms       []text.Form          // of their texts; nil: all are cells
	Vectors     []transforms.Vector  // of all rows
	Products    []transforms.Product // of these vectors, which are features
	ProductIDs  []int                // their ids
	Zero        []int                // features of all rows that some lines leave out
}

// Out holds columns that are left out with a warning, in which %s stands for their names.
type Out struct {
	Warning string
	Columns []string
}

// Warnings of columns that are left out. A schema has others.
const (
	OutUnread   = "columns of types that are not read were left out: %s" // the names have their types
	outNameless = "columns without a name of their own, such as the index of a table, were left out: %s"
	outUnwanted = "columns that are not wanted were left out: %s"
)

// LeaveOut remembers that a column is left out, for the warning.
func (l *Layout) LeaveOut(name, warning string) {
	i := slices.IndexFunc(l.Out, func(o Out) bool { return o.Warning == warning })
	if i < 0 {
		i = len(l.Out)
		l.Out = append(l.Out, Out{Warning: warning})
	}
	l.Out[i].Columns = append(l.Out[i].Columns, name)
}

// form returns how the file has the texts of the k-th of Categorical.
func (l *Layout) form(k int) text.Form {
	if l.Forms == nil {
		return text.Cell
	}
	return l.Forms[k]
}

// ByNames returns the options to read further files by the column names of the first one, if it is a table. Its warnings are not
// repeated.
func (o Options) ByNames(ids []int, l *Layout) Options {
	if l.IDs == nil || o.FeatureIDs != nil {
		return o
	}
	o.FeatureIDs, o.FeatureNames = ids, nil
	for _, id := range ids {
		o.FeatureNames = append(o.FeatureNames, l.Names[id])
	}
	o.Unasked = slices.Concat(o.Unasked, o.Ignore, l.Unasked)
	for _, out := range l.Out {
		o.Unasked = append(o.Unasked, out.Columns...)
	}
	o.Roles = maps.Clone(l.Roles)
	o.Vectors, o.Products = l.Vectors, l.Products
	o.Categorical = nil
	for _, id := range l.Categorical {
		o.Categorical = append(o.Categorical, l.Names[id])
	}
	return o
}
