// Package separated reads comma-, tab- and semicolon-separated values.
package separated

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
	"github.com/plrank/plrank/internal/featureid"
)

// plainLabels are names of labels that can hardly be names of features.
var plainLabels = []string{"label", "relevance", "rel"}

// Names of columns, in any letter case, if the options name none.
var (
	labelNames    = append(plainLabels, "grade", "rating", "target", "y")
	queryNames    = []string{"qid", "query_id", "queryid", "query", "group"}
	documentNames = []string{"docid", "doc_id", "document_id", "documentid", "document", "doc"}
)

// ErrColumns is the error for separated values of which it is not known what columns are
// the label and the query id: options can name them.
var ErrColumns = errors.New("the columns are not known")

type columnsError string

func (e columnsError) Error() string      { return string(e) }
func (columnsError) Is(target error) bool { return target == ErrColumns }

// Layout is that of CSV and TSV, in which a tab, comma or semicolon separates the fields, and
// whose first line names the columns; nil for LETOR text, which begins with a number and a
// blank.
func Layout(line []byte, o table.Options, beside table.Beside) (*table.Layout, error) {
	if text.IsComment(line) && !claims(line, o) {
		return nil, nil
	}
	return layout(line, o, beside.Sized)
}

func layout(line []byte, o table.Options, sized bool) (*table.Layout, error) {
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
		return nil, columnsError("separated values without a header: want names of the columns in the first line, or Headerless in the options")
	}
	names, err := columnNames(line, comma)
	if err != nil {
		return nil, err
	}
	if o.Headerless {
		for i := range names {
			names[i] = strconv.Itoa(i + 1)
		}
	}
	columns, err := NewColumns(names, o, sized)
	if err != nil {
		return nil, err
	}
	s := &reader{Columns: columns, comma: comma}
	s.Header, s.Read = !o.Headerless, s.line
	if o.FeatureIDs == nil { // else columns of text among those that are wanted are errors
		s.Look = s.look
	}
	return &s.Layout, nil
}

// NewColumns finds the use of columns with these names. The rows are sized if there is a file of
// query sizes.
func NewColumns(names []string, o table.Options, sized bool) (*Columns, error) {
	s := &Columns{Layout: table.Layout{Names: map[int]string{}}}
	if err := s.findColumns(names, o, sized); err != nil {
		return nil, err
	}
	if err := s.place(names, o); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return s, nil
}

// findColumns finds the columns that are no features. No column may serve twice, and no two
// may have one name, but for those without a name of their own, which are left out.
func (s *Columns) findColumns(names []string, o table.Options, sized bool) error {
	for _, name := range names {
		if err := text.CheckUTF8([]byte(name)); err != nil {
			return fmt.Errorf("header: %w", err)
		}
	}
	labels, queries, documents := labelNames, queryNames, documentNames
	given := []string{o.LabelColumn, o.QueryColumn, o.DocumentColumn, o.WeightColumn, o.BaseColumn, o.GroupColumn}
	given = append(given, o.FeatureNames...) // a feature, whatever its name says
	if o.Headerless {
		labels, queries, documents = names[:1], nil, nil
	}
	uses := []struct {
		name     string
		field    *int
		given    string
		standard []string
		needed   bool
	}{
		{"label", &s.Label, o.LabelColumn, labels, o.FeatureIDs == nil},
		{"query id", &s.Query, o.QueryColumn, queries, !sized},
		{"document id", &s.Document, o.DocumentColumn, documents, false},
		{"weight", &s.Weight, o.WeightColumn, nil, false},
		{"base score", &s.Base, o.BaseColumn, nil, false},
		{"group", &s.Group, o.GroupColumn, nil, false},
	}
	for _, use := range uses {
		elsewhere := given
		if use.needed { // that it is named for another use is the error below
			elsewhere = nil
		}
		if *use.field = findColumn(names, use.given, use.standard, elsewhere); *use.field >= 0 {
			continue
		}
		switch {
		case use.given != "":
			return fmt.Errorf("header: no %s column %q: there are %s", use.name, use.given, text.List(names))
		case use.needed && use.standard == nil:
			return columnsError("want the number of the query id's column, counted from 1, or query sizes in a file beside the data, named as it plus .query")
		case use.needed:
			return columnsError(fmt.Sprintf("header: no %s column: looked for %s, found %s", use.name, strings.Join(use.standard, ", "), text.List(names)))
		}
	}
	if s.Label >= 0 {
		s.LabelColumn = names[s.Label]
		plain := slices.ContainsFunc(plainLabels, func(name string) bool { return strings.EqualFold(name, s.LabelColumn) })
		known := slices.Contains(o.Ignore, s.LabelColumn) // from the first of several files
		s.LabelGuessed = o.LabelColumn == "" && !o.Headerless && !plain && !known
	}
	seen := map[string]bool{}
	for _, name := range names {
		meant := !isNameless(name) || slices.Contains(slices.Concat(o.Features, o.Categorical), name)
		if seen[name] && meant {
			return fmt.Errorf("header: two columns are named %s", text.Quote([]byte(name)))
		}
		seen[name] = true
	}
	for i, use := range uses {
		for _, first := range uses[:i] {
			if *use.field >= 0 && *use.field == *first.field {
				return fmt.Errorf("header: column %q is the %s, and cannot be the %s as well", names[*use.field], first.name, use.name)
			}
		}
		// A column of that name is meant, not a feature that has the name for its id.
		named := slices.Concat(o.Features, o.Ignore, o.Categorical)
		if o.FeatureIDs != nil || *use.field < 0 || !slices.Contains(named, names[*use.field]) {
			continue // a model, or the first of several files, has chosen; or another column is meant
		}
		takes := ""
		if use.name == "label" {
			takes = " (-label-column NAME takes another)"
		}
		return fmt.Errorf("header: no feature %q: that column is the %s%s", names[*use.field], use.name, takes)
	}
	return nil
}

