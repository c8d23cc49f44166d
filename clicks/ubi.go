package clicks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/plrank/plrank/internal/jsonread"
)

// A ubiLine is a line of a log in the form of UBI 1.3: a query or an event.
type ubiLine struct {
	ActionName string // of an event
	QueryID    string
	ClientID   string
	UserQuery  string
	Timestamp  string
	Object     string // event_attributes.object.object_id
	Ordinal    int    // event_attributes.position.ordinal, from 0 or 1; −1: none
	Hits       []byte // query_response_hit_ids
	Attributes []byte // query_attributes
	Bulk       bool   // a line between the documents of OpenSearch's bulk format
}

// attributes holds what UBI has no place for, under query_attributes.plrank. Lists that many
// lines share are decoded once.
type attributes struct {
	Model        string
	Version      string
	Seed         uint64 // as text: many programs read numbers as float64
	Cutoff       int
	Temperature  float64
	Rules        []byte  // of plackett.Rules; absent: none
	Logged       float64 // log_probability
	Drawn        []int   // indices of candidates, top first; absent: as shown
	Candidates   []byte  // ids of documents; absent: those shown
	Scores       []byte  // by candidate
	Features     []byte  // candidates × columns, row-major; null is a missing value, a text is a category
	FeatureIDs   []int
	FeatureNames []string

	Models        []byte // of an interleaving, see contributors
	Teams         []int  // by rank
	Probabilities []float64
	By            int
}

// parseLine reads a line. Its raw messages are parts of it.
func parseLine(line *jsonread.Reader) (*ubiLine, error) {
	l := &ubiLine{Ordinal: -1}
	bulk := func([]byte) error { l.Bulk = true; return nil }
	return l, fields{
		{"action_name", to(&l.ActionName, parseText)}, {"query_id", to(&l.QueryID, parseText)}, {"client_id", to(&l.ClientID, parseText)},
		{"user_query", to(&l.UserQuery, parseText)}, {"timestamp", to(&l.Timestamp, parseText)},
		{"query_response_hit_ids", to(&l.Hits, unparsed)}, {"query_attributes", to(&l.Attributes, unparsed)},
		{"event_attributes", fields{{"object", fields{{"object_id", to(&l.Object, parseText)}}.read},
			{"position", optional(fields{{"ordinal", to(&l.Ordinal, parseOrdinal)}})}}.read},
		{"index", bulk}, {"create", bulk},
	}.readFrom(line)
}

// parseOrdinal returns −1 for what is not a rank: other programs write what they like there.
func parseOrdinal(value []byte) (int, error) {
	n := -1
	if text, err := parseText(value); err == nil {
		if v, err := strconv.Atoi(text); err == nil {
			n = max(n, v)
		}
	}
	return n, nil
}

// optional returns a function that reads an object, and leaves out what is none.
func optional(f fields) func([]byte) error {
	return func(value []byte) error {
		if value[0] != '{' {
			return nil
		}
		return f.read(value)
	}
}

// parseAttributes reads query_attributes: what is under plrank, nil if that is missing, and the text under the name of a
// segment.
func parseAttributes(value []byte, segmentName string) (a *attributes, segment string, err error) {
	if len(value) == 0 {
		return nil, "", nil
	}
	err = fields{{segmentName, to(&segment, parseText)}, {"plrank", func(value []byte) error {
		a = &attributes{}
		return fields{
			{"model", to(&a.Model, parseText)}, {"version", to(&a.Version, parseText)}, {"seed", to(&a.Seed, parseSeed)},
			{"cutoff", to(&a.Cutoff, parseJSON)}, {"temperature", to(&a.Temperature, parseJSON)}, {"drawn", to(&a.Drawn, parseJSON)},
			{"rules", to(&a.Rules, unparsed)}, {"log_probability", to(&a.Logged, parseJSON)},
			{"candidates", to(&a.Candidates, unparsed)}, {"scores", to(&a.Scores, unparsed)}, {"features", to(&a.Features, unparsed)},
			{"feature_ids", to(&a.FeatureIDs, parseJSON)}, {"feature_names", to(&a.FeatureNames, parseTexts)},
			{"interleaved", fields{{"models", to(&a.Models, unparsed)}, {"teams", to(&a.Teams, parseJSON)}, {"by", to(&a.By, parseJSON)},
				{"probabilities", to(&a.Probabilities, parseJSON)}}.read},
		}.read(value)
	}}}.read(value)
	return a, segment, err
}

