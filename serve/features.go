package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/jsonread"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/ranker"
)

// rows holds the features of the documents of a request, row after row, and their base scores, nil
// if the model takes none. The memory is reused.
type rows struct {
	model    *served
	logs     bool // also to text
	count    int  // of documents so far
	isSparse bool // features are the row of one document, and the documents so far are in entries
	features []float32
	entries  ranker.Sparse
	named    []int32 // the columns of the current document that may not be 0
	base     []float32
	text     []byte             // for the log: the values of the first documents, each after a comma; of sparse ones, their objects
	copied   int                // how many documents the text has
	short    bool               // a document lacks the products of vectors, which multiply sets
	keys     []key              // of the last object, which others mostly repeat
	given    []int              // by column: the document that gave it last, from 1
	unknown  map[int]string     // for the log, by position in features: the texts that the model does not know
	unknowns []int              // by column: how many documents have one
	strange  map[string]float32 // for the log: the features of the current document that a sparse model does not know
}

// A key is a feature as an object names it.
type key struct {
	name   []byte
	column int
	byName bool
}

// earlyValues is the largest number of values that are decoded before the price of a request is known.
const earlyValues = 1 << 22

// start prepares for documents of a model. If logs is true, their features also become text.
func (r *rows) start(model *served, logs bool) {
	width := len(model.columns)
	r.model, r.logs, r.count, r.copied = model, logs, 0, 0
	r.features, r.text, r.keys = r.features[:0], r.text[:0], r.keys[:0]
	r.short, r.unknown, r.strange = false, nil, nil
	r.given = slices.Grow(r.given[:0], width)[:width]
	clear(r.given)
	r.unknowns = slices.Grow(r.unknowns[:0], width)[:width]
	clear(r.unknowns)
	if r.isSparse = model.keepsSparse; r.isSparse {
		r.features = slices.Grow(r.features, width)[:width]
		clear(r.features)
		r.entries = ranker.Sparse{Starts: append(r.entries.Starts[:0], 0), Columns: r.entries.Columns[:0], Values: r.entries.Values[:0]}
	}
}

// entered moves the row of the current document to the entries and, for the log, to the text, which also has what the model does not
// know: a later one may.
func (r *rows) entered() (err error) {
	slices.Sort(r.named)
	from := len(r.entries.Columns)
	for _, c := range slices.Compact(r.named) {
		if v := r.features[c]; v != 0 {
			r.entries.Columns, r.entries.Values = append(r.entries.Columns, c), append(r.entries.Values, v)
		}
		r.features[c] = 0
	}
	r.entries.Starts, r.named = append(r.entries.Starts, len(r.entries.Values)), r.named[:0]
	if r.logs {
		r.text, err = clicks.AppendSparse(append(r.text, ','), func(yield func(name string, v float32) bool) {
			for i, c := range r.entries.Columns[from:] {
				yield(r.model.FeatureName(int(c)), r.entries.Values[from+i])
			}
			for _, name := range slices.Sorted(maps.Keys(r.strange)) {
				yield(name, r.strange[name])
			}
		})
		r.strange = nil
	}
	return err
}

// row returns the features of a document.
func (r *rows) row(d int) []float32 {
	width := len(r.model.columns)
	if !r.isSparse {
		return r.features[d*width : (d+1)*width]
	}
	row, own := make([]float32, width), r.entries.Cut(d, d+1)
	own.Dense(row, width, nil)
	return row
}

// score appends the scores of the documents by a model.
func (r *rows) score(ctx context.Context, model *served, scores []float64) ([]float64, error) {
	if r.isSparse {
		return model.ScoreSparse(ctx, scores, &r.entries, r.base)
	}
	return model.ScoreOn(ctx, scores, r.features, r.base)
}

// densify makes rows of all features, which take a price.
func (r *rows) densify() {
	if !r.isSparse {
		return
	}
	r.isSparse = false
	r.features = make([]float32, r.entries.Len()*len(r.model.columns))
	r.entries.Dense(r.features, len(r.model.columns), nil)
}