// findColumn is the column of the given name, or else of the first standard one that is not named elsewhere; −1: none.
func findColumn(names []string, name string, standard, elsewhere []string) int {
	if name != "" {
		return slices.Index(names, name)
	}
	for _, s := range standard {
		if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, s) && !slices.Contains(elsewhere, n) }); i >= 0 {
			return i
		}
	}
	return -1
}

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

// place gives the features the ids of the names in the options, else those that number gives, and finds those that are
// chosen.
func (s *Columns) place(names []string, o table.Options) error {
	s.Called, s.Level, s.IDs = names, make([]int, len(names)), []int{}
	wanted := map[string]int{} // id by name
	for i, name := range o.FeatureNames {
		wanted[name] = o.FeatureIDs[i]
	}
	var fields []int // of the columns that can be features
	var called []string
	for i, name := range names {
		s.Feature, s.Level[i] = append(s.Feature, -1), -1
		_, listed := wanted[name]
		if i == s.Label || i == s.Query || i == s.Document || i == s.Weight || i == s.Base || i == s.Group && !listed {
			continue
		}
		fields = append(fields, i)
	}
	slices.SortStableFunc(fields, func(a, b int) int { return rank(names[a]) - rank(names[b]) })
	for _, field := range fields {
		called = append(called, names[field])
	}
	ids, err := s.number(called, o)
	if err != nil {
		return err
	}
	is, err := choose(o, ids, called, wanted)
	if err != nil {
		return err
	}
	for i, field := range fields {
		if !is.feature[i] {
			switch {
			case is.ignored[i]:
				s.Unasked = append(s.Unasked, called[i])
			case isNameless(called[i]):
				s.Nameless = append(s.Nameless, called[i])
			default:
				s.Ignored = append(s.Ignored, called[i])
			}
			continue
		}
		id := ids[i]
		if o.FeatureNames != nil {
			id = wanted[called[i]]
		}
		if id < 0 {
			return fmt.Errorf("no id up to %d is left for column %q: want a name for it", featureid.Max, called[i])
		}
		s.Feature[field] = len(s.IDs)
		s.IDs = append(s.IDs, id)
		s.Names[id] = called[i]
		if is.categorical[i] || o.HasLevels(id) {
			s.Level[field] = len(s.Categorical)
			s.Categorical = append(s.Categorical, id)
		}
	}
	for i, name := range o.FeatureNames {
		if s.Names[o.FeatureIDs[i]] != name {
			return fmt.Errorf("no column for feature %q", name)
		}
	}
	for _, id := range o.FeatureIDs {
		if o.FeatureNames == nil && !o.Headerless && !s.ByPosition && s.Names[id] == "" {
			return fmt.Errorf("no column for feature %d: columns whose names are whole numbers are features with these ids", id)
		}
	}
	return nil
}