// parseContributors reads the models of an interleaving.
func parseContributors(array []byte) ([]Contributor, error) {
	return parseList(array, func(entry []byte) (m Contributor, err error) {
		return m, fields{{"name", to(&m.Name, parseText)}, {"version", to(&m.Version, parseText)}, {"weight", to(&m.Weight, parseJSON)},
			{"scores", to(&m.Scores, parseScores)}}.read(entry)
	})
}

// appendInterleaving appends how several models made a ranking.
func appendInterleaving(dst []byte, v *Interleaving) []byte {
	dst = appendList(append(dst, `,"interleaved":{"models":`...), v.Models, func(dst []byte, m Contributor) []byte {
		dst = appendString(append(dst, `{"name":`...), m.Name)
		dst = appendString(append(dst, `,"version":`...), m.Version)
		dst = appendFloat(append(dst, `,"weight":`...), m.Weight)
		return append(appendList(append(dst, `,"scores":`...), m.Scores, appendFloat), '}')
	})
	if v.Teams == nil {
		return append(appendInt(append(dst, `,"by":`...), v.By), '}')
	}
	dst = appendList(append(dst, `,"teams":`...), v.Teams, appendInt)
	return append(appendList(append(dst, `,"probabilities":`...), v.Probabilities, appendFloat), '}')
}

// fields lists the members of an object that are read. Package encoding/json would accept other cases of a name, and take
// the last of two values.
type fields []member

type member struct {
	name string
	set  func(value []byte) error
}

// read reads an object. A member that is null or an empty text counts as absent. It returns an error if a name occurs
// twice, or in another case: which value was meant would be a guess.
func (f fields) read(object []byte) error { return f.readFrom(jsonread.NewLenient(object)) }

func (f fields) readFrom(r *jsonread.Reader) error {
	if kind := r.Kind(); kind != '{' && kind != 0 { // 0: there is none, as End says
		return errors.New("want an object")
	}
	var seen uint
	for name := range r.Names() {
		value := r.Value()
		if len(value) == 0 || string(value) == "null" || string(value) == `""` {
			continue
		}
		i := slices.IndexFunc(f, func(m member) bool { return strings.EqualFold(m.name, string(name)) })
		if i < 0 {
			continue
		}
		if f[i].name != string(name) {
			return fmt.Errorf("the name %.100q: want %q", name, f[i].name)
		}
		if seen&(1<<i) != 0 {
			return fmt.Errorf("%q occurs twice", name)
		}
		if err := f[i].set(value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		seen |= 1 << i
	}
	return r.End()
}

// to returns a function that sets a variable to a value, as parse reads it.
func to[T any](variable *T, parse func(value []byte) (T, error)) func([]byte) error {
	return func(value []byte) (err error) {
		*variable, err = parse(value)
		return err
	}
}

func unparsed(value []byte) ([]byte, error) { return value, nil }

func parseJSON[T any](value []byte) (v T, err error) { return v, json.Unmarshal(value, &v) }

func parseSeed(value []byte) (uint64, error) {
	digits, err := parseText(value)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(digits, 10, 64)
}

// parseText reads a string, or the digits of a number: some programs write ids as numbers. It is empty for null.
func parseText(b []byte) (string, error) {
	switch {
	case b[0] == '"':
		return jsonread.Unquote(b)
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		if v, err := strconv.ParseFloat(string(b), 64); err == nil && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatInt(int64(v), 10), nil // 7.0 is 7, as tables of floats have ids
		}
		return string(b), nil
	case string(b) == "null":
		return "", nil
	}
	return "", fmt.Errorf("%.20s is neither a text nor a number", b)
}

