// Package letor reads LETOR, SVMlight and SVMrank text.
package letor

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
)

// Format is LETOR, SVMlight and SVMrank text. Text of no other format counts as LETOR.
var Format = table.Format{Endings: []string{".txt", ".dat", ".data", ".svm", ".svmlight", ".libsvm", ".letor"}, Layout: layout}

const maxFeatureID = math.MaxInt32

// notMentioned is the group of a line that does not mention the feature of groups.
const notMentioned = "0"

func layout(_ []byte, o table.Options, _ bool) (*table.Layout, error) {
	switch {
	case o.Headerless:
		return nil, fmt.Errorf("no separated values, which a file without a header was said to have: found no comma, tab or semicolon")
	case o.WeightColumn != "":
		return nil, fmt.Errorf("no weight column %q: LETOR text names no columns; want the weights in a file beside it, named as it plus .weight", o.WeightColumn)
	}
	r := reader{group: -1}
	l := &table.Layout{}
	if o.GroupColumn != "" {
		var err error
		if r.group, err = strconv.Atoi(o.GroupColumn); err != nil || r.group < 0 {
			return nil, fmt.Errorf("no group column %q: LETOR text names no columns; want the id of a feature, each value of which is a group", o.GroupColumn)
		}
		r.groupOnly = !o.Lists(r.group)
		l.GroupFeature = strconv.Itoa(r.group)
	}
	l.Read = r.line
	return l, nil
}

// reader reads lines.
type reader struct {
	group     int  // id of the feature whose values are groups; −1: none
	groupOnly bool // it is not wanted as a feature
}

// line reads one line of LETOR, SVMlight or SVMrank text:
//
//	label [qid:ID] id:value id:value … [# comment]
//
// A blank line or one with only a comment is not a row. Features may come in any
// order; those that are absent are 0, those whose value is NULL, NaN, NA or ? (in
// any letter case) are missing.
func (f reader) line(to *table.Builder, b []byte) {
	i := text.SkipBlanks(b, 0)
	if i == len(b) || b[i] == '#' {
		return
	}
	label, n, err := text.Float32(b[i:])
	if err != nil || !text.Ends(b, i+n) {
		to.Fail(i, "label %s: %v", text.Word(b, i), text.NotANumber(err))
		return
	}
	query, named, i, ok := queryID(to, b, text.SkipBlanks(b, i+n))
	if !ok {
		return
	}
	to.Row()
	group, grouped := []byte(notMentioned), false
	features := text.SkipBlanks(b, i)
	for {
		if i = text.SkipBlanks(b, i); i == len(b) || b[i] == '#' {
			break
		}
		start, id := i, 0
		for i < len(b) && b[i]-'0' <= 9 && id <= maxFeatureID {
			id = id*10 + int(b[i]-'0')
			i++
		}
		if i == start || i == len(b) || b[i] != ':' {
			if id > maxFeatureID {
				to.Fail(start, "feature %s: the id is beyond %d", text.Word(b, start), maxFeatureID)
			} else {
				to.Fail(start, "feature %s: want id:value with a whole number as id", text.Word(b, start))
			}
			return
		}
		i++
		if id == f.group {
			if grouped && !to.LastWins() {
				to.Fail(start, "feature %s: a second value for id %d in this line", text.Word(b, start), id)
				return
			}
			var n int
			if group, n, err = text.Exact(b[i:]); err != nil {
				to.Fail(start, "feature %s: %v", text.Word(b, start), err)
				return
			}
			grouped = true
			if f.groupOnly {
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
			value, n, err = text.Value(b[i:])
		}
		if i += n; err != nil || !text.Ends(b, i) {
			to.Fail(start, "feature %s: %v", text.Word(b, start), text.NotANumber(err))
			return
		}
		if !to.SetNext(id, value) && !to.Set(id, value) {
			to.Fail(start, "feature %s: a second value for id %d in this line", text.Word(b, start), id)
			return
		}
	}
	if i == features && hidesFeatures(b[i:]) {
		to.Commented()
	}
	to.EndRow(label, query, named, documentID(b[i:]))
	if f.group >= 0 {
		to.Group(group, grouped)
	}
}

// queryID is the query id at b[i:], if there is one, and the position after it.
func queryID(to *table.Builder, b []byte, i int) (id []byte, named bool, end int, ok bool) {
	if !bytes.HasPrefix(b[i:], []byte("qid:")) {
		return nil, false, i, true
	}
	start := i + len("qid:")
	for i = start; !text.Ends(b, i); i++ {
	}
	if i == start {
		to.Fail(start, "qid: without an id after the colon")
		return nil, true, i, false
	}
	return b[start:i], true, i, true
}

// hidesFeatures tells whether a comment has words such as 3:0.5 in it.
func hidesFeatures(comment []byte) bool {
	for word := range bytes.FieldsSeq(bytes.TrimLeft(comment, "#")) {
		id, value, _ := bytes.Cut(word, []byte(":"))
		if _, err := strconv.ParseUint(string(id), 10, 31); err != nil {
			continue
		}
		if _, n, err := text.Value(value); err == nil && n == len(value) && n > 0 {
			return true
		}
	}
	return false
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
