package reader

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/text"
)

// LETOR is the format of LETOR, SVMlight and SVMrank text. Text that is in no other format counts as LETOR.
func LETOR(line, _ []byte, o Options, sidecar Sidecar) (*Layout, error) {
	switch {
	case text.IsComment(line):
		return nil, nil
	case o.Headerless:
		return nil, errors.New("option Headerless (-headerless) needs separated values: the first line has no comma, tab or semicolon")
	}
	for _, r := range roles {
		if column := r.given(&o); column != "" {
			return nil, fmt.Errorf("no %s column %q: LETOR text names no columns; want %s", r.what, column, r.letor)
		}
	}
	l := &Layout{Read: readLETOR, Names: sidecar.Names}
	var err error
	if l.Wants, err = wants(o, sidecar.Names); err != nil {
		return nil, err
	}
	for i, levels := range o.Levels { // a value that is left out is the level 0, if there is one
		if text.FixedLevels(levels, false).NumberValue(0) > 0 {
			l.Zero = append(l.Zero, o.FeatureIDs[i])
		}
	}
	if l.Vectors = o.Vectors; l.Vectors != nil {
		err = l.addProductsOfLETOR(&o)
	}
	return l, err
}

// addProductsOfLETOR adds the products of vectors that are in files of their own.
func (l *Layout) addProductsOfLETOR(o *Options) (err error) {
	for _, v := range l.Vectors {
		if v.File == "" {
			return fmt.Errorf("no column of vectors %q: LETOR text names no columns (-vector %[1]s=FILE reads them from a file)", v.Name)
		}
	}
	found := schema.Columns{}
	if o.Schema != nil {
		if found, err = o.Schema(l.describe(schema.Header{Unused: true, OfFeatures: o.FeatureIDs != nil})); err != nil {
			return err
		}
	}
	if l.Names = maps.Clone(l.Names); l.Names == nil {
		l.Names = map[int]string{}
	}
	if err := l.addProducts(o, &found); err != nil {
		return err
	}
	l.Zero = append(l.Zero, l.ProductIDs...)
	return nil
}

// wants returns which features are to be read, by the options and the names in the file next to the data, if there is one.
func wants(o Options, called map[int]string) (func(id int) bool, error) {
	for i, name := range o.FeatureNames {
		id := o.FeatureIDs[i]
		if o.OfModel && blanked(called[id]) == name {
			called[id] = name
		}
		if called[id] != name && called[id] != "" {
			return nil, fmt.Errorf("feature %d is named %q in the file of names, but %q is wanted", id, called[id], name)
		}
	}
	if o.FeatureIDs != nil || o.Features == nil && o.Ignore == nil {
		return o.Wants, o.checkChoice()
	}
	features, err := idsOf(o.Features, called)
	if err != nil {
		return nil, err
	}
	ignored, err := idsOf(o.Ignore, called)
	return func(id int) bool { return (o.Features == nil || features[id]) && !ignored[id] }, err
}

// idsOf are the ids that words stand for.
func idsOf(words []string, called map[int]string) (map[int]bool, error) {
	ids := slices.Sorted(maps.Keys(called))
	var names []string
	for _, id := range ids {
		names = append(names, called[id])
	}
	is := map[int]bool{}
	for _, word := range words {
		chosen, err := Choose(word, ids, names)
		switch id, isID := text.ParseFeatureID(word); {
		case err == nil:
			for _, i := range chosen {
				is[ids[i]] = true
			}
		case isID:
			is[id] = true // maybe without a name
		case called == nil:
			return nil, fmt.Errorf("no feature %q: LETOR text names no features; want ids, or a file of names next to it, named as it plus .names",
				word)
		default:
			return nil, err
		}
	}
	return is, nil
}