// parseList reads an array; empty JSON stands for none.
func parseList[T any](array []byte, parse func(entry []byte) (T, error)) ([]T, error) {
	switch {
	case len(array) == 0:
		return nil, nil
	case array[0] != '[':
		return nil, errors.New("want an array")
	}
	list := make([]T, 0, bytes.Count(array, []byte{','})+1)
	for i, value := range jsonread.NewLenient(array).Elements() {
		v, err := parse(value)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		list = append(list, v)
	}
	return list, nil
}

func parseTexts(array []byte) ([]string, error) { return parseList(array, parseText) }

// parseScores reads numbers, and null, which is NaN.
func parseScores(array []byte) ([]float64, error) {
	return parseList(array, func(entry []byte) (float64, error) {
		if string(entry) == "null" {
			return math.NaN(), nil
		}
		return strconv.ParseFloat(string(entry), 64)
	})
}

// parseTime reads a time in ISO 8601, with or without a zone, or a number since 1970. UBI's schema has milliseconds, but
// some programs write seconds, microseconds or nanoseconds. The size of the number decides, up to the year 5138.
func parseTime(t string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, t); err == nil {
			return at.UTC(), nil
		}
	}
	since, err := strconv.ParseFloat(t, 64)
	for _, unit := range []struct{ perSecond, below float64 }{{1, 1e11}, {1e3, 1e14}, {1e6, 1e17}, {1e9, 1e20}} {
		if err == nil && math.Abs(since) < unit.below {
			return time.UnixMicro(int64(math.Round(since / unit.perSecond * 1e6))).UTC(), nil // a float64 has no nanoseconds
		}
	}
	return time.Time{}, fmt.Errorf("invalid timestamp %q", t)
}

// AppendQuery appends to dst the line of an impression, without its clicks: a query of UBI 1.3
// (github.com/o19s/ubi) with query_response_hit_ids in the order shown, and what propensities
// need under query_attributes.plrank. The log describes the columns of the features; its
// impressions are not used. AppendQuery returns an error if the impression has no ID, or
// another number of columns.
func AppendQuery(dst []byte, im *Impression, log *Log) ([]byte, error) {
	var features []byte
	if err := log.checkColumns(im.width()); err != nil {
		return dst, fmt.Errorf("clicks: impression %q: %w", im.ID, err)
	}
	if im.Features != nil {
		features = append(features, '[')
		for i, v := range im.Features {
			if i > 0 {
				features = append(features, ',')
			}
			var levels []string
			if len(log.Levels) > 0 {
				levels = log.Levels[i%len(log.Levels)]
			}
			var err error
			if features, err = AppendFeature(features, v, levels); err != nil {
				return dst, fmt.Errorf("clicks: impression %q: %w", im.ID, err)
			}
		}
		features = append(features, ']')
	}
	return AppendQueryJSON(dst, im, features, log)
}

// AppendFeature appends to dst the value of a feature in JSON, as it is logged: a number, or null if it is missing. For a
// feature with levels it appends the text that the value stands for: "" if that is not known, and [""] for the empty text.
func AppendFeature(dst []byte, v float32, levels []string) ([]byte, error) {
	switch {
	case v != v:
		return append(dst, "null"...), nil
	case levels == nil && math.IsInf(float64(v), 0):
		return dst, fmt.Errorf("feature %v is not finite", v)
	case levels == nil:
		return strconv.AppendFloat(dst, float64(v), 'g', -1, 32), nil
	case v == 0:
		return append(dst, `""`...), nil
	case !isLevel(v, levels):
		return dst, fmt.Errorf("feature value %v is not one of the column's %d level numbers", v, len(levels))
	}
	level := levels[int(v)-1]
	if level == "" {
		return append(dst, emptyText...), nil
	}
	return appendString(dst, level), checkText("the text of a category", level)
}

// isLevel reports whether a value stands for one of the texts.
func isLevel(v float32, levels []string) bool {
	return v >= 1 && v <= float32(len(levels)) && v == float32(int(v))
}

