package datasets

import (
	"bytes"
	"fmt"
	"strconv"
)

// letorLayout is the layout of LETOR text. Text of no other format counts as LETOR.
func letorLayout(_ []byte, o ReadOptions, _ bool) (*layout, error) {
	switch {
	case o.Headerless:
		return nil, fmt.Errorf("no separated values, which a file without a header was said to have: found no comma, tab or semicolon")
	case o.WeightColumn != "":
		return nil, fmt.Errorf("no weight column %q: LETOR text names no columns; want the weights in a file beside it, named as it plus .weight", o.WeightColumn)
	}
	l := &layout{line: (*parser).letorLine, group: -1}
	if o.GroupColumn != "" {
		var err error
		if l.group, err = strconv.Atoi(o.GroupColumn); err != nil {
			return nil, fmt.Errorf("no group column %q: LETOR text names no columns; want the id of a feature, each value of which is a group", o.GroupColumn)
		}
		l.groupOnly = !(columns{o.FeatureIDs}).lists(l.group)
	}
	return l, nil
}

// letorLine reads one line of LETOR, SVMlight or SVMrank text:
//
//	label [qid:ID] id:value id:value … [# comment]
//
// A blank line or one with only a comment is no row. Features may come in any
// order; those that are absent are 0, those whose value is NULL, NaN, NA or ? (in
// any letter case) are missing.
func (p *parser) letorLine(b []byte) {
	i := skipBlanks(b, 0)
	if i == len(b) || b[i] == '#' {
		return
	}
	label, n, err := parseFloat32(b[i:])
	if err != nil || !ends(b, i+n) {
		p.fail(i, "label %s: %v", token(b, i), orNumber(err))
		return
	}
	i = skipBlanks(b, i+n)

	var query []byte
	named := false
	if bytes.HasPrefix(b[i:], []byte("qid:")) {
		start := i + len("qid:")
		for i = start; !ends(b, i); i++ {
		}
		if query, named = b[start:i], true; len(query) == 0 {
			p.fail(start, "qid: without an id after the colon")
			return
		}
	}

	row, at := p.row(), len(p.c.labels)
	mark := p.c.lines + 1 // of this line alone: a malformed one adds no row
	next := 0             // the column expected: ids mostly come in the order of the line before
	groupID := p.layout.group
	group, grouped := []byte(notMentioned), false
	features := skipBlanks(b, i)
	for {
		if i = skipBlanks(b, i); i == len(b) || b[i] == '#' {
			break
		}
		start, id := i, 0
		for i < len(b) && b[i]-'0' <= 9 && id <= maxFeatureID {
			id = id*10 + int(b[i]-'0')
			i++
		}
		if i == start || i == len(b) || b[i] != ':' {
			if id > maxFeatureID {
				p.fail(start, "feature %s: the id is beyond %d", token(b, start), maxFeatureID)
			} else {
				p.fail(start, "feature %s: want id:value with a whole number as id", token(b, start))
			}
			return
		}
		i++
		if id == groupID {
			if grouped && !p.lastWins {
				p.fail(start, "feature %s: a second value for id %d in this line", token(b, start), id)
				return
			}
			var n int
			if group, n, err = exactNumber(b[i:]); err != nil {
				p.fail(start, "feature %s: %v", token(b, start), err)
				return
			}
			grouped = true
			if p.layout.groupOnly {
				i += n
				continue
			}
		}
		var value float32
		var n int
		var err error
		if i+1 < len(b) && b[i]-'0' <= 9 && b[i+1] == ' ' { // most values of most collections
			value, n = float32(b[i]-'0'), 1
		} else {
			value, n, err = parseValue(b[i:])
		}
		if i += n; err != nil || !ends(b, i) {
			p.fail(start, "feature %s: %v", token(b, start), orNumber(err))
			return
		}

		column := next
		if next >= len(p.order) || p.order[next] != id {
			if column = p.column(id); column < 0 {
				if !p.known.want(id) {
					if p.c.ignored == 0 {
						p.c.least, p.c.most = id, id
					}
					p.c.ignored, p.c.least, p.c.most = p.c.ignored+1, min(p.c.least, id), max(p.c.most, id)
					continue
				}
				if column = p.addColumn(id); p.c.err != nil {
					return
				}
				row = p.values[at*p.stride : (at+1)*p.stride]
			}
		}
		if p.stamp[column] == mark && !p.lastWins {
			p.fail(start, "feature %s: a second value for id %d in this line", token(b, start), id)
			return
		}
		p.stamp[column] = mark
		row[column] = value
		next = column + 1
	}
	if i == features && hidesFeatures(b[i:]) {
		if p.c.commented == 0 {
			p.c.firstCommented = p.c.lines
		}
		p.c.commented++
	}
	p.endRow(label, query, named, documentID(b[i:]))
	if groupID >= 0 {
		p.c.grouped = p.c.grouped || grouped
		p.c.groups = append(p.c.groups, p.c.groupNumbers.of(group))
	}
}

// hidesFeatures tells whether a comment has words such as 3:0.5 in it.
func hidesFeatures(comment []byte) bool {
	for word := range bytes.FieldsSeq(bytes.TrimLeft(comment, "#")) {
		id, value, _ := bytes.Cut(word, []byte(":"))
		if _, err := strconv.ParseUint(string(id), 10, 31); err != nil {
			continue
		}
		if _, n, err := parseValue(value); err == nil && n == len(value) && n > 0 {
			return true
		}
	}
	return false
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func skipBlanks(b []byte, i int) int {
	for i < len(b) && isBlank(b[i]) {
		i++
	}
	return i
}

// ends reports whether a word may end before b[i].
func ends(b []byte, i int) bool { return i == len(b) || isBlank(b[i]) || b[i] == '#' }

// token is the word at b[i:], quoted for a message and cut if it is long.
func token(b []byte, i int) string {
	end := i
	for !ends(b, end) {
		end++
	}
	return quote(b[i:end])
}

// documentID is X of a comment "#docid = X …", as in LETOR's own files, else nil.
func documentID(comment []byte) []byte {
	_, rest, ok := bytes.Cut(comment, []byte("docid"))
	if !ok {
		return nil
	}
	rest = bytes.TrimLeft(rest, " \t")
	if len(rest) == 0 || rest[0] != '=' {
		return nil
	}
	words := bytes.Fields(rest[1:])
	if len(words) == 0 {
		return nil
	}
	return words[0]
}
