package reader

import (
	"maps"
	"slices"

	"github.com/plrank/plrank/internal/text"
)

// A Format is a text format. It looks at the first line of a text, and gives the layout of the
// text, or nil if the text is of another format. If no format has a layout, as of a blank
// line, the next line tells it.
type Format func(line []byte, o Options, b Sidecar) (*Layout, error)

// Sidecar is what the files next to a text say of it.
type Sidecar struct {
	Sized bool           // there are query sizes: it needs no query ids
	Names map[int]string // of features by id; nil: there are none
}

// A Layout says how the lines of a text become rows.
type Layout struct {
	Read          func(b *Builder, line []byte) // reads a line, without its newline, and adds its row to b
	Header        bool                          // the first line is not a row
	IDs           []int                         // features of all rows, in the order of Builder.Row; others turn up in lines
	Names         map[int]string                // of columns by feature id; nil: the format names no columns
	Ignored       []string                      // columns that are not wanted
	Unasked       []string                      // columns that options leave out
	Renamed       []string                      // columns that are features of a model but for blanks in their names
	Text          []string                      // columns of text that are no features
	DecimalCommas []string                      // columns of text that look like numbers with decimal commas
	Wants         func(id int) bool             // whether a feature is to be read; nil: Options.Wants

	Roles   map[string]string // names of columns by role, such as LabelRole; nil: the format names no columns
	Guesses []Guess           // columns found by names that features may have as well
	Spares  []Spare           // columns that are no features, as their names are usual for roles that they do not have

	Moments    map[string]string // of Text, those that are dates and times, and what they are
	Unread     []string          // columns of types that are not read, and their types
	Nameless   []string          // columns without a name of their own that are no features
	ByPosition bool              // columns have ids by their position, although they have names

	Categorical  []int                   // of IDs, those whose values are text, in the order of Builder.Level
	Forms        []text.Form             // of their texts; nil: all are cells
	Zero         []int                   // features of all rows, of which some lines say nothing
	GroupFeature string                  // the feature whose values are groups; "": none
	Look         func(text []byte) error // looks at the first lines, to leave out columns of text, and to check guesses; nil: that is not needed
}

// form is how the texts of the k-th of Categorical are in the file.
func (l *Layout) form(k int) text.Form {
	if l.Forms == nil {
		return text.Cell
	}
	return l.Forms[k]
}

// Roles of columns, as names for Options.Roles and Layout.Roles.
const (
	LabelRole    = "label"
	QueryRole    = "query"
	DocumentRole = "document"
	GroupRole    = "group"
)

// A Guess is a column that was taken for a role by a name that a feature may have as well.
type Guess struct{ Role, Flag, Column string }

// Spare is columns that are no features, as their names are usual for a role.
type Spare struct {
	Role, Flag string
	Has        string // the column that has the role; "": none
	Columns    []string
}

// ByNames are the options for files that are to be read by the names of the columns of the
// first one, if all its rows have them. What was told of it is not told again.
func (o Options) ByNames(ids []int, l *Layout) Options {
	if l.IDs == nil || o.FeatureIDs != nil {
		return o
	}
	o.FeatureIDs, o.FeatureNames = ids, nil
	for _, id := range ids {
		o.FeatureNames = append(o.FeatureNames, l.Names[id])
	}
	o.Unasked = slices.Concat(o.Unasked, o.Ignore, l.Ignored, l.Unasked, l.Unread, l.Nameless, l.Text)
	for _, s := range l.Spares {
		o.Unasked = append(o.Unasked, s.Columns...)
	}
	o.Roles = maps.Clone(l.Roles)
	for _, g := range l.Guesses { // what was guessed of one file is guessed of the next, so that its values are checked, too
		o.Unasked = append(o.Unasked, g.Column)
		maps.DeleteFunc(o.Roles, func(_, column string) bool { return column == g.Column })
	}
	o.Categorical = nil
	for _, id := range l.Categorical {
		o.Categorical = append(o.Categorical, l.Names[id])
	}
	return o
}
