package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// separated is the layout of CSV and TSV: the use of every field of a line.
type separated struct {
	layout
	comma                          byte
	label, query, document, weight int   // fields; −1: none
	group                          int   // −1: none
	feature                        []int // by field: column of the parser, −1 for none
}

// Names that tell what a column is, in any letter case, where the options name
// none.
var (
	labelNames    = []string{"label", "relevance", "rel", "grade", "rating", "target", "y"}
	queryNames    = []string{"qid", "query_id", "queryid", "query", "group"}
	documentNames = []string{"docid", "doc_id", "document_id", "documentid", "document", "doc"}
)

// ErrColumns is the error of [Open] and [ReadFile] for separated values of which it is not
// known what columns are the label and the query id: ReadOptions can name them.
var ErrColumns = errors.New("the columns are not known")

type columnsError string

func (e columnsError) Error() string      { return string(e) }
func (columnsError) Is(target error) bool { return target == ErrColumns }

// separatedLayout is the layout of separated values, whose first line names the
// columns; nil for LETOR text, which begins with a number and a blank.
func separatedLayout(line []byte, o ReadOptions, sized bool) (*layout, error) {
	_, n, err := parseFloat32(line)
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
	case number && ends(line, n):
		return nil, nil
	case number:
		return nil, columnsError("separated values without a header: want names of the columns in the first line, or Headerless in the options")
	}
	names, err := columnNames(line, comma)
	if err != nil {
		return nil, err
	}
	s := &separated{comma: comma, layout: layout{header: !o.Headerless, names: map[int]string{}, group: -1}}
	s.line = s.read
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
			return -1, fmt.Errorf("header: no %s column %q: there are %s", what, given, listNames(names))
		}
		for _, s := range standard {
			if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, s) }); i >= 0 {
				return i, nil
			}
		}
		return -1, columnsError(fmt.Sprintf("header: no %s column: looked for %s, found %s", what, strings.Join(standard, ", "), listNames(names)))
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
	return &s.layout, nil
}

// columnNames are the fields of the first line.
func columnNames(line []byte, comma byte) ([]string, error) {
	var names []string
	for i := 0; i <= len(line); {
		field, next, err := csvField(line, i, comma)
		if err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
		names = append(names, strings.TrimSpace(string(field)))
		i = next
	}
	return names, nil
}

// distinct checks that no two columns have one name, and that no column serves twice.
func (s *separated) distinct(names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return fmt.Errorf("header: two columns are named %s", quote([]byte(name)))
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

// place gives the features their ids: those of the options' names where they
// name features, else 1, 2, … from left to right.
func (s *separated) place(names []string, o ReadOptions) error {
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
				s.ignored = append(s.ignored, name)
				continue
			}
			s.ids = append(s.ids, want)
		} else {
			if !(columns{o.FeatureIDs}).want(id) {
				s.ignored = append(s.ignored, name)
				continue
			}
			s.ids = append(s.ids, id)
		}
		s.names[s.ids[len(s.ids)-1]] = name
		s.feature[i] = len(s.ids) - 1
	}
	for i, name := range o.FeatureNames {
		if s.names[o.FeatureIDs[i]] != name {
			return fmt.Errorf("header: no column for feature %q", name)
		}
	}
	return nil
}

// separatedComment tells whether a first line that begins with # is a line of separated
// values all the same, rather than a comment before the text: it has several fields, and
// names a label and a query id if the text has a header.
func separatedComment(line []byte, o ReadOptions) bool {
	l, err := separatedLayout(line, ReadOptions{LabelColumn: o.LabelColumn, QueryColumn: o.QueryColumn, Headerless: o.Headerless}, false)
	return l != nil || o.Headerless && err != nil
}

// read reads one line of separated values. An empty feature is missing, an
// empty label is no label. There are no comments: a value may begin with #.
func (s *separated) read(p *parser, b []byte) {
	b = bytes.TrimSuffix(b, []byte("\r"))
	if skipBlanks(b, 0) == len(b) && (s.comma != '\t' || bytes.IndexByte(b, '\t') < 0) {
		return
	}
	row := p.row()
	label, weight, field := missing, float32(0), 0
	var query, document, group []byte
	for i := 0; i <= len(b); field++ {
		if field < len(s.feature) && s.feature[field] >= 0 && field != s.group {
			// A plain number, as most are; anything else goes the long way.
			if v, n, err := parseFloat32(b[i:]); err == nil && (i+n == len(b) || b[i+n] == s.comma) {
				row[s.feature[field]] = v
				i += n + 1
				continue
			}
		}
		value, next, err := csvField(b, i, s.comma)
		if err != nil {
			p.fail(i, "%v", err)
			return
		}
		if field == s.group {
			group = bytes.TrimSpace(value)
		}
		switch {
		case field >= len(s.feature):
			p.fail(i, "more fields than the %d of the %s", len(s.feature), s.first())
			return
		case s.feature[field] >= 0:
			v, err := csvNumber(value)
			if err != nil {
				p.fail(i, "field %s: %v", quote(value), err)
				return
			}
			row[s.feature[field]] = v
		case field == s.label:
			if len(bytes.TrimSpace(value)) == 0 {
				break
			}
			v, err := csvNumber(value)
			if err == nil && v != v {
				err = errNumber
			}
			if err != nil {
				p.fail(i, "label %s: %v", quote(value), err)
				return
			}
			label = v
		case field == s.query:
			if query = bytes.TrimSpace(value); len(query) == 0 {
				p.fail(i, "no query id")
				return
			}
		case field == s.weight:
			if weight, err = csvNumber(value); err != nil || !isWeight(weight) {
				p.fail(i, "weight %s: want a number of 0 or more", quote(value))
				return
			}
		case field == s.document:
			document = bytes.TrimSpace(value)
		}
		i = next
	}
	if field < len(s.feature) {
		p.fail(len(b), "%d fields, but the %s has %d", field, s.first(), len(s.feature))
		return
	}
	p.endRow(label, query, s.query >= 0, document)
	if s.weight >= 0 {
		p.c.weights = append(p.c.weights, weight)
	}
	if s.group >= 0 {
		p.c.groups = append(p.c.groups, p.c.groupNumbers.of(group))
	}
}

// first names the first line in messages.
func (s *separated) first() string {
	if s.header {
		return "header"
	}
	return "first line"
}

// csvNumber is the number in a field; NaN where it is missing.
func csvNumber(b []byte) (float32, error) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return missing, nil
	}
	v, n, err := parseValue(b)
	if err == nil && n != len(b) {
		err = errNumber
	}
	return v, err
}

// csvField is the field at b[i:] and where the next one begins: beyond len(b)
// after the last one. A field may be quoted ("a ""b"" c"), within its line.
func csvField(b []byte, i int, comma byte) (field []byte, next int, err error) {
	if i == len(b) || b[i] != '"' {
		n := bytes.IndexByte(b[i:], comma)
		if n < 0 {
			return b[i:], len(b) + 1, nil
		}
		return b[i : i+n], i + n + 1, nil
	}
	start := i + 1
	for i = start; i < len(b); i++ {
		if b[i] != '"' {
			continue
		}
		if i+1 < len(b) && b[i+1] == '"' {
			i++
			continue
		}
		field = bytes.ReplaceAll(b[start:i], []byte(`""`), []byte(`"`))
		if i++; i < len(b) && b[i] != comma {
			return nil, 0, fmt.Errorf("text after a quoted field")
		}
		return field, i + 1, nil
	}
	return nil, 0, fmt.Errorf("a quoted field without its closing quote (fields must not span lines)")
}