// number gives the ids of columns that can be features: their names where these are whole numbers, as the ids of LETOR
// text are, which goes for all of them, or for all that are wanted by id; else 1, 2, … from left to right. A whole number
// among others that is too large for an id is an error: numbered from left to right, the others would not be what they
// are in LETOR text.
func (s *Columns) number(called []string, o table.Options) ([]int, error) {
	ids, all, last, beyond := make([]int, len(called)), !o.Headerless, 0, ""
	byID := map[int]bool{}
	for i, name := range called {
		switch id, isID := featureid.Parse(name); {
		case isID:
			ids[i], byID[id], last = id, true, max(last, id)
		case isNameless(name):
			if ids[i] = -1; last < featureid.Max {
				last++
				ids[i] = last
			}
		case featureid.IsBeyond(name) && slices.Contains(o.Ignore, name):
			ids[i] = -1
		case featureid.IsBeyond(name):
			ids[i], beyond = -1, name
		default:
			ids[i], all = -1, false
		}
	}
	missing := func(id int) bool { return !byID[id] }
	if !o.Headerless && len(o.FeatureIDs) > 0 && o.FeatureNames == nil && !slices.ContainsFunc(o.FeatureIDs, missing) {
		return ids, nil
	}
	if all && beyond != "" && o.FeatureNames == nil {
		return nil, fmt.Errorf("column %s: names that are whole numbers are the ids of features, and the largest is %d", text.Quote([]byte(beyond)), featureid.Max)
	}
	if all && len(byID) > 0 {
		return ids, nil
	}
	s.ByPosition = !o.Headerless
	for i := range ids {
		ids[i] = i + 1
	}
	return ids, nil
}

// isNameless tells whether a column has no name of its own, as the index of a table in files of pandas and R.
func isNameless(name string) bool {
	return name == "" || strings.HasPrefix(name, "Unnamed: ") || strings.HasPrefix(name, "__index_level_")
}

// rank is 1 for columns without a name, which come after all others, so that they do not change the ids of these.
func rank(name string) int {
	if isNameless(name) {
		return 1
	}
	return 0
}

// choice tells what the options say of each of some columns.
type choice struct {
	feature, ignored, categorical []bool
}

// choose is the choice among columns, of which those with wanted names are features if there are
// any. Columns without a name of their own are features only if the options say all that they are called.
func choose(o table.Options, ids []int, called []string, wanted map[string]int) (is choice, err error) {
	if is.categorical, err = table.Chosen(o.Categorical, ids, called); err != nil {
		return is, err
	}
	if o.FeatureIDs != nil { // a model, or the first of several files, has chosen
		is.feature, is.ignored = make([]bool, len(ids)), make([]bool, len(ids))
		for i, name := range called {
			_, is.feature[i] = wanted[name]
			is.feature[i] = is.feature[i] || o.FeatureNames == nil && o.Lists(ids[i]) && !isNameless(name)
			is.ignored[i] = slices.Contains(o.Ignore, name)
		}
		return is, nil
	}
	if is.ignored, err = table.Chosen(o.Ignore, ids, called); err != nil {
		return is, err
	}
	is.feature, err = table.Chosen(o.Features, ids, called)
	for i, feature := range is.feature {
		is.ignored[i] = is.ignored[i] || o.Features != nil && !feature && !is.categorical[i]
		named := !isNameless(called[i]) || slices.Contains(o.Features, called[i]) || slices.Contains(o.Categorical, called[i])
		is.feature[i] = !is.ignored[i] && named
	}
	return is, err
}

// claims tells whether a first line that is blank or begins with # is a line of separated
// values all the same: a row of empty fields; or several fields, which name a label and a
// query id if the text has a header.
func claims(line []byte, o table.Options) bool {
	if text.SkipBlanks(line, 0) == len(line) {
		return o.Headerless && bytes.IndexByte(line, '\t') >= 0
	}
	l, err := layout(line, table.Options{LabelColumn: o.LabelColumn, QueryColumn: o.QueryColumn, Headerless: o.Headerless}, false)
	return l != nil || o.Headerless && err != nil
}
