package reader

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/text"
)

// A role is a use of columns other than as features. At most one column of a table has it.
type role struct {
	name  string // of the role in Layout.Roles
	what  string // the role in messages
	flag  string // that names the column
	given func(o *Options) string
	at    func(s *Columns) *int

	// Usual names, in small letters and without blanks, _, - and dots, as usual makes them. A column with a firm name has
	// the role, and the first of several. One with a shared or a loose name has it only where no other column could be meant:
	// none with another such name, or with the name of a rival. No column with a firm or a shared name is a feature unless
	// the options list it; one with a loose name may be.
	firm, shared, loose, rivals []string
}

// roles are all roles of columns; Declare adds the roles of numbers.
var roles = []*role{
	{name: LabelRole, what: "label", flag: "label-column",
		given: func(o *Options) string { return o.LabelColumn }, at: func(s *Columns) *int { return &s.Label },
		firm: []string{"label", "relevance", "rel", "labels", "judgment", "judgement"}, loose: []string{"grade", "rating", "target", "y"}},
	{name: QueryRole, what: "query id", flag: "query-column",
		given: func(o *Options) string { return o.QueryColumn }, at: func(s *Columns) *int { return &s.Query },
		firm: []string{"qid", "queryid"}, shared: []string{"query"}, loose: []string{"group"},
		rivals: []string{"session", "sessionid", "searchid", "srchid", "requestid", "impressionid", "groupid", "topicid"}},
	{name: DocumentRole, what: "document id", flag: "document-column",
		given: func(o *Options) string { return o.DocumentColumn }, at: func(s *Columns) *int { return &s.Document },
		firm: []string{"docid", "documentid"}, shared: []string{"document", "doc"}, rivals: []string{"productid", "itemid", "sku"}},
	{name: GroupRole, what: "group", flag: "group-column",
		given: func(o *Options) string { return o.GroupColumn }, at: func(s *Columns) *int { return &s.Group }},
}

// Declare makes an optional column known, and returns its place in Chunk.Numbers. It is for initialization.
func Declare(n *Number) int {
	at := len(numbers)
	numbers = append(numbers, n)
	if n.Given == nil {
		n.Given = func(*Options) string { return "" }
	}
	roles = append(roles, &role{name: n.Role, what: n.What, flag: n.Flag, given: n.Given, at: func(s *Columns) *int { return &s.Numbers[at] }})
	if n.File != "" {
		kinds = append(kinds, n.File)
	}
	return at
}

// ErrColumns is returned for separated values if it is not known which columns are
// the label and the query id: options can name them.
var ErrColumns = errors.New("the columns are not known")

type columnsError string

func (e columnsError) Error() string      { return string(e) }
func (columnsError) Is(target error) bool { return target == ErrColumns }

func errorOfColumns(format string, args ...any) error {
	return columnsError("header: " + fmt.Sprintf(format, args...))
}

// usual is the form of a name in which usual names are compared: query_id, Query ID and queryId are one.
func usual(name string) string { return strings.ToLower(separators.Replace(name)) }

var separators = strings.NewReplacer(" ", "", "_", "", "-", "", ".", "")

// usual are the names that are looked for.
func (r *role) usual() []string { return slices.Concat(r.firm, r.shared, r.loose) }

// A finder finds the roles of columns.
type finder struct {
	*Columns
	o     *Options
	sized bool

	names  []string
	plain  []string        // the usual forms of the names
	listed map[string]bool // names of the features that are wanted
	spares []*role         // by column: the role that it can hardly be a feature for, see findSpares
}

func newFinder(s *Columns, o *Options, sized bool) *finder {
	f := &finder{Columns: s, o: o, sized: sized, names: s.Called, listed: map[string]bool{}, spares: make([]*role, len(s.Called))}
	for _, name := range f.names {
		f.plain = append(f.plain, usual(name))
	}
	for _, name := range o.FeatureNames {
		f.listed[name] = true
	}
	return f
}

// needs reports whether a table must have a column of the role.
func (f *finder) needs(r *role) bool {
	switch r.name {
	case LabelRole:
		return f.o.NeedsLabels()
	case QueryRole:
		return !f.sized
	}
	return false
}

