package reader

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/text"
)

// A role is a use of columns other than as features. At most one column of a table has it.
type role struct {
	name  string // of the role in Layout.Roles
	what  string // the role in messages
	flag  string // that names the column
	plain string // the column that has the role if nobody says more; "": none
	letor string // what LETOR text has in its place, in messages
	given func(o *Options) string
	at    func(s *Columns) *int
}

// roles are all roles of columns; Declare adds the roles of numbers.
var roles = []*role{
	{name: schema.Label, what: "label", flag: "label-column", plain: "label", letor: letorLine,
		given: func(o *Options) string { return o.LabelColumn }, at: func(s *Columns) *int { return &s.Label }},
	{name: schema.Query, what: "query id", flag: "query-column", plain: "qid", letor: letorLine,
		given: func(o *Options) string { return o.QueryColumn }, at: func(s *Columns) *int { return &s.Query }},
	{name: schema.Document, what: "document id", flag: "document-column", plain: "docid", letor: letorLine,
		given: func(o *Options) string { return o.DocumentColumn }, at: func(s *Columns) *int { return &s.Document }},
	{name: schema.Group, what: "group", flag: "group-column", letor: beside("groups", GroupFile),
		given: func(o *Options) string { return o.GroupColumn }, at: func(s *Columns) *int { return &s.Group }},
}

// Declare makes an optional column known, and returns its place in Chunk.Numbers. It is for initialization.
func Declare(n *Number) int {
	at := len(numbers)
	numbers = append(numbers, n)
	if n.Given == nil {
		n.Given = func(*Options) string { return "" }
	}
	r := &role{name: n.Role, what: n.What, flag: n.Flag, letor: n.LETOR, given: n.Given, at: func(s *Columns) *int { return &s.Numbers[at] }}
	if n.File != "" {
		kinds, r.letor = append(kinds, n.File), beside(n.Plural, n.File)
	}
	roles = append(roles, r)
	return at
}

const letorLine = "lines such as 2 qid:10 1:0.5 # docid = D1"

func beside(what string, kind Kind) string {
	return fmt.Sprintf("the %s in a file next to it, named as it plus %s", what, kind)
}

// ErrColumns is returned for a table if it is not known which columns are the label and the query id: options can name them.
var ErrColumns = errors.New("the columns are not known")

// A Look looks at the first values of columns.
type Look struct {
	Kind      func(column int) (string, error) // of a schema.Header
	Dimension func(column int) (int, error)    // of the first vector; 0: there is none
	Lists     []bool                           // by column: the values are lists of numbers, which are vectors; nil: none are
}

// A finder finds the roles of columns.
type finder struct {
	*Columns
	o     *Options
	sized bool
	names []string
	found schema.Columns
}

// needed returns the roles that a column must have.
func (f *finder) needed() (list []string) {
	if f.o.NeedsLabels() {
		list = append(list, schema.Label)
	}
	if !f.sized {
		list = append(list, schema.Query)
	}
	return list
}

// takeTold takes the columns that options name, and the ones that had a role in earlier data.
func (f *finder) takeTold() error {
	seen := map[string]bool{}
	for _, name := range f.names {
		if err := text.CheckUTF8([]byte(name)); err != nil {
			return fmt.Errorf("header: %w", err)
		}
		meant := !schema.IsNameless(name) || slices.Contains(slices.Concat(f.o.Features, f.o.Categorical), name)
		if seen[name] && meant {
			return fmt.Errorf("header: two columns are named %s", text.Quote([]byte(name)))
		}
		seen[name] = true
	}
	for _, r := range roles {
		*r.at(f.Columns) = -1
	}
	for _, r := range roles {
		if err := f.takeGiven(r); err != nil {
			return err
		}
	}
	for _, r := range roles {
		f.takeKnown(r)
	}
	return nil
}

// takeFound takes the columns of the schema. Without one, they have plain names, or, without a header, the first is the label.
// No column may have two roles.
func (f *finder) takeFound() error {
	for _, r := range roles {
		if err := f.takeFoundAs(r); err != nil {
			return err
		}
	}
	if err := f.checkRoles(); err != nil {
		return err
	}
	f.Roles = f.rolesSoFar()
	if f.o.Labels == UnusedLabels {
		f.unused, f.Label = f.Label, -1
	}
	return nil
}

