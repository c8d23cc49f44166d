package clicks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// parseOrdinal returns a rank, or −1 for anything else: other programs write what they like there.
func parseOrdinal(value []byte) (int, error) {
	n := -1
	if text, err := parseText(value); err == nil {
		if v, err := strconv.Atoi(text); err == nil {
			n = max(n, v)
		}
	}
	return n, nil
}

// optional returns a function that reads an object, and ignores other values.
func optional(f fields) func([]byte) error {
	return func(value []byte) error {
		if value[0] != '{' {
			return nil
		}
		return f.read(value)
	}
}

// parseAttributes reads query_attributes: the member plrank, nil if it is missing, and the text under the name of a
// segment.
func parseAttributes(value []byte, segmentName string) (p *policyJSON, segment string, err error) {
	if len(value) == 0 {
		return nil, "", nil
	}
	err = fields{{segmentName, to(&segment, parseText)}, {"plrank", func(value []byte) error {
		err := json2.Unmarshal(value, &p)
		if text := jsontext.Value(value); err != nil && !text.IsValid() && text.IsValid(jsontext.AllowInvalidUTF8(true)) {
			return jsonread.ErrText
		}
		return err
	}}}.read(value)
	return p, segment, err
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
	err := log.checkColumns(im.width())
	var features []byte
	if err == nil {
		features, err = im.featuresJSON(log)
	}
	if err != nil {
		return dst, fmt.Errorf("clicks: impression %q: %w", im.ID, err)
	}
	return AppendQueryJSON(dst, im, features, log)
}

// featuresJSON returns the features for [AppendQueryJSON].
func (im *Impression) featuresJSON(log *Log) (text []byte, err error) {
	for i, v := range im.Features {
		var levels []string
		if len(log.Levels) > 0 {
			levels = log.Levels[i%len(log.Levels)]
		}
		if text, err = AppendFeature(append(text, ','), v, levels); err != nil {
			return nil, err
		}
	}
	for d := 0; im.Sparse != nil && d < im.Sparse.Len(); d++ {
		columns, values := im.Sparse.Row(d)
		if text, err = AppendSparse(append(text, ','), func(yield func(string, float32) bool) {
			for i, c := range columns {
				yield(log.featureName(int(c)), values[i])
			}
		}); err != nil {
			return nil, err
		}
	}
	if text != nil {
		text[0] = '['
		text = append(text, ']')
	}
	return text, nil
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
	if level := levels[int(v)-1]; level != "" {
		return jsontext.AppendQuote(dst, level)
	}
	return append(dst, emptyText...), nil
}

// AppendSparse appends to dst the features of a sparse document in JSON, as they are logged: an object of those that are not 0.
func AppendSparse(dst []byte, features iter.Seq2[string, float32]) (_ []byte, err error) {
	dst = append(dst, '{')
	for name, v := range features {
		if err != nil {
			continue
		}
		if dst, err = jsontext.AppendQuote(dst, name); err == nil {
			dst, err = AppendFeature(append(dst, ':'), v, nil)
			dst = append(dst, ',')
		}
	}
	return append(bytes.TrimSuffix(dst, []byte{','}), '}'), err
}

// isLevel reports whether a value stands for one of the texts.
func isLevel(v float32, levels []string) bool {
	return v >= 1 && v <= float32(len(levels)) && v == float32(int(v))
}

// AppendQueryJSON appends the line of [AppendQuery] with features that are JSON already, as in a
// request: an array [documents × columns] of what [AppendFeature] writes, row-major, or of what [AppendSparse]
// writes for each document, on one line. The array is copied, which is much faster than writing numbers, and im.Features are not
// used. If it is empty, no features are logged.
func AppendQueryJSON(dst []byte, im *Impression, features []byte, log *Log) ([]byte, error) {
	if im.ID == "" {
		return dst, errors.New("clicks: an impression without ID: its clicks could not be joined")
	}
	if err := im.check(make([]bool, len(im.Documents))); err != nil {
		return dst, fmt.Errorf("clicks: impression %q: %w", im.ID, err)
	}
	q := queryLine{lineIDs: im.ids(im.Time)}
	for _, d := range im.Shown {
		q.Hits = append(q.Hits, im.Documents[d])
	}
	q.Attributes.Segment = im.Segment
	p := &q.Attributes.Policy
	*p = policyJSON{Model: looseText(im.Model), Version: looseText(im.Version), Seed: looseText(strconv.FormatUint(im.Seed, 10)),
		Cutoff: im.Cutoff, Temperature: im.Temperature, LogProbability: im.LogProbability, Arm: im.Arm, Drawn: im.Shown,
		Candidates: shared{value: im.Documents}}
	if im.Scores != nil {
		p.Scores.value = im.Scores
	}
	if im.Rules != nil {
		p.Rules.value = im.Rules
	}
	if v := im.Interleaving; v != nil {
		var models []contributorJSON
		for _, m := range v.Models {
			models = append(models, contributorJSON{m, shared{value: m.Scores}})
		}
		p.Interleaved = &interleavingJSON{Models: shared{value: models}, By: v.By, Teams: v.Teams, Probabilities: v.Probabilities}
	}
	switch {
	case len(features) == 0:
	case len(features) < 2 || features[1] != '{':
		p.FeatureIDs, p.FeatureNames = log.FeatureIDs, log.FeatureNames
	case log.FeatureNames != nil:
		p.FeaturesBy = byName
	default:
		p.FeaturesBy = byID
	}
	line, err := appendLine(dst, im, q)
	if err == nil && len(features) > 0 {
		const end = "}}}\n" // of the policy, the attributes and the query
		line = append(append(append(line[:len(line)-len(end)], `,"features":`...), features...), end...)
	}
	if n := len(line) - len(dst); err == nil && n > longestLine {
		return dst, fmt.Errorf("clicks: impression %q: a line of %d bytes, want at most %d", im.ID, n, longestLine)
	}
	return line, err
}

