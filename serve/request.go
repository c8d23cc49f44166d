package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/jsonread"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/ranker"
)

// A request is the body of POST /v1/rank: the documents of one query.
type request struct {
	model     string             // "": not named
	served    *served            // the model of that name, or the first of those interleaved; nil: not yet looked up
	documents []byte             // the array, as in the body, or their number if the values follow
	decoded   bool               // the rows have them
	count     int                // of documents
	vectors   map[string]vector  // by name; nil: not given
	values    []byte             // of the documents, after the line of JSON; nil: they are in the array
	features  []byte             // the array of the features that have values, as in the body; nil: all, in order
	base      []byte             // the array of base scores, as in the body; nil: not given
	draw      *draw              // nil: not wanted
	explain   *ranker.Comparison // nil: not wanted
	others    *request           // the documents of other queries for the explanation; nil: not given
	rules     map[string][]byte  // members of ruleFields, as in the body
	shown

	interleaved bool
	ranks       int    // of a team draft
	seed        uint64 // of an interleaving
	key         string // of the user or session, who gets the same ranking for a query again; "": client_id
}

// A draw asks for a ranking drawn from the policy.
type draw struct {
	cutoff      int
	seed        uint64 // given, or random
	given       bool   // the seed
	temperature float64
	rules       *plackett.Rules // nil: none
}

// members are the names that a request may have.
var members = []string{"base_scores", "documents", "draw", "explain", "model", "query", "query_id", "client_id", "document_ids", "vectors",
	"interleave", "key", "segment", "diversify", "pins", "boost", "bury", "quotas", "exposure", "attributes"}

// parseRequest reads a body. It returns an error for unknown names and for names that occur twice, rather than guess which value
// was meant. If pick returns a model for the members that come before the documents, their values go to the rows at once.
// Otherwise, and if something is wrong with them, the documents are left to [rows.read].
//
// Unless values is nil, the body is the line of JSON before them.
func parseRequest(body, values []byte, rows *rows, logs bool, pick func(before map[string][]byte) *served) (*request, error) {
	r := &request{values: values}
	read, names := plain, append(slices.Clip(members), "features")
	if values == nil {
		read, names = r.readEarly(rows, logs, pick), members
	}
	fields, err := object(body, read, names...)
	if err != nil {
		return nil, badRequest("invalid request body: %w", err)
	}
	r.documents, r.base, r.features, r.rules = fields["documents"], fields["base_scores"], fields["features"], rulesOf(fields)
	for name, field := range map[string]*string{"model": &r.model, "query": &r.query, "query_id": &r.queryID, "client_id": &r.clientID,
		"key": &r.key, "segment": &r.segment} {
		if value := fields[name]; value != nil {
			if *field, err = jsonread.Unquote(value); err != nil {
				return nil, badRequest("invalid request body: %s: want a string", name)
			}
		}
	}
	if draw := fields["draw"]; draw != nil {
		if r.draw, err = parseDraw(draw); err != nil {
			return nil, badRequest("invalid request body: draw: %w", err)
		}
	}
	if r.ranks, err = parseInterleave(fields["interleave"]); err != nil {
		return nil, badRequest("invalid request body: interleave: %w", err)
	}
	if explain := fields["explain"]; explain != nil {
		if r.explain, r.others, err = parseExplain(explain); err != nil {
			return nil, badRequest("invalid request body: explain: %w", err)
		}
	}
	if err := r.checkDocuments(); err != nil {
		return nil, err
	}
	if vectors := fields["vectors"]; vectors != nil {
		if r.vectors, err = parseVectors(vectors, r.count); err != nil {
			return nil, err
		}
	}
	if ids := fields["document_ids"]; ids != nil {
		if r.documentIDs, err = parseIDs(ids, r.count); err != nil {
			return nil, badRequest("document_ids: %w", err)
		}
	}
	return r, nil
}

// readEarly returns a reader of members that reads documents to rows if pick knows their model.
func (r *request) readEarly(rows *rows, logs bool, pick func(before map[string][]byte) *served) memberReader {
	return func(name string, before map[string][]byte, text *jsonread.Reader) (value []byte) {
		if name != "documents" {
			return text.Value()
		}
		if r.served = pick(before); r.served != nil {
			rows.start(r.served, logs)
		}
		r.decoded = r.served != nil
		value, r.count = text.Array(func() bool {
			r.decoded = r.decoded && len(rows.features)+len(rows.given) <= earlyValues && rows.add(text) == nil
			return r.decoded
		})
		return value
	}
}

