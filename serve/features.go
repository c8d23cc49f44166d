package serve

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/jsonread"
	"github.com/plrank/plrank/internal/text"
)

// rows holds the features of the documents of a request, row after row, and their base scores, nil
// if the model takes none. The memory is reused.
type rows struct {
	features []float32
	base     []float32
	text     []byte   // of the features, each after a comma, if the request is logged
	given    []int    // by column: the document that gave it last, from 1
	unknown  []string // by column: the text of the current document that the model does not know
	unknowns []int    // by column: how many documents have one
}

// read decodes the documents of a request. A document is an array of values in the order of the
// model's feature ids, or an object of values by id or by name. null is a missing value. In an object
// by name an absent feature is missing; by id it is 0, as in LETOR files. An empty object is by name
// if the model has names.
func (r *rows) read(model *served, in *request) error {
	width := len(model.columns)
	r.text = r.text[:0]
	r.features = slices.Grow(r.features[:0], in.count*width)[:in.count*width]
	clear(r.features)
	r.given = slices.Grow(r.given[:0], width)[:width]
	clear(r.given)
	r.unknown = slices.Grow(r.unknown[:0], width)[:width]
	r.unknowns = slices.Grow(r.unknowns[:0], width)[:width]
	clear(r.unknowns)
	documents := jsonread.New(in.documents)
	documents.Token() // [
	levels := model.File().Levels
	for d := range in.count {
		row := r.features[d*width : (d+1)*width]
		if levels != nil {
			clear(r.unknown) // which may be texts of other documents and requests
		}
		var err error
		copies := false
		switch documents.Kind() {
		case '[':
			copies = in.logged && levels == nil
			err = r.dense(row, documents, model, copies)
		case '{':
			err = r.sparse(row, documents, d, model)
		default:
			err = errors.New(`: want an array of values, or an object such as {"3": 0.5} or {"price": 0.5}`)
		}
		if err != nil {
			return badRequest("document %d%w", d, err)
		}
		if in.logged && !copies {
			if err := r.appendText(levels, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendText appends the features of a document to the text for the log.
func (r *rows) appendText(levels [][]string, features []float32) (err error) {
	for i, x := range features {
		var texts []string
		if levels != nil {
			if texts = levels[i]; texts != nil && x == 0 && r.unknown[i] != "" { // a later model may know it
				texts, x = r.unknown[i:i+1], 1
			}
		}
		if r.text, err = clicks.AppendFeature(append(r.text, ','), x, texts); err != nil {
			return err
		}
	}
	return nil
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
	for i, number := range jsonread.New(in.base).Elements() {
		if n++; n > in.count {
			continue
		}
		v, err := parseNumber(number)
		if err == nil && v != v {
			err = errors.New("want a number")
		}
		if err != nil {
			return badRequest("base_scores, value %d: %w", i, err)
		}
		r.base[i] = v
	}
	if n != in.count {
		return badRequest("%d base_scores for %d documents", n, in.count)
	}
	return nil
}

// dense decodes an array. Its errors continue the text "document 3". If copies is true, the numbers go to the text for the
// log: writing them would take longer than the rest of the request.
func (r *rows) dense(row []float32, documents *jsonread.Reader, model *served, copies bool) error {
	n := 0
	for i, value := range documents.Elements() {
		n++
		if i >= len(row) {
			continue
		}
		if copies {
			r.text = append(append(r.text, ','), numeral(value)...)
		}
		var err error
		if row[i], err = r.parseValue(model, i, value); err != nil {
			return fmt.Errorf(", value %d: %w", i, err)
		}
	}
	if n != len(row) {
		return fmt.Errorf(" has %d features, want %d", n, len(row))
	}
	return nil
}

// sparse decodes document d, an object. Its first member decides whether it is by id or by name.
func (r *rows) sparse(row []float32, documents *jsonread.Reader, d int, model *served) error {
	for column, levels := range model.File().Levels {
		if levels != nil {
			row[column] = model.ZeroLevel(column)
		}
	}
	first, named := true, false
	for name := range documents.Names() {
		value := documents.Value()
		column, byName, known := model.column(name)
		switch {
		case !known:
			return fmt.Errorf(": unknown feature %q: want one of feature_ids or feature_names of GET /v1/models", clip(name))
		case r.given[column] == d+1:
			return fmt.Errorf(": feature %s is given twice", clip(name))
		case !first && byName != named:
			return fmt.Errorf(": feature %q mixes names and ids: want all features of a document by name, or all by id", clip(name))
		case first && byName:
			allMissing(row)
		}
		first, named = false, byName
		r.given[column] = d + 1
		var err error
		if row[column], err = r.parseValue(model, column, value); err != nil {
			return fmt.Errorf(", feature %s: %w", clip(name), err)
		}
	}
	if first && model.File().FeatureNames != nil {
		allMissing(row)
	}
	return nil
}

func allMissing(row []float32) {
	for i := range row {
		row[i] = missing
	}
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

// parseValue returns the value of a feature: a number, or for a feature of texts a text or a number.
func (r *rows) parseValue(m *served, column int, value []byte) (float32, error) {
	if string(value) == "null" {
		return missing, nil
	}
	if _, ofText := m.Level(column, ""); !ofText {
		return parseNumber(numeral(value))
	}
	word, level := string(value), m.NumberLevel
	switch value[0] {
	case '"':
		word, _ = jsonread.Unquote(value) // which is Unicode: parseRequest has read it
		level = m.Level
	case '[', '{':
		return 0, errors.New("want a text, or null for a missing value")
	}
	v, _ := level(column, word)
	if v == 0 {
		r.unknown[column] = word
		r.unknowns[column]++
	}
	return v, nil
}

// parseNumber returns the float32 nearest to a JSON number, as in data files.
func parseNumber(text []byte) (float32, error) {
	v, err := strconv.ParseFloat(string(text), 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is beyond the range of float32", clip(string(text)))
	case err != nil:
		return 0, errors.New("want a number, or null for a missing value")
	}
	return float32(v), nil
}