// find finds the roles of columns: those that options name, those that are known of earlier data, and those
// with usual names. No column may have two roles.
func (f *finder) find() error {
	seen := map[string]bool{}
	for _, name := range f.names {
		if err := text.CheckUTF8([]byte(name)); err != nil {
			return fmt.Errorf("header: %w", err)
		}
		meant := !isNameless(name) || slices.Contains(slices.Concat(f.o.Features, f.o.Categorical), name)
		if seen[name] && meant {
			return fmt.Errorf("header: two columns are named %s", text.Quote([]byte(name)))
		}
		seen[name] = true
	}
	for _, r := range roles {
		*r.at(f.Columns) = -1
	}
	for _, step := range []func(r *role) error{f.takeGiven, f.takeKnown, f.takeUsual} {
		for _, r := range roles {
			if err := step(r); err != nil {
				return err
			}
		}
	}
	if err := f.checkRoles(); err != nil {
		return err
	}
	f.Roles = map[string]string{}
	for _, r := range roles {
		if at := *r.at(f.Columns); at >= 0 {
			f.Roles[r.name] = f.names[at]
		}
	}
	if f.o.Labels == UnusedLabels {
		f.unused, f.Label = f.Label, -1
	}
	f.findSpares()
	return nil
}

// takeGiven takes the column that options name.
func (f *finder) takeGiven(r *role) error {
	given := r.given(f.o)
	if given == "" {
		return nil
	}
	at := slices.Index(f.names, given)
	if at < 0 && !(r.name == LabelRole && f.o.Labels == UnusedLabels) {
		return fmt.Errorf("header: no %s column %q: there are %s", r.what, given, text.List(f.names))
	}
	*r.at(f.Columns) = at
	return nil
}

// takeKnown takes the column that had the role in earlier data, such as those that a model was trained on. If the column was
// found by a usual name, these data may have another one.
func (f *finder) takeKnown(r *role) error {
	known := f.o.Roles[r.name]
	given := r.given(f.o) != "" || r.name == GroupRole && f.o.Groups != ""
	if known == "" || given || f.hasRole(known) {
		return nil
	}
	if _, err := strconv.Atoi(known); (err == nil) != f.o.Headerless && r.firm != nil {
		return nil // a position in a table without a header, not a name
	}
	if at := slices.Index(f.names, known); at >= 0 {
		*r.at(f.Columns) = at
		return nil
	}
	other := r.name == QueryRole && f.firm(r) >= 0 // a query id by any name, but no other label
	if f.needs(r) && !slices.Contains(r.usual(), usual(known)) && !other {
		return errorOfColumns("no %s column %q, which the training data had: -%s names another one of %s", r.what, known, r.flag, text.List(f.names))
	}
	return nil
}

// hasRole reports whether a column of that name has a role by now.
func (f *finder) hasRole(name string) bool {
	at := slices.Index(f.names, name)
	return at >= 0 && f.roleAt(at) != nil
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

// takeUsual takes a column with a usual name for the role.
func (f *finder) takeUsual(r *role) error {
	at := r.at(f.Columns)
	if *at >= 0 || r.firm == nil || r.name == LabelRole && f.o.Labels == UnusedLabels {
		return nil
	}
	if f.o.Headerless {
		switch {
		case r.name == LabelRole:
			*at = 0
		case f.needs(r):
			return columnsError("want the number of the query id's column, counted from 1, or query sizes in a file next to the data, named as it plus .query (-query-column)")
		}
		return nil
	}
	if *at = f.firm(r); *at >= 0 {
		return nil
	}
	var candidates, rivals, taken []int
	for i, name := range f.names {
		switch plain := f.plain[i]; {
		case f.listed[name]:
		case f.roleAt(i) != nil:
			if f.needs(r) && slices.Contains(r.usual(), plain) {
				taken = append(taken, i)
			}
		case slices.Contains(r.shared, plain), slices.Contains(r.loose, plain) && f.needs(r) && (f.o.FeatureIDs != nil || !slices.Contains(f.o.Chosen(), name)):
			candidates = append(candidates, i)
		case slices.Contains(r.rivals, plain) && !f.isSaid(name):
			rivals = append(rivals, i)
		}
	}
	switch {
	case len(candidates) > 1 || len(candidates) == 1 && len(rivals) > 0:
		return f.ambiguous(r, append(candidates, rivals...), "")
	case len(candidates) == 1:
		*at = candidates[0]
		name := f.names[*at]
		f.guessed[r.name] = true
		if slices.Contains(r.loose, f.plain[*at]) && !slices.Contains(f.o.Unasked, name) { // which is told of the first of several files
			f.Guesses = append(f.Guesses, Guess{Role: r.what, Flag: r.flag, Column: name})
		}
	case len(taken) > 0: // checkRoles returns the error
		*at = taken[0]
	case f.needs(r):
		return errorOfColumns("no %s column: looked for %s, found %s (-%s NAME names it)", r.what, strings.Join(r.usual(), ", "), text.List(f.names), r.flag)
	}
	return nil
}

// firm is the first column with a firm name of the role that has no role; −1: none.
func (f *finder) firm(r *role) int {
	for _, names := range [][]string{f.names, f.plain} { // label before Label
		for _, want := range r.firm {
			if at := slices.Index(names, want); at >= 0 && !f.listed[f.names[at]] && f.roleAt(at) == nil {
				return at
			}
		}
	}
	return -1
}

// isSaid reports whether options say of a column by name or pattern that it is a feature, or is left out.
func (f *finder) isSaid(name string) bool {
	return says(f.o.Chosen(), name) || says(f.o.Unasked, name)
}

// ambiguous returns the error that several columns could have a role.
func (s *Columns) ambiguous(r *role, columns []int, why string) error {
	var names []string
	for _, at := range columns {
		names = append(names, s.Called[at])
	}
	return errorOfColumns("the %s is not known: it could be %s%s (-%s NAME says which)", r.what, text.List(names), why, r.flag)
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
		if r.firm != nil {
			takes = fmt.Sprintf(" (-%s NAME takes another)", r.flag)
		}
		return fmt.Errorf("header: no feature %q: that column is the %s%s", f.names[at], r.what, takes)
	}
	return nil
}

