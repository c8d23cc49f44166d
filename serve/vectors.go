package serve

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/jsonread"
	"github.com/plrank/plrank/internal/text"
)

// A vector of a request belongs to its query, and there is one, or to its documents, and there is one for each; nil: it is missing.
type vector struct {
	ofQuery bool
	values  [][]float32
}

// at returns the vector of a document.
func (v vector) at(document int) []float32 {
	if v.ofQuery {
		document = 0
	}
	return v.values[document]
}

// numbers returns how many numbers all documents have.
func (v vector) numbers(documents int) (n int) {
	for _, numbers := range v.values {
		n += len(numbers)
	}
	if v.ofQuery {
		n *= documents
	}
	return n
}

// parseVectors reads an object of vectors by name: arrays of numbers, or an array of such arrays, one or null for each document.
func parseVectors(value []byte, documents int) (map[string]vector, error) {
	all := map[string]vector{}
	r := jsonread.New(value)
	if r.Kind() != '{' {
		return nil, badRequest("vectors: want an object of vectors by name")
	}
	for member := range r.Names() {
		name := string(member)
		if _, twice := all[name]; twice {
			return nil, badRequest("vectors: %q occurs twice", clip(name))
		}
		v, err := parseVector(r)
		if err == nil && !v.ofQuery && len(v.values) != documents {
			err = fmt.Errorf(": %d for %d documents: want one for each, or null where it is missing", len(v.values), documents)
		}
		if err != nil {
			return nil, badRequest("vectors: %q%w", clip(name), err)
		}
		all[name] = v
	}
	return all, r.End()
}

// parseVector reads the vector of a query, or the vectors of documents. Its errors continue the text "the vector".
func parseVector(r *jsonread.Reader) (v vector, err error) {
	first, ahead := r.Kind(), *r
	for range ahead.Items() {
		first = ahead.Kind()
		break
	}
	switch {
	case r.Kind() == 'n' && string(r.Value()) == "null":
		return vector{true, [][]float32{nil}}, nil
	case first == '0' && r.Kind() == '[':
		numbers, err := parseNumbers(r)
		return vector{true, [][]float32{numbers}}, err
	case r.Kind() != '[':
		return v, errors.New(": want an array of numbers for the query, or an array of such arrays, one for each document")
	}
	for i := range r.Items() {
		var own []float32
		if r.Kind() == '[' {
			own, err = parseNumbers(r)
		} else if string(r.Value()) != "null" {
			err = errors.New(": want an array of numbers, or null where it is missing")
		}
		if err != nil {
			return v, fmt.Errorf(", document %d%w", i, err)
		}
		v.values = append(v.values, own)
	}
	return v, nil
}

func parseNumbers(r *jsonread.Reader) (numbers []float32, err error) {
	for i := range r.Items() {
		x, number, err := r.Float32()
		if err = numberError(number, err, "want a number"); err != nil {
			return nil, fmt.Errorf(", number %d: %w", i, err)
		}
		numbers = append(numbers, x)
	}
	return numbers, nil
}

// complete reads the documents of a request, and multiplies its vectors.
func (r *rows) complete(model *served, in *request) error {
	if err := r.read(model, in); err != nil {
		return err
	}
	return r.multiply(model, in)
}

// multiply sets the features that are products of vectors, if the request has any.
func (r *rows) multiply(model *served, in *request) error {
	list := model.Vectors()
	for name := range in.vectors {
		if !slices.Contains(model.vectorNames, name) && in.rules["diversify"] == nil { // which may have vectors of its own
			return badRequest("vectors: the model has no vector %q: it has %s", clip(name), text.List(model.vectorNames))
		}
	}
	if in.vectors != nil && len(list) > 0 {
		if err := model.Multiply(r.features, func(i, document int) []float32 {
			if v, given := in.vectors[list[i].Name]; given {
				return v.at(document)
			}
			return nil
		}); err != nil {
			return badRequest("vectors: %w", err)
		}
	} else if r.short {
		return badRequest("a document has %d features, want %d, or the vectors %s as well", len(model.columns)-model.products, len(model.columns),
			text.List(model.vectorNames))
	}
	return nil
}
