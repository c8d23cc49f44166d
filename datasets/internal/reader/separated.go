package reader

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/text"
)

// Separated is the format of CSV and TSV, where a tab, comma or semicolon separates the fields, and
// whose first line names the columns; nil for LETOR text, which begins with a number and a
// blank.
func Separated(line, after []byte, o Options, sidecar Sidecar) (*Layout, error) {
	if text.IsComment(line) && !claims(line, after, o) {
		return nil, nil
	}
	return layout(line, after, o, sidecar.Sized)
}

func layout(line, after []byte, o Options, sized bool) (*Layout, error) {
	_, n, err := text.Float32(line)
	number := err == nil
	comma, most := byte(0), 0
	for _, c := range []byte("\t,;") {
		if n := bytes.Count(line, []byte{c}); n > most {
			comma, most = c, n
		}
	}
	switch {
	case comma == 0 || bytes.Contains(line, []byte("qid:")):
		return nil, nil
	case o.Headerless:
	case number && text.Ends(line, n):
		return nil, nil
	case number:
		return nil, fmt.Errorf("%w: separated values without a header: want names of the columns in the first line, or Headerless in the "+
			"options (-headerless)", ErrColumns)
	}
	names, err := columnNames(line, comma)
	if err != nil {
		return nil, err
	}
	if o.Headerless {
		for i := range names {
			names[i] = strconv.Itoa(i + 1)
		}
		after = slices.Concat(line, []byte("\n"), after) // the line is a row
	}
	r := new(separatedReader)
	if r.Columns, err = NewColumns(names, o, sized, look(after, len(names), comma)); err != nil {
		return nil, err
	}
	r.Header, r.Read, r.Comma = !o.Headerless, r.line, comma
	return &r.Layout, nil
}