// read decodes the documents of a request, unless the body was decoded with them.
func (r *rows) read(model *served, in *request) error {
	if in.decoded {
		return nil
	}
	if r.start(model, in.logged); !r.isSparse {
		r.features = slices.Grow(r.features, in.count*len(model.columns))
	}
	if in.values != nil {
		return r.binary(in)
	}
	documents := jsonread.New(in.documents)
	for d := range documents.Items() {
		if err := r.add(documents); err != nil {
			return badRequest("document %d%w", d, err)
		}
	}
	return nil
}

// add decodes a document: an array of values in the order of the model's feature ids, or an object of values by id or by name.
// null is a missing value. In an object by name an absent feature is missing; by id it is 0, as in LETOR files. An empty object
// is by name if the model has names. For a model of sparse documents an absent feature is 0 in any object, and those that it does not
// know are left out. Its errors continue the text "document 3".
func (r *rows) add(documents *jsonread.Reader) (err error) {
	width, n := len(r.model.columns), len(r.features)
	if r.isSparse {
		n = 0
	}
	if cap(r.features) < n+width {
		r.features = slices.Grow(r.features, n+width)
	}
	r.features = r.features[:n+width]
	row := r.features[n:]
	r.count++
	switch documents.Kind() {
	case '[':
		err = r.dense(row, documents)
		for c := 0; r.isSparse && c < width; c++ {
			r.named = append(r.named, int32(c))
		}
	case '{':
		err = r.sparse(row, documents)
	default:
		err = errors.New(`: want an array of values, or an object such as {"3": 0.5} or {"price": 0.5}`)
	}
	if r.isSparse {
		err = cmp.Or(err, r.entered())
	}
	return err
}

// logged returns the features for the log: the text that was copied, if it has all documents.
func (r *rows) logged() (text []byte, err error) {
	if width, levels := len(r.model.columns), r.model.File().Levels; !r.model.keepsSparse && r.copied < r.count {
		r.text = r.text[:0]
		for i, x := range r.features {
			var texts []string
			if levels != nil {
				texts = levels[i%width]
			}
			if word, unknown := r.unknown[i]; unknown { // a later model may know it
				texts, x = []string{word}, 1
			}
			if r.text, err = clicks.AppendFeature(append(r.text, ','), x, texts); err != nil {
				return nil, err
			}
		}
	}
	text = append(r.text, ']')
	text[0] = '['
	return text, nil
}

// fillBase decodes the base scores of a request. It returns an error unless the request has them exactly if the model
// needs them.
func (r *rows) fillBase(m *served, in *request) error {
	r.base = nil
	needs := m.File().BaseScores
	switch {
	case needs && in.base == nil:
		return badRequest("no base_scores: the model adds to the scores of another ranker: want an array with a number for each document")
	case !needs && in.base != nil:
		return badRequest("base_scores: the model was trained without base scores, and takes none")
	case !needs:
		return nil
	}
	r.base = make([]float32, in.count)
	n := 0
	base := jsonread.New(in.base)
	for i := range base.Items() {
		v, number, err := base.Float32()
		if err = numberError(number, err, "want a number"); err != nil {
			return badRequest("base_scores, value %d: %w", i, err)
		}
		if n++; n <= in.count {
			r.base[i] = v
		}
	}
	if n != in.count {
		return badRequest("%d base_scores for %d documents", n, in.count)
	}
	return nil
}