// AppendQueryJSON appends the line of [AppendQuery] with features that are JSON already, as in a
// request: an array [documents × columns] of what [AppendFeature] writes, row-major, on one
// line. The array is copied, which is much faster than writing numbers, and im.Features are not
// used. If it is empty, no features are logged.
func AppendQueryJSON(dst []byte, im *Impression, features []byte, log *Log) ([]byte, error) {
	if im.ID == "" {
		return dst, errors.New("clicks: an impression without ID: its clicks could not be joined")
	}
	err := im.check(make([]bool, len(im.Documents)))
	if err == nil {
		err = cmp.Or(checkText("the ID", im.ID), checkText("Client", im.Client), checkText("Query", im.Query), checkText("Model", im.Model),
			checkText("Segment", im.Segment),
			checkText("Version", im.Version), checkText("the ID of a document", im.Documents...), checkText("a feature name", log.FeatureNames...))
	}
	if err != nil {
		return dst, fmt.Errorf("clicks: impression %q: %w", im.ID, err)
	}
	if im.Interleaving != nil {
		for _, m := range im.Interleaving.Models {
			if err := checkText("the name or version of a model", m.Name, m.Version); err != nil {
				return dst, fmt.Errorf("clicks: impression %q: %w", im.ID, err)
			}
		}
	}
	start := len(dst)
	dst = appendIDs(append(dst, '{'), im, im.Time)
	dst = appendList(append(dst, `,"query_response_hit_ids":`...), im.Shown,
		func(dst []byte, d int) []byte { return appendString(dst, im.Documents[d]) })
	dst = append(dst, `,"query_attributes":{`...)
	if im.Segment != "" {
		dst = append(appendString(append(dst, `"segment":`...), im.Segment), ',')
	}
	if dst, err = appendPolicy(dst, im); err != nil {
		return dst[:start], fmt.Errorf("clicks: impression %q: %w", im.ID, err)
	}
	dst = appendList(append(dst, `,"drawn":`...), im.Shown, appendInt)
	dst = appendList(append(dst, `,"candidates":`...), im.Documents, appendString)
	if im.Scores != nil {
		dst = appendList(append(dst, `,"scores":`...), im.Scores, appendFloat)
	}
	if im.Interleaving != nil {
		dst = appendInterleaving(dst, im.Interleaving)
	}
	if len(features) > 0 {
		dst = append(append(dst, `,"features":`...), features...)
		if log.FeatureIDs != nil {
			dst = appendList(append(dst, `,"feature_ids":`...), log.FeatureIDs, appendInt)
		}
		if log.FeatureNames != nil {
			dst = appendList(append(dst, `,"feature_names":`...), log.FeatureNames, appendString)
		}
	}
	dst = append(dst, "}}}\n"...)
	if n := len(dst) - start; n > longestLine {
		return dst[:start], fmt.Errorf("clicks: impression %q: a line of %d bytes, want at most %d", im.ID, n, longestLine)
	}
	return dst, nil
}

// appendPolicy appends how a ranking was drawn.
func appendPolicy(dst []byte, im *Impression) ([]byte, error) {
	dst = appendString(append(dst, `"plrank":{"model":`...), im.Model)
	dst = appendString(append(dst, `,"version":`...), im.Version)
	dst = strconv.AppendUint(append(dst, `,"seed":"`...), im.Seed, 10)
	dst = appendInt(append(dst, `","cutoff":`...), im.Cutoff)
	if im.Temperature != 0 {
		dst = appendFloat(append(dst, `,"temperature":`...), im.Temperature)
	}
	if im.Rules != nil {
		rules, err := json.Marshal(im.Rules)
		if err != nil {
			return dst, fmt.Errorf("rules: %w", err)
		}
		dst = append(append(dst, `,"rules":`...), rules...)
	}
	if im.LogProbability != 0 {
		dst = appendFloat(append(dst, `,"log_probability":`...), im.LogProbability)
	}
	return dst, nil
}

// appendIDs appends the members that queries and events have alike.
func appendIDs(dst []byte, im *Impression, at time.Time) []byte {
	dst = appendString(append(dst, `"query_id":`...), im.ID)
	if im.Client != "" {
		dst = appendString(append(dst, `,"client_id":`...), im.Client)
	}
	dst = appendString(append(dst, `,"user_query":`...), im.Query)
	return append(at.AppendFormat(append(dst, `,"timestamp":"`...), time.RFC3339Nano), '"')
}

