package clicks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// A ubiLine is a line of a log in the form of UBI 1.3: a query, or an event. Values that some
// programs write in other types than the schema says are of type text.
type ubiLine struct {
	Application  string         `json:"application,omitempty"`
	ActionName   text           `json:"action_name,omitempty"` // of an event
	QueryID      text           `json:"query_id,omitempty"`
	ClientID     text           `json:"client_id,omitempty"`
	UserQuery    *text          `json:"user_query,omitempty"`
	Timestamp    text           `json:"timestamp,omitempty"`
	Hits         []text         `json:"query_response_hit_ids,omitempty"`
	Attributes   *ubiAttributes `json:"query_attributes,omitempty"`
	EventDetails *ubiEvent      `json:"event_attributes,omitempty"`

	Index  json.RawMessage `json:"index,omitempty"`  // the lines between those of OpenSearch's
	Create json.RawMessage `json:"create,omitempty"` // bulk format
}

type ubiAttributes struct {
	Plrank *attributes `json:"plrank,omitempty"`
}

// attributes are what UBI has no place for, under query_attributes.plrank. Lists that many
// lines have in common are decoded once.
type attributes struct {
	Model        string          `json:"model,omitempty"`
	Version      string          `json:"version,omitempty"`
	Seed         uint64          `json:"seed,string"` // as text: many programs read numbers as float64
	Cutoff       int             `json:"cutoff"`
	Temperature  float64         `json:"temperature,omitempty"`
	Drawn        []int           `json:"drawn,omitempty"`      // indices of candidates, top first; absent: as shown
	Candidates   json.RawMessage `json:"candidates,omitempty"` // ids of documents; absent: those shown
	Scores       json.RawMessage `json:"scores,omitempty"`     // by candidate
	Features     json.RawMessage `json:"features,omitempty"`   // candidates × columns, row-major; null is a missing value, a text that of a category
	FeatureIDs   []int           `json:"feature_ids,omitempty"`
	FeatureNames []string        `json:"feature_names,omitempty"`
}

type ubiEvent struct {
	Object   *ubiObject   `json:"object,omitempty"`
	Position *ubiPosition `json:"position,omitempty"`
}

type ubiObject struct {
	ID text `json:"object_id"`
}

type ubiPosition struct {
	Ordinal json.RawMessage `json:"ordinal,omitempty"`
}

// text is a JSON string, or the digits of a number; empty for null.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("null")):
		*t = ""
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, (*string)(t))
	case len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9'):
		*t = text(b)
		if v, err := strconv.ParseFloat(string(b), 64); err == nil && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			*t = text(strconv.FormatInt(int64(v), 10)) // 7.0 is 7, as tables of floats have ids
		}
	default:
		return fmt.Errorf("%.20s is neither a text nor a number", b)
	}
	return nil
}

// parseTime reads a time in ISO 8601, with or without a zone, or a number since 1970. UBI's schema has milliseconds, and some
// programs write seconds, maybe with a fraction, microseconds or nanoseconds: its size tells, up to the year 5138.
func parseTime(t text) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, string(t)); err == nil {
			return at.UTC(), nil
		}
	}
	since, err := strconv.ParseFloat(string(t), 64)
	for _, unit := range []struct{ perSecond, below float64 }{{1, 1e11}, {1e3, 1e14}, {1e6, 1e17}, {1e9, 1e20}} {
		if err == nil && math.Abs(since) < unit.below {
			return time.UnixMicro(int64(math.Round(since / unit.perSecond * 1e6))).UTC(), nil // a float64 has no nanoseconds
		}
	}
	return time.Time{}, fmt.Errorf("invalid timestamp %q", t)
}

// AppendQuery appends to dst the line of an impression of a log, without its clicks: a query of UBI 1.3
// (github.com/o19s/ubi) with query_response_hit_ids in the order shown, and what is needed
// for propensities under query_attributes.plrank. Of the log, it takes what the columns of features are.
// An impression without ID is an error, and so is one with another number of columns.
func AppendQuery(dst []byte, im *Impression, of *Log) ([]byte, error) {
	var features []byte
	if err := of.checkColumns(im.width()); err != nil {
		return dst, fmt.Errorf("clicks: impression %q: %w", im.ID, err)
	}
	if im.Features != nil {
		features = append(features, '[')
		for i, v := range im.Features {
			if i > 0 {
				features = append(features, ',')
			}
			var levels []string
			if len(of.Levels) > 0 {
				levels = of.Levels[i%len(of.Levels)]
			}
			var err error
			if features, err = AppendFeature(features, v, levels); err != nil {
				return dst, fmt.Errorf("clicks: impression %q: %w", im.ID, err)
			}
		}
		features = append(features, ']')
	}
	return AppendQueryJSON(dst, im, features, of)
}

// AppendFeature appends to dst the value of a feature in JSON, as it is logged: a number, null if it is missing, or,
// of a feature with levels, the text that it stands for, "" if that is not known.
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
		return dst, fmt.Errorf("feature %v is no number of one of the %d texts of its column", v, len(levels))
	}
	return appendString(dst, levels[int(v)-1]), nil
}

// isLevel tells whether a value stands for one of the texts.
func isLevel(v float32, levels []string) bool {
	return v >= 1 && v <= float32(len(levels)) && v == float32(int(v))
}

