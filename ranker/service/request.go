package service

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
	model     string // "": not named
	documents []byte // the array, as in the body
	count     int    // of documents
	draw      *draw  // nil: not wanted
}

// A draw asks for a ranking drawn from the policy.
type draw struct {
	cutoff      int
	seed        uint64
	temperature float64
}

// parseRequest reads a body. Unknown names, and names that occur twice, are errors: which of
// two values was meant would be a guess.
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
				return errors.New("model: want a string")
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
		return nil, badRequest("no documents: want an array, which may be empty")
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
		return nil, errors.New("draw: no seed: want a whole number, a new one for each request, from which the ranking can be drawn again")
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

// object reads an object with known members. A member that is null counts as absent.
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
			return fmt.Errorf("%q occurs twice", name)
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
