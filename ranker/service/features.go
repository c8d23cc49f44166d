package service

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// rows are the features of the documents of a request, row after row. Their memory is used
// again.
type rows struct {
	features []float32
	text     []byte // of the features, if the request is logged
	given    []int  // by column: the document that gave it last, from 1
}

// fill decodes the documents of a request. A document is an array of as many numbers as the
// model has features, in the order of their ids, or an object of numbers by id. null is a
// missing value; an id that is not mentioned has the value 0.
func (r *rows) fill(columns map[int]int, in *request) error {
	width := len(columns)
	r.text = r.text[:0]
	r.features = slices.Grow(r.features[:0], in.count*width)[:in.count*width]
	clear(r.features)
	r.given = slices.Grow(r.given[:0], width)[:width]
	clear(r.given)
	for d, value := range elements(in.documents) {
		row := r.features[d*width : (d+1)*width]
		var err error
		switch value[0] {
		case '[':
			err = dense(row, value)
		case '{':
			err = r.sparse(row, value, d, columns)
		default:
			err = errors.New(`: want an array of numbers, or an object such as {"3": 0.5}`)
		}
		if err != nil {
			return badRequest("document %d%w", d, err)
		}
		if in.logged {
			r.appendText(value, row)
		}
	}
	return nil
}

// appendText appends the features of a document to the text for the log: an array over all documents, on
// one line. Those in an array are copied from the request: writing numbers takes longer than all else.
func (r *rows) appendText(document []byte, features []float32) {
	r.text = append(r.text, ',')
	if document[0] == '[' {
		start := len(r.text)
		r.text = append(r.text, inside(document)...)
		for i := bytes.IndexByte(r.text[start:], '\n'); i >= 0; i = bytes.IndexByte(r.text[start:], '\n') {
			start += i
			r.text[start] = ' '
		}
		return
	}
	for i, x := range features {
		if i > 0 {
			r.text = append(r.text, ',')
		}
		if x != x {
			r.text = append(r.text, "null"...)
		} else {
			r.text = strconv.AppendFloat(r.text, float64(x), 'g', -1, 32)
		}
	}
}

// dense decodes a document that is an array. Errors continue the text "document 3".
func dense(row []float32, value []byte) error {
	n := 0
	for i, number := range elements(value) {
		n++
		if i >= len(row) {
			continue
		}
		var err error
		if row[i], err = parseNumber(number); err != nil {
			return fmt.Errorf(", value %d: %w", i, err)
		}
	}
	if n != len(row) {
		return fmt.Errorf(" has %d features, want %d", n, len(row))
	}
	return nil
}

// sparse decodes document d, which is an object.
func (r *rows) sparse(row []float32, value []byte, d int, columns map[int]int) error {
	for name, number := range members(value) {
		id, err := strconv.Atoi(name)
		column, known := columns[id]
		switch {
		case err != nil || !known || name != strconv.Itoa(id):
			return fmt.Errorf(": unknown feature id %q", clip(name))
		case r.given[column] == d+1:
			return fmt.Errorf(": feature %d is given twice", id)
		}
		r.given[column] = d + 1
		if row[column], err = parseNumber(number); err != nil {
			return fmt.Errorf(", feature %d: %w", id, err)
		}
	}
	return nil
}

// parseNumber is the nearest float32 of a JSON number, as in data files, and NaN for null.
func parseNumber(text []byte) (float32, error) {
	if string(text) == "null" {
		return float32(math.NaN()), nil
	}
	v, err := strconv.ParseFloat(string(text), 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is beyond the range of float32", clip(string(text)))
	case err != nil:
		return 0, errors.New("want a number, or null for a missing value")
	}
	return float32(v), nil
}