// A queryLine is a query of UBI as [AppendQuery] writes it.
type queryLine struct {
	lineIDs
	Hits       []string `json:"query_response_hit_ids"`
	Attributes struct {
		Segment string     `json:"segment,omitzero"`
		Policy  policyJSON `json:"plrank"`
	} `json:"query_attributes"`
}

// policyJSON says what UBI has no place for: how a ranking was drawn, and from what.
type policyJSON struct {
	Model          looseText         `json:"model"`
	Version        looseText         `json:"version"`
	Seed           looseText         `json:"seed"` // many programs read numbers as float64
	Cutoff         int               `json:"cutoff"`
	Temperature    float64           `json:"temperature,omitzero"`
	Rules          shared            `json:"rules,omitzero"` // plackett.Rules
	LogProbability float64           `json:"log_probability,omitzero"`
	Arm            float64           `json:"arm_probability,omitzero"`
	Drawn          []int             `json:"drawn"`      // indices of candidates, top first; absent: as shown
	Candidates     shared            `json:"candidates"` // ids of documents; absent: those shown
	Scores         shared            `json:"scores,omitzero"`
	Interleaved    *interleavingJSON `json:"interleaved,omitzero"`
	FeatureIDs     []int             `json:"feature_ids,omitzero"`
	FeatureNames   []string          `json:"feature_names,omitzero"`
	FeaturesBy     string            `json:"features_by,omitzero"` // of sparse features: byID or byName
	Features       shared            `json:"features,omitzero"`    // candidates × columns, see [AppendFeature]
}

type interleavingJSON struct {
	Models        shared    `json:"models"` // of contributorJSON
	By            int       `json:"by,omitzero"`
	Teams         []int     `json:"teams,omitzero"`
	Probabilities []float64 `json:"probabilities,omitzero"`
}

type contributorJSON struct {
	Contributor
	Scores shared `json:"scores"`
}

// A looseText is a text, or a number for it, which other programs write.
type looseText string

func (t *looseText) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	text, err := parseText(value)
	*t = looseText(text)
	return err
}

// A shared list is a value when it is written, and text when it is read, as it is decoded once for all lines that have it.
type shared struct {
	value any // nil: absent
	text  jsontext.Value
}

func (l shared) IsZero() bool                            { return l.value == nil }
func (l shared) MarshalJSONTo(e *jsontext.Encoder) error { return json2.MarshalEncode(e, l.value) }

func (l *shared) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := d.ReadValue()
	l.text = text.Clone()
	return err
}

// lineIDs are the members that queries and events have alike.
type lineIDs struct {
	QueryID   string    `json:"query_id"`
	ClientID  string    `json:"client_id,omitzero"`
	UserQuery string    `json:"user_query"`
	Timestamp time.Time `json:"timestamp"`
}

func (im *Impression) ids(at time.Time) lineIDs { return lineIDs{im.ID, im.Client, im.Query, at} }

// appendLine appends a line about an impression. Its texts must be in UTF-8: a reader would get others.
func appendLine(dst []byte, im *Impression, line any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	if err := json2.MarshalWrite(b, line); err != nil {
		return dst, fmt.Errorf("clicks: impression %q: %w: want text in UTF-8", im.ID, err)
	}
	return append(b.Bytes(), '\n'), nil
}

// AppendClick appends to dst the line of a click on the document at a rank, from 1, of an
// impression: an event of UBI 1.3.
func AppendClick(dst []byte, im *Impression, rank int, at time.Time) ([]byte, error) {
	if rank < 1 || rank > len(im.Shown) {
		return dst, fmt.Errorf("clicks: impression %q: a click at rank %d of %d", im.ID, rank, len(im.Shown))
	}
	var click struct {
		ActionName string `json:"action_name"`
		lineIDs
		Attributes struct {
			Object struct {
				ID string `json:"object_id"`
			} `json:"object"`
			Position struct {
				Ordinal int `json:"ordinal"`
			} `json:"position"`
		} `json:"event_attributes"`
	}
	click.ActionName, click.lineIDs = "click", im.ids(at)
	click.Attributes.Object.ID, click.Attributes.Position.Ordinal = im.Documents[im.Shown[rank-1]], rank
	return appendLine(dst, im, click)
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
