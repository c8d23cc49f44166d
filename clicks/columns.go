package clicks

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/jsonread"
	"github.com/plrank/plrank/internal/text"
)

// columns describes the features of a log while it is read line by line.
type columns struct {
	width int // 0: not known yet
	ids   []int
	names []string
	known []column

	by string           // of sparse features: byID or byName
	at map[string]int32 // their columns, which ids or names have in the order in which they come

	beyond int // values of texts that are more than a column may have
}

// A column is a feature.
type column struct {
	kind   kind
	texts  []string // in the order in which they came
	number map[string]float32
}

// A kind is the kind of a column's values.
type kind int

const (
	missing kind = iota // until one comes that is not
	number
	word
)

// mostTexts bounds the different texts of a column, as in a file of data. Further texts count as unknown to every model:
// users may send any text, and the log must stay usable.
const mostTexts = 100_000

// mostColumns bounds the features of a document: a column takes more memory than its first value in a file.
const mostColumns = 1 << 20

// check returns an error if a line has other columns than the lines before. If width is 0, the line has no features, and
// anything fits.
func (c *columns) check(width int, ids []int, names []string) error {
	if width == 0 {
		return nil
	}
	if c.by != "" {
		return errMixed
	}
	if c.width == 0 {
		if err := text.CheckFeatureIDs(ids); err != nil {
			return err
		}
		c.width, c.ids, c.names = width, ids, names
		seen := map[string]bool{} // models find their columns by name
		for _, name := range names {
			if name != "" && seen[name] {
				return fmt.Errorf("two features with the name %q", name)
			}
			seen[name] = true
		}
	}
	switch {
	case c.width != width:
		return fmt.Errorf("%d features a document, but %d in the lines before", width, c.width)
	case !slices.Equal(idsOf(c.ids, width), idsOf(ids, width)):
		return fmt.Errorf("the feature ids %v, but %v in the lines before: want one list of features", idsOf(ids, width),
			idsOf(c.ids, width))
	case !slices.Equal(c.names, names):
		return fmt.Errorf("the feature names %q, but %q in the lines before: want one list of features; read logs from before the change "+
			"separately", names, c.names)
	}
	return nil
}

// idsOf returns the ids of features, 1 to width if there are none.
func idsOf(ids []int, width int) []int {
	if ids != nil {
		return ids
	}
	for c := range width {
		ids = append(ids, c+1)
	}
	return ids
}

// parse reads the features of documents, and replaces texts by their numbers. It is called for lines that are kept:
// others say nothing about the columns.
func (c *columns) parse(raw []byte, documents int) ([]float32, error) {
	var words []string
	list, err := parseList(raw, func(entry []byte) (float32, error) {
		switch {
		case entry[0] == '"':
			word, err := jsonread.Unquote(entry)
			words = append(words, word)
			return aText, err
		case string(entry) == "null":
			return text.Missing, nil
		case string(entry) == emptyText:
			return noText, nil
		}
		v, n, err := text.Float32(entry)
		if n < len(entry) {
			err = text.ErrNumber
		}
		return v, err
	})
	if err == nil && len(list) == 0 {
		return list, nil
	}
	if err != nil || documents == 0 || len(list)%documents != 0 {
		return nil, badAttributes
	}
	width := len(list) / documents
	if width > mostColumns {
		return nil, fmt.Errorf("%d features a document, want %d at most", width, mostColumns)
	}
	if c.known == nil {
		c.known = make([]column, width)
	}
	if width != len(c.known) {
		return list, nil // which check reports
	}
	for i, v := range list {
		column, is := &c.known[i%width], missing
		switch {
		case v == aText, v == noText:
			is = word
		case v == v:
			is = number
		}
		if column.kind = cmp.Or(column.kind, is); is != missing && is != column.kind {
			return nil, fmt.Errorf("numbers and texts in column %d of its features and in the lines before: want one of the two; read logs from "+
				"before the change separately", i%width+1)
		}
		switch {
		case v == noText:
			list[i] = column.value("", c)
		case is == word && words[0] == "":
			list[i], words = 0, words[1:]
		case is == word:
			list[i], words = column.value(words[0], c), words[1:]
		}
	}
	return list, nil
}

// The names of sparse features in a line.
const byID, byName = "id", "name"

var errMixed = errors.New("all features of its documents, where other lines have sparse ones, or ids for names: want one of these; " +
	"read logs from before the change separately")

// parseSparse reads an object for each document: its features that are not 0.
func (c *columns) parseSparse(raw []byte, documents int, by string) ([]datasets.Sparse, error) {
	if by != byID && by != byName {
		return nil, badAttributes
	}
	if c.by == "" {
		c.by, c.at = by, map[string]int32{}
	}
	if c.by != by || c.width != 0 {
		return nil, errMixed
	}
	all := datasets.Sparse{Starts: []int{0}}
	_, err := parseList(raw, func(object []byte) (none struct{}, err error) {
		row, r := map[int32]float32{}, jsonread.NewLenient(object)
		for name := range r.Names() {
			column, err := c.column(string(name))
			v, number, wrong := r.Float32()
			if _, twice := row[column]; twice && column != beyond || err != nil || wrong != nil && string(number) != "null" {
				return none, badAttributes
			}
			if row[column] = v; wrong != nil {
				row[column] = text.Missing
			}
		}
		delete(row, beyond)
		all.Append(ascending(row))
		return none, r.End()
	})
	if err != nil || all.Len() != documents {
		return nil, badAttributes
	}
	return []datasets.Sparse{all}, nil
}

// ascending returns the columns and the values of a sparse row.
func ascending(row map[int32]float32) (columns []int32, values []float32) {
	columns = slices.Sorted(maps.Keys(row))
	for _, c := range columns {
		values = append(values, row[c])
	}
	return columns, values
}

// beyond is the column of all names after the first mostColumns.
const beyond = -1

// column returns the column of the id or the name of a sparse feature.
func (c *columns) column(name string) (int32, error) {
	column, known := c.at[name]
	id, isID := text.ParseFeatureID(name)
	switch {
	case known:
		return column, nil
	case c.by == byID && !isID:
		return 0, badAttributes
	case len(c.at) == mostColumns:
		c.beyond++
		return beyond, nil
	case c.by == byID:
		c.ids = append(c.ids, id)
	default:
		c.names = append(c.names, name)
	}
	c.at[name] = int32(len(c.at))
	return c.at[name], nil
}

// value returns the number of a text, from 1. If the column has too many texts, it is 0, and counted.
func (c *column) value(text string, in *columns) float32 {
	v, known := c.number[text]
	switch {
	case known:
		return v
	case len(c.texts) == mostTexts:
		in.beyond++
		return 0
	case c.number == nil:
		c.number = map[string]float32{}
	}
	c.texts = append(c.texts, text)
	v = float32(len(c.texts))
	c.number[text] = v
	return v
}

// levels returns the texts of all columns so far, nil if all are numbers.
func (c *columns) levels() (all [][]string) {
	for i, column := range c.known {
		if column.kind == word {
			if all == nil {
				all = make([][]string, len(c.known))
			}
			all[i] = append([]string{}, column.texts...)
		}
	}
	return all
}

// aText stands for a text before it has its number, and noText for the empty one: no number of JSON is infinite.
var aText, noText = float32(math.Inf(1)), float32(math.Inf(-1))

// emptyText is the empty text in a log, where "" is a text that was not known.
const emptyText = `[""]`