// rolesSoFar returns the names of the columns by role.
func (f *finder) rolesSoFar() map[string]string {
	columns := map[string]string{}
	for _, r := range roles {
		if at := *r.at(f.Columns); at >= 0 {
			columns[r.name] = f.names[at]
		}
	}
	return columns
}

// takeGiven takes the column that options name.
func (f *finder) takeGiven(r *role) error {
	given := r.given(f.o)
	if given == "" {
		return nil
	}
	at := slices.Index(f.names, given)
	if at < 0 && !(r.name == schema.Label && f.o.Labels == UnusedLabels) {
		return fmt.Errorf("header: no %s column %q: there are %s", r.what, given, text.List(f.names))
	}
	*r.at(f.Columns) = at
	return nil
}

// takeKnown takes the column that had the role in earlier data, such as a model's training data.
func (f *finder) takeKnown(r *role) {
	known := f.o.Roles[r.name]
	_, err := strconv.Atoi(known)
	position := err == nil // which is not a name
	if known == "" || r.given(f.o) != "" || position != f.o.Headerless && r.plain != "" {
		return
	}
	if at := slices.Index(f.names, known); at >= 0 && f.roleAt(at) == nil {
		*r.at(f.Columns) = at
	}
}

// ask asks the caller for the schema.
func (f *finder) ask(look Look) (err error) {
	if f.o.Schema == nil {
		return nil
	}
	f.found, err = f.o.Schema(f.describe(schema.Header{
		Names: f.names, Roles: f.rolesSoFar(), Needed: f.needed(), Known: f.o.Roles, Unused: f.o.Labels == UnusedLabels,
		OfFeatures: f.o.FeatureIDs != nil, Listed: f.o.FeatureNames,
		Features: f.o.Features, Ignore: f.o.Ignore, Categorical: f.o.Categorical, Unasked: f.o.Unasked, Kind: look.Kind,
	}))
	return err
}

// takeFoundAs takes the column of a role.
func (f *finder) takeFoundAs(r *role) error {
	at := r.at(f.Columns)
	if *at >= 0 || r.name == schema.Label && f.o.Labels == UnusedLabels {
		return nil
	}
	switch column, found := f.found.Roles[r.name]; {
	case found:
		*at = slices.Index(f.names, column)
	case f.o.Headerless && r.name == schema.Label:
		*at = 0
	case !f.o.Headerless && r.plain != "" && f.o.Schema == nil && !slices.Contains(f.o.FeatureNames, r.plain):
		*at = slices.Index(f.names, r.plain)
	}
	switch {
	case *at >= 0 || !slices.Contains(f.needed(), r.name):
		return nil
	case f.o.Headerless:
		return fmt.Errorf("header: %w: want the number of the query id's column, counted from 1, or query sizes in a file next to the data, "+
			"named as it plus .query (-query-column)", ErrColumns)
	}
	return fmt.Errorf("header: %w: no %s column %q, found %s (-%s NAME names it)", ErrColumns, r.what, r.plain, text.List(f.names), r.flag)
}

// roleAt is the role of a column; nil: it has none.
func (s *Columns) roleAt(column int) *role {
	for _, r := range roles {
		if *r.at(s) == column {
			return r
		}
	}
	return nil
}

// checkRoles returns an error if a column has two roles, or one that the options say to be a feature.
func (f *finder) checkRoles() error {
	for _, r := range roles {
		at := *r.at(f.Columns)
		if at < 0 {
			continue
		}
		if first := f.roleAt(at); first != r {
			return fmt.Errorf("header: column %q is the %s, and cannot be the %s as well", f.names[at], first.what, r.what)
		}
		// A column of that name is meant, not a feature that has the name for its id.
		if f.o.FeatureIDs != nil || !slices.Contains(f.o.Chosen(), f.names[at]) {
			continue // a model, or the first of several files, has chosen; or another column is meant
		}
		takes := ""
		if r.plain != "" {
			takes = fmt.Sprintf(" (-%s NAME takes another)", r.flag)
		}
		return fmt.Errorf("header: no feature %q: that column is the %s%s", f.names[at], r.what, takes)
	}
	return nil
}

// leaveOutText leaves out the features that the schema says to be text, except categorical ones.
func (f *finder) leaveOutText() {
	for n, id := range f.Feature {
		if warning, is := f.found.Text[f.names[n]]; is && id >= 0 && f.Level[n] < 0 {
			f.Feature[n] = -1
			f.Text = append(f.Text, f.names[n])
			f.LeaveOut(f.names[n], warning)
			delete(f.Names, id)
		}
	}
}
