package cli

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

// measuredLater matches names of features that are known only after a ranking was shown, and named the ids of something. Words
// of a name stand between blanks.
var (
	measuredLater = regexp.MustCompile(` (clicked|purchased|bought|booked|converted|position) |^ (is )?(clicks?|purchases?|bookings?|` +
		`conversions?|rank|ranking|pos|dwell time|add to cart) $`)
	named    = regexp.MustCompile(` (id|ids|uid|uuid|guid|sku|ean|asin|isbn|gtin) `)
	newWord  = regexp.MustCompile(`([a-z])([A-Z])`)
	noLetter = regexp.MustCompile(`[^\p{L}\p{N}]+`)
)

// wordsOf returns the words of a name in small letters, with a blank around each.
func wordsOf(name string) string {
	words := noLetter.ReplaceAllString(newWord.ReplaceAllString(name, "$1 $2"), " ")
	return " " + strings.ToLower(strings.TrimSpace(words)) + " "
}

const (
	suspectedRows = 20_000 // rows that are looked at
	fewestValues  = 30     // by which an id is told from a number
)

// The suspicions, as warnings of columns.
const (
	leakByName   = "features whose names say that they are measured after the ranking, a possible leak: %s (-ignore leaves them out)"
	leakByLabels = "features that alone order nearly all documents by their labels, a possible leak: %s (-ignore leaves them out)"
	ids          = "features that are ids, whose size means nothing: %s (-ignore leaves them out, -categorical learns each)"
	times        = "features that are times, which will be later than any in the training data: %s (-ignore leaves them out; an age is better)"
)

// Suspicions returns warnings of features that training should hardly use: those whose names say that they are measured after
// the ranking, or that alone rank nearly without a fault, ids, and times, by the first queries. The last warning is EqualLabels.
func Suspicions(d *datasets.Dataset) (warnings []string) {
	if d.Rows() == 0 {
		return nil
	}
	queries := d.Queries()
	if d.Rows() > suspectedRows {
		q, _ := slices.BinarySearch(d.Offsets, suspectedRows)
		queries = max(1, q-1)
	}
	found := map[string][]string{}
	for column := range d.Width() {
		kind := suspicion(d, queries, column)
		found[kind] = append(found[kind], d.FeatureName(column))
	}
	for _, kind := range []string{leakByName, leakByLabels, ids, times} {
		if columns := found[kind]; columns != nil {
			warnings = append(warnings, d.Name+": "+fmt.Sprintf(kind, text.List(columns)))
		}
	}
	return append(warnings, EqualLabels(d)...)
}

// EqualLabels returns a warning if no query has two labels, so that the split teaches, chooses and measures nothing.
func EqualLabels(d *datasets.Dataset) []string {
	if d == nil || d.Gains != nil || d.HighestLabel() <= 0 || hasPairs(d) {
		return nil
	}
	return []string{d.Name + ": no query has documents of two labels: every ranking is as good as any other"}
}

// suspicion returns the suspicion of a column by the first queries, "" if there is none.
func suspicion(d *datasets.Dataset, queries, column int) string {
	words, isID, isTime := wordsOf(d.FeatureName(column)), false, false
	if !d.IsSparse() { // whose values are mostly 0
		isID, isTime = looksAt(d, queries, column)
	}
	switch {
	case measuredLater.MatchString(words):
		return leakByName
	case d.Levels != nil && d.Levels[column] != nil: // texts
		return ""
	case isPerfect(d, queries, column):
		return leakByLabels
	case isTime:
		return times
	case isID || named.MatchString(words):
		return ids
	}
	return ""
}

// hasPairs reports whether a query has two labels.
func hasPairs(d *datasets.Dataset) bool {
	for q := range d.Queries() {
		labels := d.Labels[d.Offsets[q]:d.Offsets[q+1]]
		if slices.ContainsFunc(labels, func(l float32) bool {
			return l != labels[0] && l != datasets.Unlabelled && labels[0] != datasets.Unlabelled
		}) {
			return true
		}
	}
	return false
}

// looksAt reports whether the values of a column look like ids: whole numbers, another one for each document or for each query; or
// like times: seconds or milliseconds since 1970, or days such as 20251224.
func looksAt(d *datasets.Dataset, queries, column int) (ids, times bool) {
	seen, whole, ofQueries := map[float32]bool{}, true, true
	seconds, milliseconds, days := true, true, true
	within := func(v, from, to float64) bool { return v >= from && v <= to }
	for q := range queries {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			v := d.Value(r, column)
			if v != v {
				continue
			}
			ofQueries = ofQueries && v == d.Value(d.Offsets[q], column)
			seen[v] = true
			x := float64(v)
			whole = whole && x == math.Trunc(x)
			seconds = seconds && within(x, 946684800, 2208988800) // 2000 to 2040
			milliseconds = milliseconds && within(x, 946684800e3, 2208988800e3)
			days = days && within(x, 19700101, 20401231) && within(math.Mod(x, 1e4), 99, 1233) // of 24 bits
			if !whole {
				return false, false
			}
		}
	}
	all := d.Offsets[queries]
	if ofQueries {
		all = queries
	}
	return len(seen) >= max(fewestValues, all), len(seen) > 1 && (seconds || milliseconds || days)
}

// nearlyAll is the part of what a model, or a perfect order, gains over random order by which a single feature is a suspect.
const nearlyAll = 0.95

// isPerfect reports whether neighbours of different labels in a query are nearly always in the order of the feature, or of its negative.
func isPerfect(d *datasets.Dataset, queries, column int) bool {
	pairs, order := 0, 0.
	for q := range queries {
		for r := d.Offsets[q] + 1; r < d.Offsets[q+1]; r++ {
			a, b := d.Labels[r-1], d.Labels[r]
			if a == b || a == datasets.Unlabelled || b == datasets.Unlabelled {
				continue
			}
			pairs++
			order += float64(cmp.Compare(a, b) * cmp.Compare(d.Value(r-1, column), d.Value(r, column)))
			if pairs > 10*fewestValues && math.Abs(order) < float64(pairs)/2 { // far from it
				return false
			}
		}
	}
	return pairs >= fewestValues && math.Abs(order) >= nearlyAll*float64(pairs)
}

// leastGain is the part of the value of random order that a model gains at least where a feature can be a suspect.
const leastGain = 0.1

// SuspiciousFeature returns a warning if a single feature is nearly as good as the model on the validation split.
func (s *RunSummary) SuspiciousFeature(metric string) []string {
	m, err := metrics.ParseMeasure(metric)
	if err != nil {
		return nil
	}
	metric = m.Ranking().String()
	value := func(splits map[string]train.Values) float64 {
		v, known := splits["vali"][metric]
		if !known {
			return math.NaN()
		}
		return float64(v)
	}
	model, random := value(s.Metrics), value(s.Baselines["random order"])
	if !(math.Abs(model-random) >= leastGain*math.Abs(random)) { // there is hardly anything to learn
		return nil
	}
	for name, values := range s.Baselines {
		alone := value(values)
		if strings.HasPrefix(name, "feature ") && math.Abs(alone-random) >= nearlyAll*math.Abs(model-random) {
			return []string{fmt.Sprintf("%s alone has %s %.4f on the validation split, and the model %.4f: is it a leak, measured after the "+
				"ranking?", name, metric, alone, model)}
		}
	}
	return nil
}