// appendList appends an array in JSON.
func appendList[T any](dst []byte, list []T, one func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, v)
	}
	return append(dst, ']')
}

func appendInt(dst []byte, v int) []byte { return strconv.AppendInt(dst, int64(v), 10) }

func appendFloat(dst []byte, v float64) []byte { return strconv.AppendFloat(dst, v, 'g', -1, 64) }

// checkText returns an error if one of the texts cannot be written in JSON, which has nothing but UTF-8: a reader would get
// another text.
func checkText(what string, texts ...string) error {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return fmt.Errorf("%s is %.100q: want text in UTF-8", what, t)
		}
	}
	return nil
}

// appendString appends a string in JSON, which [checkText] has passed. Most are plain.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // of a string, without an error
			return append(dst, quoted...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

// AppendClick appends to dst the line of a click on the document at a rank, from 1, of an
// impression: an event of UBI 1.3.
func AppendClick(dst []byte, im *Impression, rank int, at time.Time) ([]byte, error) {
	if rank < 1 || rank > len(im.Shown) {
		return dst, fmt.Errorf("clicks: impression %q: a click at rank %d of %d", im.ID, rank, len(im.Shown))
	}
	document := im.Documents[im.Shown[rank-1]]
	if err := cmp.Or(checkText("the ID", im.ID), checkText("Client", im.Client), checkText("Query", im.Query),
		checkText("the ID of a document", document)); err != nil {
		return dst, fmt.Errorf("clicks: impression %q: %w", im.ID, err)
	}
	dst = appendIDs(append(dst, `{"action_name":"click",`...), im, at)
	dst = appendString(append(dst, `,"event_attributes":{"object":{"object_id":`...), document)
	dst = appendInt(append(dst, `},"position":{"ordinal":`...), rank)
	return append(dst, "}}}\n"...), nil
}

// longestLine bounds a line: a query of 100,000 documents with some hundred features.
const longestLine = 1 << 28

// UBI's limits of texts, in characters.
const (
	longestID       = 100 // and other names
	longestObjectID = 256
)

// AppendEvent appends to dst the line of an event of UBI 1.3, a JSON object as an application sends it. All members are
// kept. An event without a timestamp gets the time at. AppendEvent returns an error if [Read] could not use the line: if
// action_name is missing, or query_id or object_id of a click, or is longer than UBI allows, if the timestamp is invalid,
// if a text is not Unicode, if a name that is read is spelt in another case or occurs twice, or if the line is too long.
func AppendEvent(dst, event []byte, at time.Time) ([]byte, error) {
	line, err := parseLine(jsonread.New(event))
	if err != nil {
		return dst, fmt.Errorf("clicks: not an event of UBI: %w", err)
	}
	click := line.ActionName == "click"
	for _, f := range []struct {
		name   string
		value  string
		needed bool
		most   int
	}{
		{"action_name", line.ActionName, true, longestID}, {"query_id", line.QueryID, click, longestID},
		{"client_id", line.ClientID, false, longestID},
		{"event_attributes.object.object_id", line.Object, click, longestObjectID},
	} {
		if f.needed && f.value == "" {
			return dst, fmt.Errorf("clicks: no %s", f.name)
		}
		if n := utf8.RuneCountInString(f.value); n > f.most {
			return dst, fmt.Errorf("clicks: %s has %d characters, want at most %d", f.name, n, f.most)
		}
	}
	if line.Timestamp != "" {
		if _, err := parseTime(line.Timestamp); err != nil {
			return dst, fmt.Errorf("clicks: %w", err)
		}
	}
	start := len(dst)
	b := bytes.NewBuffer(dst)
	if err := json.Compact(b, event); err != nil {
		return dst, fmt.Errorf("clicks: %w", err)
	}
	if dst = b.Bytes(); line.Timestamp == "" {
		dst = append(at.AppendFormat(append(dst[:len(dst)-1], `,"timestamp":"`...), time.RFC3339Nano), `"}`...)
	}
	if n := len(dst) - start; n > longestLine {
		return dst[:start], fmt.Errorf("clicks: an event of %d bytes, want at most %d", n, longestLine)
	}
	return append(dst, '\n'), nil
}
