package clicks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// columns are those of the features of a log that is read line by line.
type columns struct {
	width int // 0: not known yet
	ids   []int
	names []string
	known []column
	wrong error // of features that were parsed, and do not fit
}

// A column is a feature.
type column struct {
	kind   kind
	texts  []string // in the order in which they came
	number map[string]float32
}

// A kind is what the values of a column are.
type kind int

const (
	missing kind = iota // until one comes that is not
	number
	word
)

// mostTexts bounds the different texts of a column, as in a file of data: one that has more is an amount, or
// tells documents apart.
const mostTexts = 100_000

// check is an error where a line has other columns than those before; width is 0 where it has no features, and says
// nothing of them.
func (c *columns) check(width int, p *attributes) error {
	if width == 0 {
		return nil
	}
	if c.width == 0 {
		c.width, c.ids, c.names = width, p.FeatureIDs, p.FeatureNames
	}
	switch {
	case c.width != width:
		return fmt.Errorf("%d features a document, and those before it %d", width, c.width)
	case !slices.Equal(idsOf(c.ids, width), idsOf(p.FeatureIDs, width)):
		return fmt.Errorf("the feature ids %v, and those before it %v: want one list of features", idsOf(p.FeatureIDs, width), idsOf(c.ids, width))
	case !slices.Equal(c.names, p.FeatureNames):
		return fmt.Errorf("the feature names %q, and those before it %q: want one list of features, and logs of before there were names apart", p.FeatureNames, c.names)
	}
	return nil
}

// idsOf are the ids of so many features, 1, 2, … without any.
func idsOf(ids []int, width int) []int {
	if ids != nil {
		return ids
	}
	for c := range width {
		ids = append(ids, c+1)
	}
	return ids
}

// parse reads the features of so many documents, and gives texts the numbers that stand for them. What it is given
// is of lines that are kept: others say nothing of the columns.
func (c *columns) parse(raw []byte, documents int) ([]float32, error) {
	list, texts, err := parseFeatures(raw)
	if err != nil || len(list) == 0 {
		return list, err
	}
	if documents == 0 || len(list)%documents != 0 {
		return nil, errors.New("not as many features for each document")
	}
	width := len(list) / documents
	if c.known == nil {
		c.known = make([]column, width)
	}
	if width != len(c.known) {
		return list, nil // which check reports
	}
	for i, v := range list {
		of, is := &c.known[i%width], missing
		text, isText := texts[i]
		switch {
		case isText:
			is = word
		case v == v:
			is = number
		}
		if of.kind = cmp.Or(of.kind, is); is != missing && is != of.kind {
			c.wrong = fmt.Errorf("numbers and texts in column %d of its features and of those before it: want one of the two, and logs of before there were texts apart", i%width+1)
			break
		}
		if isText {
			list[i] = of.value(text)
		}
		if len(of.texts) > mostTexts {
			c.wrong = fmt.Errorf("column %d of the features with more than %d different texts, with those before it: is it an amount, or an id of documents?", i%width+1, mostTexts)
		}
	}
	return list, c.wrong
}

// value is the number of a text, from 1; 0 stands for one that was not known when it was logged.
func (c *column) value(text string) float32 {
	if text == "" {
		return 0
	}
	v, known := c.number[text]
	if !known {
		if c.number == nil {
			c.number = map[string]float32{}
		}
		c.texts = append(c.texts, text)
		v = float32(len(c.texts))
		c.number[text] = v
	}
	return v
}

// levels are the texts of all columns by now, nil if all are numbers.
func (c *columns) levels() (all [][]string) {
	for i, of := range c.known {
		if of.kind == word {
			if all == nil {
				all = make([][]string, len(c.known))
			}
			all[i] = append([]string{}, of.texts...)
		}
	}
	return all
}

// parseFeatures reads an array of numbers, null, which is NaN, and texts, by their places.
func parseFeatures(raw []byte) (list []float32, texts map[int]string, err error) {
	if bytes.IndexByte(raw, '"') < 0 {
		list, err = parseNumbers[float32](raw)
		return list, nil, err
	}
	var values []json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, nil, err
	}
	list, texts = make([]float32, len(values)), map[int]string{}
	for i, value := range values {
		var text string
		switch {
		case value[0] == '"':
			if err := json.Unmarshal(value, &text); err != nil {
				return nil, nil, err
			}
			texts[i] = strings.TrimSpace(text)
			continue
		case string(value) == "null":
			value = []byte("NaN")
		}
		v, err := strconv.ParseFloat(string(value), 32)
		if err != nil {
			return nil, nil, err
		}
		list[i] = float32(v)
	}
	return list, texts, nil
}