// checkDocuments returns an error unless the request says which documents it has.
func (r *request) checkDocuments() (err error) {
	switch {
	case r.values != nil:
		if r.count, err = strconv.Atoi(string(r.documents)); err != nil || r.count < 0 {
			return badRequest("documents %s, want the number of those whose values follow the line of JSON", clip(string(r.documents)))
		}
		if r.features != nil && r.features[0] != '[' {
			return badRequest("features: want an array of names or ids")
		}
	case r.documents == nil:
		return badRequest("no documents: want an array, which may be empty")
	case r.documents[0] != '[':
		return badRequest("documents: want an array")
	}
	if r.base != nil && r.base[0] != '[' {
		return badRequest("base_scores: want an array")
	}
	return nil
}

func parseDraw(value []byte) (*draw, error) {
	d := &draw{temperature: 1, seed: rand.Uint64N(1 << 53)} // which JSON's readers have exactly
	fields, err := readFields(value, field{"cutoff", &d.cutoff, 1, true}, field{"seed", &d.seed, 0, false},
		field{"temperature", &d.temperature, math.SmallestNonzeroFloat64, false})
	d.given = fields["seed"] != nil
	return d, err
}

// parseExplain reads which documents are compared, and the documents of other queries. Without "against" it is the mean of the query.
func parseExplain(value []byte) (c *ranker.Comparison, others *request, err error) {
	c = &ranker.Comparison{Other: ranker.MeanOfQuery}
	fields, err := readFields(value, field{"document", &c.Document, 0, true}, field{"against", &c.Other, 0, false},
		field{"permutations", &c.Permutations, 0, false}, field{"interactions", &c.Interactions, 0, false}, field{name: "background"})
	if rows := fields["background"]; err == nil && rows != nil {
		if rows[0] != '[' {
			return nil, nil, errors.New("background: want an array of documents of other queries")
		}
		others = &request{documents: rows}
		_, others.count = jsonread.New(rows).Array(func() bool { return false })
	}
	return c, others, err
}

// A field is a member of an object, and how it is decoded.
type field struct {
	name   string
	to     any     // *int, *uint64, *float64 or *bool; nil: it is not decoded
	least  float64 // of a number; of a float64, the smallest positive one stands for any positive number
	needed bool
}

// want describes the values of a member.
func (m field) want() string {
	switch m.to.(type) {
	case nil:
		return "a document, by its id or its position"
	case *bool:
		return "true or false"
	case *uint64:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64))
	case *int:
		return fmt.Sprintf("a whole number of %v or more", m.least)
	}
	if m.least == math.SmallestNonzeroFloat64 {
		return "a positive, finite number"
	}
	return fmt.Sprintf("a number of %v or more", m.least)
}

// readFields reads an object with these members, and returns their values as they are written. Members that are not given keep what they
// have.
func readFields(text []byte, members ...field) (fields map[string][]byte, err error) {
	var names []string
	for _, m := range members {
		names = append(names, m.name)
	}
	if fields, err = object(text, plain, names...); err != nil {
		return nil, err
	}
	for _, m := range members {
		value := fields[m.name]
		switch {
		case value == nil && m.needed:
			return nil, fmt.Errorf("no %s: want %s", m.name, m.want())
		case value == nil || m.to == nil:
			continue
		}
		err, number := json.Unmarshal(value, m.to), m.least
		switch v := m.to.(type) {
		case *int:
			number = float64(*v)
		case *float64:
			number = *v
		}
		if err != nil || number < m.least {
			return nil, fmt.Errorf("%s %s, want %s", m.name, clip(string(value)), m.want())
		}
	}
	return fields, nil
}

// A memberReader reads the value of a member of an object, after the members before it.
type memberReader func(name string, before map[string][]byte, text *jsonread.Reader) []byte

func plain(_ string, _ map[string][]byte, text *jsonread.Reader) []byte { return text.Value() }

// object returns the members of an object, which must have these names, if there are any. A null member counts as absent.
func object(text []byte, read memberReader, names ...string) (fields map[string][]byte, err error) {
	r := jsonread.New(text)
	if kind := r.Kind(); kind != '{' && kind != 0 { // 0: there is none, as End says
		return nil, errors.New("want an object")
	}
	fields = map[string][]byte{}
	for member := range r.Names() {
		name := string(member)
		if names != nil && !slices.Contains(names, name) {
			return nil, fmt.Errorf("unknown field %q: want %s", clip(name), strings.Join(names, ", "))
		}
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("%q occurs twice", name)
		}
		if fields[name] = read(name, fields, r); string(fields[name]) == "null" {
			fields[name] = nil
		}
	}
	return fields, r.End()
}