// dense decodes an array. Numbers are copied to the text for the log, since writing them would take longer than the rest of the
// request.
func (r *rows) dense(row []float32, documents *jsonread.Reader) error {
	n, copies := 0, r.logs && !r.isSparse && r.copied == r.count-1 && r.model.Levels() == nil && r.model.products == 0
	for i := range documents.Items() {
		n++
		if i >= len(row) {
			documents.Value()
			continue
		}
		value, err := r.value(&row[i], i, documents)
		if err != nil {
			return fmt.Errorf(", value %d: %w", i, err)
		}
		if copies {
			r.text = append(append(r.text, ','), numeral(value)...)
		}
	}
	if copies {
		r.copied++
	}
	switch plain := len(row) - r.model.products; {
	case n == len(row):
		return nil
	case n == plain:
		r.blank(row[n:], true)
		r.short = true
		return nil
	case plain < len(row):
		return fmt.Errorf(" has %d features, want %d, or %d and the vectors %s", n, len(row), plain, text.List(r.model.vectorNames))
	}
	return fmt.Errorf(" has %d features, want %d", n, len(row))
}

// sparse decodes an object. Its first member decides whether it is by id or by name.
func (r *rows) sparse(row []float32, documents *jsonread.Reader) error {
	n := 0
	for name := range documents.Names() {
		column, err := r.member(n, name)
		if err == errUnknown && r.model.File().Sparse { // as a new word
			_, isID := text.ParseFeatureID(string(name))
			if v, _, err := documents.Float32(); r.logs && err == nil && v != 0 && (isID || r.model.FeatureNames() != nil) {
				if r.strange == nil {
					r.strange = map[string]float32{}
				}
				r.strange[string(name)] = v
			}
			continue
		}
		if err != nil {
			return unknown(err, name)
		}
		if n == 0 {
			r.blank(row, r.keys[0].byName)
		}
		n++
		r.named = append(r.named, int32(column))
		if _, err := r.value(&row[column], column, documents); err != nil {
			return fmt.Errorf(", feature %s: %w", clip(string(name)), err)
		}
	}
	if n == 0 {
		r.blank(row, r.model.File().FeatureNames != nil)
	}
	return nil
}

// blank sets the features that a document leaves out.
func (r *rows) blank(row []float32, byName bool) {
	if r.isSparse {
		return // the row is 0
	}
	for column := range row {
		if row[column] = missing; !byName || r.model.File().Sparse {
			row[column] = r.model.ZeroLevel(column)
		}
	}
}

// binary decodes documents whose values follow the line of JSON: of one document after the other, little-endian float32, NaN if
// they are missing.
func (r *rows) binary(in *request) error {
	columns, err := r.listed(in)
	if err != nil {
		return badRequest("features%w", err)
	}
	if n := 4 * float64(in.count) * float64(len(columns)); n != float64(len(in.values)) {
		return badRequest("%d bytes after the first line, want %.0f: 4 for each of %d values of %d documents",
			len(in.values), n, len(columns), in.count)
	}
	width, values := len(r.model.columns), in.values
	blank := make([]float32, width)
	r.blank(blank, len(r.keys) > 0 && r.keys[0].byName)
	for range in.count {
		if !r.isSparse {
			r.features = append(r.features, blank...)
		}
		row := r.features[len(r.features)-width:]
		for _, column := range columns {
			r.named = append(r.named, int32(column))
			if v := math.Float32frombits(binary.LittleEndian.Uint32(values)); v == v {
				row[column] = v
			} else {
				row[column] = missing // a NaN of any bits
			}
			values = values[4:]
		}
		if r.isSparse {
			if err := r.entered(); err != nil {
				return badRequest("%w", err)
			}
		}
	}
	return nil
}

// listed returns the columns of the features that a request lists, as the members of an object; without a list all columns, or
// if it has vectors all but their products. Its errors continue the text "features".
func (r *rows) listed(in *request) (columns []int, err error) {
	if in.features == nil {
		columns = slices.Collect(maps.Values(r.model.columns))
		if slices.Sort(columns); in.vectors != nil {
			columns = columns[:len(columns)-r.model.products]
		}
	}
	r.count = 1
	for i, value := range jsonread.New(in.features).Elements() {
		name, err := jsonread.Unquote(value)
		if err != nil {
			return nil, fmt.Errorf(", entry %d: want a text", i)
		}
		column, err := r.member(i, []byte(name))
		if err != nil {
			return nil, unknown(err, []byte(name))
		}
		columns = append(columns, column)
	}
	for _, column := range columns {
		if _, ofText := r.model.Level(column, ""); ofText {
			return nil, fmt.Errorf(": feature %d has texts, which are not numbers: list others, or send all documents as JSON",
				r.model.FeatureIDs()[column])
		}
	}
	return columns, nil
}

