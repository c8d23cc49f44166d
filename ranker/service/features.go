package service

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// rows are the features of the documents of a request, row after row, and their base scores, nil
// where the model takes none. Their memory is used again.
type rows struct {
	features []float32
	base     []float32
	given    []int // by column: the document that gave it last, from 1
}

// fill decodes the documents of a request. A document is an array of as many numbers as the
// model has features, in the order of their ids, or an object of numbers by id. null is a
// missing value; an id that is not mentioned has the value 0.
func (r *rows) fill(columns map[int]int, in *request) error {
	width := len(columns)
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
	}
	return nil
}

// fillBase decodes the base scores of a request, which the model must need.
func (r *rows) fillBase(m *served, in *request) error {
	r.base = nil
	needs := m.File().BaseScores
	switch {
	case needs && in.base == nil:
		return badRequest("no base_scores: the model adds its scores to those of another ranker: want an array with a number for each document")
	case !needs && in.base != nil:
		return badRequest("base_scores: the model was trained without, and takes none")
	case !needs:
		return nil
	}
	r.base = make([]float32, in.count)
	n := 0
	for i, number := range elements(in.base) {
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