// findSpares finds the columns without a role that can hardly be features, by their names, unless the options list them.
func (f *finder) findSpares() {
	if f.o.Headerless {
		return
	}
	for at, name := range f.names {
		if f.roleAt(at) != nil || at == f.unused || f.listed[name] || slices.Contains(f.o.Features, name) || slices.Contains(f.o.Categorical, name) {
			continue
		}
		for _, r := range roles {
			couldBe := r.name == LabelRole && f.Label < 0 && f.unused < 0 && slices.Contains(r.loose, f.plain[at])
			if slices.Contains(r.firm, f.plain[at]) || slices.Contains(r.shared, f.plain[at]) || couldBe {
				f.spares[at] = r
			}
		}
	}
}

// couldBeLabel finds the columns that could be meant instead of a guessed label, if their values allow it.
func (f *finder) couldBeLabel() {
	if !f.guessed[LabelRole] {
		return
	}
	for i, name := range f.names {
		feature := f.Feature[i] >= 0
		if f.roleAt(i) == nil && f.spares[i] == nil && !isNameless(name) && !f.isSaid(name) && !(feature && f.o.FeatureIDs != nil) {
			f.Rivals = append(f.Rivals, i)
		}
	}
}

// CheckGuess returns an error if the label was found by a name that a feature may have, and by the values of the first
// rows it cannot be a label, or another column could be. Whole reports whether a column has whole numbers in all these rows.
func (s *Columns) CheckGuess(whole func(column int) bool) error {
	if !s.guessed[LabelRole] {
		return nil
	}
	r, could := roles[0], []int{s.Label}
	for _, n := range s.Rivals {
		if whole(n) {
			could = append(could, n)
		}
	}
	switch {
	case !whole(s.Label):
		return s.ambiguous(r, could, fmt.Sprintf("; some values of %s are missing, or not whole numbers", text.List([]string{s.Called[s.Label]})))
	case len(could) > 1:
		return s.ambiguous(r, could, "")
	}
	return nil
}

// IsWhole reports whether a text can be a label without a doubt: a whole number of −1 or more.
func IsWhole(value []byte) bool {
	v, err := text.Field(value)
	return err == nil && IsLabel(v)
}

// IsLabel reports whether a number is a whole one of −1 or more.
func IsLabel(v float32) bool { return v >= -1 && float64(v) == math.Trunc(float64(v)) }

// checkGuessed returns an error if a value of a guessed label cannot be one.
func (s *Columns) checkGuessed(value []byte) error {
	if s.guessed[LabelRole] && !IsWhole(value) {
		return fmt.Errorf("the value %s is missing, or not a whole number: the column is the label by its name, which a feature may have as well: -label-column names the label", text.Quote(value))
	}
	return nil
}
