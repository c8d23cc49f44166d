package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// header says what the fields of a CSV or TSV line are.
type header struct {
	comma                  byte
	label, query, document int            // fields; −1: none (of label and document)
	group                  int            // −1: none
	feature                []int          // by field: column of the parser, −1 for none
	ids                    []int          // by column of the parser: feature id
	names                  map[int]string // by feature id
	ignored                []string       // fields that are not wanted
}

// Names that tell what a column is, in any letter case, where the options name
// none.
var (
	labelNames    = []string{"label", "relevance", "rel", "grade", "rating", "target", "y"}
	queryNames    = []string{"qid", "query_id", "queryid", "query", "group"}
	documentNames = []string{"docid", "doc_id", "document_id", "documentid", "document", "doc"}
)

// readHeader looks at the first line of a text that is not blank or a comment.
// It is nil for LETOR text, which begins with a number.
func readHeader(line []byte, o ReadOptions) (*header, error) {
	_, n, err := parseFloat32(line)
	letor := err == nil && ends(line, n)
	comma, most := byte(0), 0
	for _, c := range []byte("\t,;") {
		if n := bytes.Count(line, []byte{c}); n > most {
			comma, most = c, n
		}
	}
	if letor || comma == 0 || bytes.Contains(line, []byte("qid:")) {
		return nil, nil
	}
	if err == nil {
		return nil, errors.New("separated values without a header: the first line must name the columns, a label and a query id among them")
	}
	h := &header{comma: comma}
	var names []string
	seen := map[string]bool{}
	for i := 0; i <= len(line); {
		field, next, err := csvField(line, i, comma)
		if err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
		name := strings.TrimSpace(string(field))
		if seen[name] {
			return nil, fmt.Errorf("header: two columns are named %s", quote([]byte(name)))
		}
		seen[name] = true
		names = append(names, name)
		i = next
	}
	find := func(what, given string, standard []string) (int, error) {
		if given != "" {
			if i := slices.Index(names, given); i >= 0 {
				return i, nil
			}
			return 0, fmt.Errorf("header: no %s column %q: there are %s", what, given, listNames(names))
		}
		for _, s := range standard {
			if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, s) }); i >= 0 {
				return i, nil
			}
		}
		return -1, fmt.Errorf("header: no %s column: looked for %s, found %s", what, strings.Join(standard, ", "), listNames(names))
	}
	if h.label, err = find("label", o.LabelColumn, labelNames); err != nil && (o.LabelColumn != "" || o.FeatureIDs == nil) {
		return nil, err
	}
	if h.query, err = find("query id", o.QueryColumn, queryNames); err != nil {
		return nil, err
	}
	if h.document, err = find("document id", o.DocumentColumn, documentNames); err != nil && o.DocumentColumn != "" {
		return nil, err
	}
	h.group = -1
	if o.GroupColumn != "" {
		if h.group, err = find("group", o.GroupColumn, nil); err != nil {
			return nil, err
		}
		if h.group == h.label || h.group == h.query || h.group == h.document {
			return nil, fmt.Errorf("header: column %q is the label, the query id or the document id, and cannot be the group as well", o.GroupColumn)
		}
	}
	return h, h.place(names, o)
}

// place gives the features their ids: those of the options' names where they
// name features, else 1, 2, … from left to right.
func (h *header) place(names []string, o ReadOptions) error {
	wanted := map[string]int{} // id by name
	for i, name := range o.FeatureNames {
		wanted[name] = o.FeatureIDs[i]
	}
	h.names = map[int]string{}
	id := 0
	for i, name := range names {
		h.feature = append(h.feature, -1)
		if i == h.label || i == h.query || i == h.document || i == h.group {
			continue
		}
		id++
		if o.FeatureNames != nil {
			want, ok := wanted[name]
			if !ok {
				h.ignored = append(h.ignored, name)
				continue
			}
			h.ids = append(h.ids, want)
		} else {
			switch (columns{o.FeatureIDs}).judge(id) {
			case unwelcome:
				return fmt.Errorf("header: column %q is feature %d, but feature ids go from %d to %d",
					name, id, o.FeatureIDs[0], o.FeatureIDs[len(o.FeatureIDs)-1])
			case ignorable:
				h.ignored = append(h.ignored, name)
				continue
			}
			h.ids = append(h.ids, id)
		}
		h.names[h.ids[len(h.ids)-1]] = name
		h.feature[i] = len(h.ids) - 1
	}
	for i, name := range o.FeatureNames {
		if h.names[o.FeatureIDs[i]] != name {
			return fmt.Errorf("header: no column for feature %q", name)
		}
	}
	return nil
}

// csvLine reads one line of separated values. An empty feature is missing, an
// empty label is no label.
func (p *parser) csvLine(b []byte) {
	b = bytes.TrimSuffix(b, []byte("\r"))
	if i := skipBlanks(b, 0); i == len(b) && (p.header.comma != '\t' || bytes.IndexByte(b, '\t') < 0) || i < len(b) && b[i] == '#' {
		return
	}
	h := p.header
	row := p.row()
	label, field := float32(Unlabelled), 0
	var query, document, group []byte
	for i := 0; i <= len(b); field++ {
		if field < len(h.feature) && h.feature[field] >= 0 {
			// A plain number, as most are; anything else goes the long way.
			if v, n, err := parseFloat32(b[i:]); err == nil && (i+n == len(b) || b[i+n] == h.comma) {
				row[h.feature[field]] = v
				i += n + 1
				continue
			}
		}
		value, next, err := csvField(b, i, h.comma)
		if err != nil {
			p.fail(i, "%v", err)
			return
		}
		switch {
		case field >= len(h.feature):
			p.fail(i, "more fields than the %d of the header", len(h.feature))
			return
		case h.feature[field] >= 0:
			v, err := csvNumber(value)
			if err != nil {
				p.fail(i, "field %s: %v", quote(value), err)
				return
			}
			row[h.feature[field]] = v
		case field == h.label:
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
		case field == h.query:
			if query = bytes.TrimSpace(value); len(query) == 0 {
				p.fail(i, "no query id")
				return
			}
		case field == h.document:
			document = bytes.TrimSpace(value)
		case field == h.group:
			group = bytes.TrimSpace(value)
		}
		i = next
	}
	if field < len(h.feature) {
		p.fail(len(b), "%d fields, but the header has %d", field, len(h.feature))
		return
	}
	p.endRow(label, query, true, document)
	if h.group >= 0 {
		p.c.groups = append(p.c.groups, p.c.groupNumbers.of(group))
	}
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