// readLETOR reads one line of LETOR, SVMlight or SVMrank text:
//
//	label [qid:ID] id:value id:value … [# comment]
//
// A blank line or one with only a comment is not a row. Features may come in any
// order. Absent features are 0. The values NULL, NaN, NA and ? (in any letter case) are
// missing.
func readLETOR(to *Builder, b []byte) {
	if text.IsComment(b) {
		return
	}
	i := text.SkipBlanks(b, 0)
	label, n, err := text.Float32(b[i:])
	if err != nil || !text.Ends(b, i+n) {
		word := text.Word(b, i)
		to.Fail(i, "label %s: %v%s", text.Quote(word), cmp.Or(err, text.ErrNumber), text.Hint(word))
		return
	}
	if !to.isLabel(label) {
		to.Fail(i, "label %v: want %s", label, WantGrade)
		return
	}
	i = text.SkipBlanks(b, i+n)
	var query []byte
	if bytes.HasPrefix(b[i:], []byte("qid:")) {
		i += len("qid:")
		if query = text.Word(b, i); len(query) == 0 {
			to.Fail(i, "qid: without an id after the colon")
			return
		}
		i = text.SkipBlanks(b, i+len(query))
	}
	to.Row()
	to.label, to.query = label, query
	end, ok := readFeatures(to, b, i)
	if !ok {
		return
	}
	if id := to.sortFeatures(); id >= 0 {
		fail(to, b, secondOf(b, id), fmt.Errorf("a second value for id %d in this line", id))
		return
	}
	if end == i && hidesFeatures(b[i:]) {
		to.Commented()
	}
	to.document = documentID(b[end:])
	to.EndRow()
}

// readFeatures reads the features at b[i:], and gives the position after them, where the line or
// a comment begins. Not ok: one was malformed.
func readFeatures(to *Builder, b []byte, i int) (end int, ok bool) {
	for {
		if i = text.SkipBlanks(b, i); i == len(b) || b[i] == '#' {
			return i, true
		}
		start, number := i, uint64(0)
		for i < len(b) && b[i]-'0' <= 9 && number <= text.MaxFeatureID {
			number = number*10 + uint64(b[i]-'0')
			i++
		}
		switch {
		case number > text.MaxFeatureID:
			return i, fail(to, b, start, fmt.Errorf("the id is beyond %d", text.MaxFeatureID))
		case i == start || i == len(b) || b[i] != ':':
			return i, fail(to, b, start, errors.New("want id:value with a whole number as id"))
		}
		id := int(number)
		i++
		var value float32
		var n int
		var err error
		if i+1 < len(b) && b[i]-'0' <= 9 && b[i+1] == ' ' { // most values of most collections
			value, n = float32(b[i]-'0'), 1
		} else {
			value, n, err = text.Value(b[i:])
			to.noteLarge(id, value, b[i:i+n])
		}
		if i += n; err != nil {
			return i, fail(to, b, start, err)
		}
		to.Set(id, value)
	}
}

// fail notes that the feature at b[start:] is malformed. It returns false.
func fail(to *Builder, b []byte, start int, err error) bool {
	word := text.Word(b, start)
	_, value, _ := bytes.Cut(word, []byte(":"))
	to.Fail(start, "feature %s: %v%s", text.Quote(word), err, text.Hint(value))
	return false
}

// secondOf returns where a line has the second value for a feature.
func secondOf(b []byte, id int) (at int) {
	for found := 0; at < len(b); at = text.SkipBlanks(b, at+len(text.Word(b, at))) {
		digits, _, is := bytes.Cut(text.Word(b, at), []byte(":"))
		if n, err := strconv.Atoi(string(digits)); is && err == nil && n == id {
			if found++; found == 2 {
				break
			}
		}
	}
	return at
}

// hidesFeatures reports whether a comment has words such as 3:0.5 in it.
func hidesFeatures(comment []byte) bool {
	for word := range bytes.FieldsSeq(bytes.TrimLeft(comment, "#")) {
		id, value, _ := bytes.Cut(word, []byte(":"))
		if _, isID := text.ParseFeatureID(string(id)); !isID {
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
	_, rest, _ := bytes.Cut(comment, []byte("docid"))
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte("="))
	if words := bytes.Fields(rest); ok && len(words) > 0 {
		return words[0]
	}
	return nil
}