// NewColumns finds the roles of columns with these names. The rows are sized if there is a file of
// query sizes.
func NewColumns(names []string, o Options, sized bool, look Look) (*Columns, error) {
	s := &Columns{Layout: Layout{Names: map[int]string{}}, Called: names, unused: -1, Numbers: make([]int, len(numbers))}
	if o.OfModel {
		s.rename(o.FeatureNames)
	}
	f := &finder{Columns: s, o: &o, sized: sized, names: s.Called}
	if err := f.takeVectors(look); err != nil {
		return nil, err
	}
	ask := func() error { return f.ask(look) }
	steps := []func() error{f.takeTold, ask, f.takeFound, f.place}
	if o.Headerless { // names are numbers, which tell no roles
		steps = []func() error{f.takeTold, f.takeFound, ask, f.place}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if o.FeatureIDs == nil { // else it fails at a wanted column of text
		f.leaveOutText()
	}
	s.IDs = append([]int{}, s.ProductIDs...)
	for _, id := range s.Feature {
		if id >= 0 {
			s.IDs = append(s.IDs, id)
		}
	}
	slices.Sort(s.IDs)
	for n, id := range s.Feature {
		if id >= 0 {
			s.Feature[n], _ = slices.BinarySearch(s.IDs, id)
		}
	}
	return s, nil
}

// rename calls columns as the features of a model that lack a column, where only blanks differ: LightGBM writes _ for them.
func (s *Columns) rename(wanted []string) {
	columns, renamed := map[string][]int{}, []string(nil)
	for i, name := range s.Called {
		columns[blanked(name)] = append(columns[blanked(name)], i)
	}
	for _, name := range wanted {
		if at := columns[name]; len(at) == 1 && s.Called[at[0]] != name {
			renamed = append(renamed, s.Called[at[0]])
			s.Called[at[0]] = name
		}
	}
	if renamed != nil {
		s.Warnings = append(s.Warnings, "columns are features of the model that have _ for the blanks in their names, as LightGBM writes "+
			"these: "+text.List(renamed))
	}
}

// blanked returns a name as LightGBM writes it.
func blanked(name string) string { return strings.ReplaceAll(name, " ", "_") }

// columnNames are the fields of the first line.
func columnNames(line []byte, comma byte) ([]string, error) {
	var names []string
	for i := 0; i <= len(line); {
		field, next, err := field(line, i, comma)
		if err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
		names = append(names, strings.TrimSpace(string(field)))
		i = next
	}
	return names, nil
}

// place finds the columns that are features, and gives them the ids that the options have for their names, or else numbers.
func (s *finder) place() error {
	names, o := s.names, *s.o
	s.Level = make([]int, len(names))
	wanted := map[string]int{} // id by name
	for i, name := range o.FeatureNames {
		wanted[name] = o.FeatureIDs[i]
	}
	var fields []int // of the columns that can be features
	var called []string
	for i, name := range names {
		s.Feature, s.Level[i] = append(s.Feature, -1), -1
		if s.canBeFeature(i, name, wanted) {
			fields = append(fields, i)
		}
	}
	// Columns that are features only if the options say so come last, so that they do not change the ids of others.
	last := func(at int) int {
		if _, aside := s.found.Aside[names[at]]; aside || schema.IsNameless(names[at]) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(fields, func(a, b int) int { return last(a) - last(b) })
	var aside []bool
	for _, field := range fields {
		called, aside = append(called, names[field]), append(aside, last(field) == 1)
	}
	ids, err := s.number(called, aside, o)
	var is choice
	if err == nil {
		is, err = s.choose(o, ids, called, aside, wanted)
	}
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	for i, field := range fields {
		if !is.feature[i] {
			s.leave(field, is.ignored[i])
			continue
		}
		id := ids[i]
		if o.FeatureNames != nil {
			id = wanted[called[i]]
		}
		if id < 0 {
			return fmt.Errorf("header: no id up to %d is left for column %q: want a name for it", text.MaxFeatureID, called[i])
		}
		s.Feature[field], s.Names[id] = id, called[i]
		if is.categorical[i] || o.HasLevels(id) {
			s.Level[field] = len(s.Categorical)
			s.Categorical = append(s.Categorical, id)
		}
	}
	if err := s.addProducts(s.o, &s.found); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	return s.checkWanted()
}

// canBeFeature reports whether a column may be a feature, which one of vectors or with a role is not, except for groups that are
// wanted as a feature, too.
func (s *finder) canBeFeature(column int, name string, wanted map[string]int) bool {
	_, listed := wanted[name]
	if id, isID := text.ParseFeatureID(name); isID && s.o.FeatureNames == nil && !s.o.Headerless {
		listed = s.o.Lists(id)
	}
	r := s.roleAt(column)
	return s.Vector[column] == noVector && column != s.unused && (r == nil || r.name == schema.Group && listed)
}

// leave leaves out a column, and remembers why.
func (s *finder) leave(column int, ignored bool) {
	name := s.names[column]
	switch warning, aside := s.found.Aside[name]; {
	case ignored, aside && warning == "":
		s.Unasked = append(s.Unasked, name)
	case aside:
		s.LeaveOut(name, warning)
	case schema.IsNameless(name):
		s.LeaveOut(name, outNameless)
	default:
		s.LeaveOut(name, outUnwanted)
	}
}

// checkWanted returns an error if a feature that is wanted has no column.
func (s *finder) checkWanted() error {
	for i, name := range s.o.FeatureNames {
		if s.Names[s.o.FeatureIDs[i]] != name {
			return fmt.Errorf("header: no column for feature %q", name)
		}
	}
	for _, id := range s.o.FeatureIDs {
		if s.o.FeatureNames == nil && !s.o.Headerless && !s.ByPosition && s.Names[id] == "" {
			return fmt.Errorf("header: no column for feature %d: columns whose names are whole numbers are features with these ids", id)
		}
	}
	return nil
}

// number gives the ids of columns that can be features: their names where these are whole numbers, as the ids of LETOR
// text are, which goes for all of them, or for all that are wanted by id; else 1, 2, … from left to right. A whole number
// among others must not be too large for an id: numbered from left to right, the others would not be what they
// are in LETOR text.
func (s *Columns) number(called []string, aside []bool, o Options) ([]int, error) {
	ids, all, last, beyond := make([]int, len(called)), !o.Headerless, 0, ""
	byID := map[int]bool{}
	for i, name := range called {
		switch id, isID := text.ParseFeatureID(name); {
		case isID:
			ids[i], byID[id], last = id, true, max(last, id)
		case aside[i]:
			if ids[i] = -1; last < text.MaxFeatureID {
				last++
				ids[i] = last
			}
		case text.IsBeyondFeatureID(name) && says(slices.Concat(o.Ignore, o.Unasked), name):
			ids[i] = -1
		case text.IsBeyondFeatureID(name):
			ids[i], beyond = -1, name
		default:
			ids[i], all = -1, false
		}
	}
	missing := func(id int) bool { return !byID[id] }
	positions := o.OfModel && all && slices.IsSorted(ids) && last == len(ids)-1 && len(byID) == len(ids) // 0, 1, …, as data frames have
	if !o.Headerless && len(o.FeatureIDs) > 0 && o.FeatureNames == nil && !positions && !slices.ContainsFunc(o.FeatureIDs, missing) {
		return ids, nil
	}
	if all && beyond != "" && o.FeatureNames == nil {
		return nil, fmt.Errorf("column %s: names that are whole numbers are the ids of features, and the largest is %d",
			text.Quote([]byte(beyond)), text.MaxFeatureID)
	}
	if all && len(byID) > 0 && !(positions && o.FeatureNames == nil) {
		return ids, nil
	}
	s.ByPosition = !o.Headerless
	for i := range ids {
		ids[i] = i + 1
	}
	return ids, nil
}

// choice tells what the options say of each of some columns.
type choice struct {
	feature, ignored, categorical []bool
}

// choose returns the choice among columns: the columns with wanted names are features, if any names are
// wanted. Columns aside, as those without a name of their own, are features only if the options say all that they are called.
func (s *Columns) choose(o Options, ids []int, called []string, aside []bool, wanted map[string]int) (is choice, err error) {
	if is.categorical, err = Chosen(o.Categorical, ids, called); err != nil {
		return is, err
	}
	byPosition := o.OfModel && len(o.FeatureIDs) > 0 && o.FeatureNames == nil && (s.ByPosition || o.Headerless)
	if o.FeatureIDs != nil && !byPosition { // a model, or the first of several files, has chosen
		is.feature, is.ignored = make([]bool, len(ids)), make([]bool, len(ids))
		for i, name := range called {
			_, is.feature[i] = wanted[name]
			is.feature[i] = is.feature[i] || o.FeatureNames == nil && o.Lists(ids[i]) && !aside[i]
			is.ignored[i] = slices.Contains(o.Unasked, name) || says(o.Ignore, name)
		}
		return is, o.checkChoice()
	}
	if is.ignored, err = Chosen(o.Ignore, ids, called); err != nil {
		return is, err
	}
	is.feature, err = Chosen(o.Features, ids, called)
	for i, feature := range is.feature {
		is.ignored[i] = is.ignored[i] || slices.Contains(o.Unasked, called[i]) || o.Features != nil && !feature && !is.categorical[i]
		named := !aside[i] || slices.Contains(o.Features, called[i]) || slices.Contains(o.Categorical, called[i])
		is.feature[i] = !is.ignored[i] && named
	}
	if err == nil && byPosition {
		err = o.position(ids, called, is)
	}
	return is, err
}

// position gives the chosen columns the ids of the features of a model without names, from left to right, and leaves out
// those without a feature. It returns an error if there are not as many.
func (o Options) position(ids []int, called []string, is choice) error {
	var columns, others []string
	first, last := min(1, o.FeatureIDs[0]), o.FeatureIDs[len(o.FeatureIDs)-1]
	for i := range ids {
		switch {
		case is.feature[i]:
			ids[i] = first + len(columns)
			columns, is.feature[i] = append(columns, called[i]), o.Lists(ids[i])
		case !is.ignored[i]:
			others = append(others, called[i])
		}
	}
	if n := last - first + 1; len(columns) != n {
		what := text.List(columns)
		if others != nil {
			what += ", and only if -features lists them " + text.List(others)
		}
		return fmt.Errorf("the model has %d features without names, and %d columns may be these: %s (-features and -ignore choose columns)",
			n, len(columns), what)
	}
	return nil
}

// claims reports whether a first line that is blank or begins with # is a line of separated
// values all the same: a row of empty fields; or several fields, which name a label and a
// query id if the text has a header.
func claims(line, after []byte, o Options) bool {
	if text.SkipBlanks(line, 0) == len(line) {
		return o.Headerless && bytes.IndexByte(line, '\t') >= 0
	}
	l, err := layout(line, after, Options{LabelColumn: o.LabelColumn, QueryColumn: o.QueryColumn, Roles: o.Roles, Headerless: o.Headerless,
		Schema: o.Schema}, false)
	return l != nil || o.Headerless && err != nil
}