// member returns the column of member n of a document, which has no other value yet.
func (r *rows) member(n int, name []byte) (column int, err error) {
	k, known := r.key(n, name)
	switch {
	case !known:
		err = errUnknown
	case r.given[k.column] == r.count:
		err = fmt.Errorf(": feature %s is given twice", clip(string(name)))
	case k.byName != r.keys[0].byName:
		err = fmt.Errorf(": feature %q mixes names and ids: want all features of a document by name, or all by id", clip(string(name)))
	default:
		r.given[k.column] = r.count
	}
	return k.column, err
}

var errUnknown = errors.New("unknown feature")

// unknown adds a name to the error for an unknown feature: a request to a model of words may have many. Other errors stay as
// they are.
func unknown(err error, name []byte) error {
	if err == errUnknown {
		return fmt.Errorf(": %w %q: want one of feature_ids or feature_names of GET /v1/models", err, clip(string(name)))
	}
	return err
}

// key returns the feature of member i of an object.
func (r *rows) key(i int, name []byte) (k key, known bool) {
	if i < len(r.keys) && bytes.Equal(r.keys[i].name, name) {
		return r.keys[i], true
	}
	k.name = name
	if k.column, k.byName, known = r.model.column(string(name)); known {
		r.keys = append(r.keys[:i], k)
	}
	return k, known
}

// column returns the column of a feature id, or otherwise of a name.
func (m *served) column(name string) (column int, byName, known bool) {
	if id, isID := text.ParseFeatureID(name); isID {
		if column, known = m.columns[id]; known {
			return column, false, true
		}
	}
	column, known = m.Column(name)
	return column, true, known
}

var missing = float32(math.NaN())

// The values of true and false, as in data files.
var one, zero = []byte("1"), []byte("0")

// numeral returns the number that stands for true or false, and other values as they are.
func numeral(value []byte) []byte {
	switch string(value) {
	case "true":
		return one
	case "false":
		return zero
	}
	return value
}

// value decodes a value of a feature: a number, or for a feature of texts a text or a number. It returns the value as it is written.
func (r *rows) value(to *float32, column int, documents *jsonread.Reader) (value []byte, err error) {
	_, ofText := r.model.Level(column, "")
	if documents.Kind() == '0' && !ofText {
		*to, value, err = documents.Float32()
		return value, numberError(value, err, wantNumber)
	}
	value = documents.Value()
	switch word := string(value); {
	case word == "null":
		*to = missing
	case word == "true" && !ofText:
		*to = 1
	case word == "false" && !ofText:
		*to = 0
	case word == "" || !ofText:
		return value, errors.New(wantNumber)
	case value[0] == '[' || value[0] == '{':
		return value, errors.New("want a text, or null for a missing value")
	default:
		level := r.model.NumberLevel
		if value[0] == '"' {
			word, _ = jsonread.Unquote(value) // which is Unicode, as all of the body
			level = r.model.Level
		}
		if *to, _ = level(column, word); *to == 0 {
			r.unknowns[column]++
			if r.logs {
				if r.unknown == nil {
					r.unknown = map[int]string{}
				}
				r.unknown[(r.count-1)*len(r.model.columns)+column] = word
			}
		}
	}
	return value, nil
}

// wantNumber is the error of a feature.
const wantNumber = "want a number, or null for a missing value"

// numberError returns the error of a number that could not be read, nil if it could; want is what would be right.
func numberError(number []byte, err error, want string) error {
	switch {
	case err == text.ErrNumber:
		return errors.New(want)
	case err != nil:
		return fmt.Errorf("%s is %w", clip(string(number)), err)
	}
	return nil
}
