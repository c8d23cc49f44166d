package clicks

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/jsonread"
	"github.com/plrank/plrank/internal/text"
)

// columns describes the features of a log while it is read line by line.
type columns struct {
	width int // 0: not known yet
	ids   []int
	names []string
	known []column

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
