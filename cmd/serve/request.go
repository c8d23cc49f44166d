package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A request is the body of POST /v1/rank: the documents of one query.
type request struct {
	model     string // "": none is named
	documents []byte // their array, as it stands in the body
	count     int    // of documents
	draw      *draw  // nil: none is wanted
}

// A draw asks for a ranking drawn from the policy.
type draw struct {
	cutoff      int
	seed        uint64
	temperature float64
}

// parseRequest reads a body. Names that are not known, and those that come twice, are
// errors: which of two values is meant is a guess.
func parseRequest(body []byte) (*request, error) {
	if !json.Valid(body) {
		var text json.RawMessage
		err := json.Unmarshal(body, &text)
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			return nil, badRequest("invalid request body: byte %d: %w", syntax.Offset, err)
		}
		return nil, badRequest("invalid request body: %w", err)
	}
	r := &request{}
	var documents []byte
	whole, _ := cutValue(skipBlanks(body))
	err := object(whole, map[string]reader{
		"model": func(value []byte) error {
			if value[0] != '"' {
				return errors.New("model: want a text")
			}
			r.model = unquote(value)
			return nil
		},
		"documents": func(value []byte) error { documents = value; return nil },
		"draw":      func(value []byte) (err error) { r.draw, err = parseDraw(value); return err },
	})
	if err != nil {
		return nil, badRequest("invalid request body: %w", err)
	}
	if documents == nil {
		return nil, badRequest("no documents: want an array of them, which may be empty")
	}
	if documents[0] != '[' {
		return nil, badRequest("documents: want an array")
	}
	r.documents = documents
	for range elements(documents) {
		r.count++
	}
	return r, nil
}

func parseDraw(value []byte) (*draw, error) {
	var cutoff, seed, temperature []byte
	keep := func(to *[]byte) reader { return func(value []byte) error { *to = value; return nil } }
	if err := object(value, map[string]reader{"cutoff": keep(&cutoff), "seed": keep(&seed), "temperature": keep(&temperature)}); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	d := &draw{temperature: 1}
	switch {
	case cutoff == nil:
		return nil, errors.New("draw: no cutoff: want the number of ranks to draw, 1 or more")
	case seed == nil:
		return nil, errors.New("draw: no seed: want a whole number, another one for each request, by which the ranking can be drawn again")
	}
	var err error
	if d.cutoff, err = strconv.Atoi(string(cutoff)); err != nil && !errors.Is(err, strconv.ErrRange) || d.cutoff < 1 {
		return nil, fmt.Errorf("draw: cutoff %s, want a whole number, 1 or more", clip(string(cutoff)))
	}
	if d.seed, err = strconv.ParseUint(string(seed), 10, 64); err != nil {
		return nil, fmt.Errorf("draw: seed %s, want a whole number from 0 to %d", clip(string(seed)), uint64(math.MaxUint64))
	}
	if temperature != nil {
		if d.temperature, err = strconv.ParseFloat(string(temperature), 64); err != nil || !(d.temperature > 0) {
			return nil, fmt.Errorf("draw: temperature %s, want a positive, finite number", clip(string(temperature)))
		}
	}
	return d, nil
}

// A reader takes the value of a member of an object.
type reader func(value []byte) error

// object reads an object, whose members are known. One that is null is as one that is not
// there.
func object(value []byte, known map[string]reader) error {
	if value[0] != '{' {
		return errors.New("want an object")
	}
	seen := map[string]bool{}
	for name, value := range members(value) {
		read := known[name]
		switch {
		case read == nil:
			return fmt.Errorf("unknown field %q: want %s", clip(name), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		case seen[name]:
			return fmt.Errorf("%q comes twice", name)
		}
		seen[name] = true
		if string(value) == "null" {
			continue
		}
		if err := read(value); err != nil {
			return err
		}
	}
	return nil
}

// clip shortens a part of a request for an error: errors are logged.
func clip(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// fill makes rows of features of the documents of a request. A document is an array of as
// many numbers as the model has features, in the order of their ids, or an object of
// numbers by id. null is a missing value, and an id that is not mentioned is 0.
func (w *scratch) fill(model *served, r *request) error {
	width := len(model.columns)
	w.features = slices.Grow(w.features[:0], r.count*width)[:r.count*width]
	clear(w.features)
	w.given = slices.Grow(w.given[:0], width)[:width]
	clear(w.given)
	for d, value := range elements(r.documents) {
		row := w.features[d*width : (d+1)*width]
		var err error
		switch value[0] {
		case '[':
			err = dense(row, value)
		case '{':
			err = w.sparse(row, value, d, model.columns)
		default:
			err = errors.New(`: want an array of numbers, or an object such as {"3": 0.5}`)
		}
		if err != nil {
			return badRequest("document %d%w", d, err)
		}
	}
	return nil
}

// dense reads a document that is an array. Errors go on after the number of the document.
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

// sparse reads document d, which is an object.
func (w *scratch) sparse(row []float32, value []byte, d int, columns map[int]int) error {
	for name, number := range members(value) {
		id, err := strconv.Atoi(name)
		column, known := columns[id]
		switch {
		case err != nil || !known || name != strconv.Itoa(id):
			return fmt.Errorf(": %q is no feature id of the model", clip(name))
		case w.given[column] == d+1:
			return fmt.Errorf(": feature %d comes twice", id)
		}
		w.given[column] = d + 1
		if row[column], err = parseNumber(number); err != nil {
			return fmt.Errorf(", feature %d: %w", id, err)
		}
	}
	return nil
}

// parseNumber is the nearest float32 of a JSON number, as in files of documents, and NaN for null.
func parseNumber(text []byte) (float32, error) {
	if string(text) == "null" {
		return float32(math.NaN()), nil
	}
	v, err := strconv.ParseFloat(string(text), 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is beyond the range of float32", clip(string(text)))
	case err != nil:
		return 0, errors.New("want a number, or null where it is missing")
	}
	return float32(v), nil
}
