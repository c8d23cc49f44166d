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
)

// Format is CSV and TSV, in which a tab, comma or semicolon separates the fields.
var Format = table.Format{Endings: []string{".csv", ".tsv"}, Layout: layout, Claims: claims}

// Names of columns, in any letter case, if the options name none.
var (
	labelNames    = []string{"label", "relevance", "rel", "grade", "rating", "target", "y"}
	queryNames    = []string{"qid", "query_id", "queryid", "query", "group"}
	documentNames = []string{"docid", "doc_id", "document_id", "documentid", "document", "doc"}
)

// ErrColumns is the error for separated values of which it is not known what columns are
// the label and the query id: options can name them.
var ErrColumns = errors.New("the columns are not known")

type columnsError string

func (e columnsError) Error() string      { return string(e) }
func (columnsError) Is(target error) bool { return target == ErrColumns }

// layout is the layout of separated values, whose first line names the
// columns; nil for LETOR text, which begins with a number and a blank.
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
	s := &reader{comma: comma, Layout: table.Layout{Header: !o.Headerless, Names: map[int]string{}}}
	s.Read = s.line
	labels, queries, documents := labelNames, queryNames, documentNames
	if o.Headerless {
		for i := range names {
			names[i] = strconv.Itoa(i + 1)
		}
		labels, queries, documents = names[:1], nil, nil
	}
	find := func(what, given string, standard []string) (int, error) {
		if given != "" {
			if i := slices.Index(names, given); i >= 0 {
				return i, nil
			}
			return -1, fmt.Errorf("header: no %s column %q: there are %s", what, given, text.List(names))
		}
		for _, s := range standard {
			if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, s) }); i >= 0 {
				return i, nil
			}
		}
		return -1, columnsError(fmt.Sprintf("header: no %s column: looked for %s, found %s", what, strings.Join(standard, ", "), text.List(names)))
	}
	if s.label, err = find("label", o.LabelColumn, labels); err != nil && (o.LabelColumn != "" || o.FeatureIDs == nil) {
		return nil, err
	}
	if s.query, err = find("query id", o.QueryColumn, queries); err != nil && (o.QueryColumn != "" || !sized) {
		if o.Headerless && o.QueryColumn == "" {
			err = columnsError("want the number of the query id's column, counted from 1, or query sizes in a file beside the data, named as it plus .query")
		}
		return nil, err
	}
	if s.document, err = find("document id", o.DocumentColumn, documents); err != nil && o.DocumentColumn != "" {
		return nil, err
	}
	if s.weight, err = find("weight", o.WeightColumn, nil); err != nil && o.WeightColumn != "" {
		return nil, err
	}
	if s.group, err = find("group", o.GroupColumn, nil); err != nil && o.GroupColumn != "" {
		return nil, err
	}
	if err := s.distinct(names); err != nil {
		return nil, err
	}
	if err := s.place(names, o); err != nil {
		return nil, err
	}
	return &s.Layout, nil
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

// distinct checks that no two columns have one name, and that no column serves twice.
func (s *reader) distinct(names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return fmt.Errorf("header: two columns are named %s", text.Quote([]byte(name)))
		}
		seen[name] = true
	}
	uses := map[int]string{}
	for _, column := range []struct {
		field int
		use   string
	}{{s.label, "label"}, {s.query, "query id"}, {s.document, "document id"}, {s.weight, "weight"}, {s.group, "group"}} {
		if column.field < 0 {
			continue
		}
		if use := uses[column.field]; use != "" {
			return fmt.Errorf("header: column %q is the %s, and cannot be the %s as well", names[column.field], use, column.use)
		}
		uses[column.field] = column.use
	}
	return nil
}

// place gives the features their ids: those of the options' names if they
// name features, else 1, 2, … from left to right.
func (s *reader) place(names []string, o table.Options) error {
	wanted := map[string]int{} // id by name
	for i, name := range o.FeatureNames {
		wanted[name] = o.FeatureIDs[i]
	}
	id := 0
	for i, name := range names {
		s.feature = append(s.feature, -1)
		if _, listed := wanted[name]; i == s.label || i == s.query || i == s.document || i == s.weight || i == s.group && !listed {
			continue
		}
		id++
		if o.FeatureNames != nil {
			want, ok := wanted[name]
			if !ok {
				s.Ignored = append(s.Ignored, name)
				continue
			}
			s.IDs = append(s.IDs, want)
		} else {
			if !o.Wants(id) {
				s.Ignored = append(s.Ignored, name)
				continue
			}
			s.IDs = append(s.IDs, id)
		}
		s.Names[s.IDs[len(s.IDs)-1]] = name
		s.feature[i] = len(s.IDs) - 1
	}
	for i, name := range o.FeatureNames {
		if s.Names[o.FeatureIDs[i]] != name {
			return fmt.Errorf("header: no column for feature %q", name)
		}
	}
	return nil
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