// AppendQueryJSON is [AppendQuery] for features that are JSON already, as in a request: an array
// [documents × columns] of what [AppendFeature] writes, row-major, on one line. It is
// copied as it is, which takes far less time than writing numbers; im.Features are not used. If it is
// empty, no features are logged.
func AppendQueryJSON(dst []byte, im *Impression, features []byte, of *Log) ([]byte, error) {
	if im.ID == "" {
		return dst, errors.New("clicks: an impression without ID: its clicks could not be joined")
	}
	if err := im.check(make([]bool, len(im.Documents))); err != nil {
		return dst, fmt.Errorf("clicks: impression %q: %w", im.ID, err)
	}
	start := len(dst)
	dst = appendString(append(dst, `{"query_id":`...), im.ID)
	if im.Client != "" {
		dst = appendString(append(dst, `,"client_id":`...), im.Client)
	}
	dst = appendString(append(dst, `,"user_query":`...), im.Query)
	dst = im.Time.AppendFormat(append(dst, `,"timestamp":"`...), time.RFC3339Nano)
	dst = appendList(append(dst, `","query_response_hit_ids":`...), im.Shown, func(dst []byte, d int) []byte { return appendString(dst, im.Documents[d]) })
	dst = appendString(append(dst, `,"query_attributes":{"plrank":{"model":`...), im.Model)
	dst = appendString(append(dst, `,"version":`...), im.Version)
	dst = strconv.AppendUint(append(dst, `,"seed":"`...), im.Seed, 10)
	dst = appendInt(append(dst, `","cutoff":`...), im.Cutoff)
	if im.Temperature != 0 {
		dst = appendFloat(append(dst, `,"temperature":`...), im.Temperature)
	}
	dst = appendList(append(dst, `,"drawn":`...), im.Shown, appendInt)
	dst = appendList(append(dst, `,"candidates":`...), im.Documents, appendString)
	if im.Scores != nil {
		dst = appendList(append(dst, `,"scores":`...), im.Scores, appendFloat)
	}
	if len(features) > 0 {
		dst = append(append(dst, `,"features":`...), features...)
		if of.FeatureIDs != nil {
			dst = appendList(append(dst, `,"feature_ids":`...), of.FeatureIDs, appendInt)
		}
		if of.FeatureNames != nil {
			dst = appendList(append(dst, `,"feature_names":`...), of.FeatureNames, appendString)
		}
	}
	dst = append(dst, "}}}\n"...)
	if n := len(dst) - start; n > longestLine {
		return dst[:start], fmt.Errorf("clicks: impression %q: a line of %d bytes, want at most %d", im.ID, n, longestLine)
	}
	return dst, nil
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

// appendString appends a string in JSON. Most are plain.
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
	query := text(im.Query)
	line, err := json.Marshal(ubiLine{ActionName: "click", QueryID: text(im.ID), ClientID: text(im.Client), UserQuery: &query, Timestamp: text(at.Format(time.RFC3339Nano)),
		EventDetails: &ubiEvent{Object: &ubiObject{text(im.Documents[im.Shown[rank-1]])}, Position: &ubiPosition{json.RawMessage(strconv.Itoa(rank))}}})
	if err != nil {
		return dst, fmt.Errorf("clicks: impression %q: %w", im.ID, err)
	}
	return append(append(dst, line...), '\n'), nil
}

// UBI's limits of texts, in characters.
const (
	longestID       = 100 // and other names
	longestObjectID = 256
)

// AppendEvent appends to dst the line of an event of UBI 1.3, a JSON object such as an application
// sends it, with all that it has; one without a timestamp gets the time at. It is an error if
// action_name is missing, or query_id or object_id of a click, if one of them is longer than UBI
// allows, and if the timestamp is invalid.
func AppendEvent(dst, event []byte, at time.Time) ([]byte, error) {
	var line ubiLine
	if err := json.Unmarshal(event, &line); err != nil {
		return dst, fmt.Errorf("clicks: not an event of UBI: %w", err)
	}
	var object text
	if line.EventDetails != nil && line.EventDetails.Object != nil {
		object = line.EventDetails.Object.ID
	}
	click := line.ActionName == "click"
	for _, f := range []struct {
		name   string
		value  text
		needed bool
		most   int
	}{
		{"action_name", line.ActionName, true, longestID}, {"query_id", line.QueryID, click, longestID}, {"client_id", line.ClientID, false, longestID},
		{"event_attributes.object.object_id", object, click, longestObjectID},
	} {
		if f.needed && f.value == "" {
			return dst, fmt.Errorf("clicks: no %s", f.name)
		}
		if n := utf8.RuneCountInString(string(f.value)); n > f.most {
			return dst, fmt.Errorf("clicks: %s has %d characters, want at most %d", f.name, n, f.most)
		}
	}
	if line.Timestamp != "" {
		if _, err := parseTime(line.Timestamp); err != nil {
			return dst, fmt.Errorf("clicks: %w", err)
		}
	}
	b := bytes.NewBuffer(dst)
	if err := json.Compact(b, event); err != nil {
		return dst, fmt.Errorf("clicks: %w", err)
	}
	if dst = b.Bytes(); line.Timestamp == "" {
		dst = append(at.AppendFormat(append(dst[:len(dst)-1], `,"timestamp":"`...), time.RFC3339Nano), `"}`...)
	}
	return append(dst, '\n'), nil
}
