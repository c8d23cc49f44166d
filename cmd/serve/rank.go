package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/plrank/plrank/ranker"
)

// A request is the body of POST /v1/rank: the documents of one query.
type request struct {
	Model     string     `json:"model"`
	Documents []document `json:"documents"`
	Draw      *draw      `json:"draw"`
}

// A document is its raw features: an array of as many numbers as the model has features,
// in the order of their ids, or an object of numbers by id. null is a missing value, and
// an id that is not mentioned is 0.
type document struct {
	dense  []float32
	sparse map[string]json.RawMessage // nil: dense
	err    error                      // of dense, for who knows which document it is
}

func (d *document) UnmarshalJSON(text []byte) error {
	if text[0] != '[' {
		if err := json.Unmarshal(text, &d.sparse); err != nil || d.sparse == nil {
			return errors.New(`a document is an array of numbers, or an object such as {"3": 0.5}`)
		}
		return nil
	}
	text = bytes.TrimSpace(text[1 : len(text)-1])
	if len(text) == 0 {
		return nil
	}
	d.dense = make([]float32, 0, bytes.Count(text, []byte(","))+1)
	for part := range bytes.SplitSeq(text, []byte(",")) { // in a valid array, numbers have no commas
		v, err := number(part)
		if err != nil {
			d.err = fmt.Errorf("value %d: %w", len(d.dense), err)
			return nil
		}
		d.dense = append(d.dense, v)
	}
	return nil
}

// number is the nearest float32 of a JSON number, as in files of documents, and NaN for null.
func number(text []byte) (float32, error) {
	text = bytes.TrimSpace(text)
	if string(text) == "null" {
		return float32(math.NaN()), nil
	}
	v, err := strconv.ParseFloat(string(text), 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is beyond the range of float32", text)
	case err != nil || text[0] != '-' && (text[0] < '0' || text[0] > '9'):
		return 0, errors.New("want a number, or null where it is missing")
	}
	return float32(v), nil
}

// draw asks for a ranking drawn from the policy.
type draw struct {
	Cutoff int     `json:"cutoff"`
	Seed   *uint64 `json:"seed"`
}

// A response has documents by their positions in the request, from 0.
type response struct {
	Model   string    `json:"model"`
	Version string    `json:"version"`
	Scores  []float64 `json:"scores"`
	Order   []int     `json:"order"`
	Drawn   *drawn    `json:"drawn,omitempty"`
}

type drawn struct {
	Ranking        []int     `json:"ranking"`
	LogProbability float64   `json:"log_probability"`
	Propensities   []float64 `json:"propensities"` // of every document, to be among the first cutoff
}

// An httpError is what a client did wrong.
type httpError struct {
	status int
	error
}

func badRequest(format string, args ...any) error {
	return httpError{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

// scratch is what requests use again.
type scratch struct {
	body     bytes.Buffer
	features []float32
	ones     []float64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// keptBytes is how much of a large request's memory is kept for the next one.
const keptBytes = 1 << 20

// rank answers a request.
func (s *server) rank(body io.Reader) (*response, error) {
	work := scratches.Get().(*scratch)
	defer func() {
		if work.body.Cap() <= keptBytes && cap(work.features) <= keptBytes/4 {
			scratches.Put(work)
		}
	}()
	work.body.Reset()
	if _, err := work.body.ReadFrom(body); err != nil {
		return nil, readError(err)
	}
	if work.body.Len() > keptBytes {
		if err := s.checkSize(work.body.Bytes()); err != nil {
			return nil, err
		}
	}
	var in request
	decoder := json.NewDecoder(bytes.NewReader(work.body.Bytes()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return nil, badRequest("the body is no request: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, badRequest("the body goes on after the request")
	}
	if in.Documents == nil {
		return nil, badRequest("no documents: want an array of them, which may be empty")
	}
	if n := len(in.Documents); n > s.maxDocuments {
		return nil, s.tooMany(n)
	}
	model, name, err := s.models.pick(in.Model)
	if err != nil {
		return nil, httpError{http.StatusNotFound, err}
	}
	if err := work.fill(model, in.Documents); err != nil {
		return nil, err
	}
	out := &response{Model: name, Version: model.version}
	if out.Scores, err = model.Score(make([]float64, 0, len(in.Documents)), work.features); err != nil {
		return nil, badRequest("%w", err) // it is about the features
	}
	out.Order = ranker.Rank(make([]int, 0, len(out.Scores)), out.Scores)
	if in.Draw != nil {
		out.Drawn, err = work.draw(in.Draw, out.Scores, s.maxCutoff)
	}
	return out, err
}

func (s *server) tooMany(documents int) error {
	return httpError{http.StatusRequestEntityTooLarge, fmt.Errorf("%d documents, %d at most", documents, s.maxDocuments)}
}

// checkSize counts documents and their values in a body before it is decoded: what decoding
// takes in time and memory may be a hundred times the length of the body. Whether it is
// JSON at all is not known yet.
func (s *server) checkSize(body []byte) error {
	const inDocument = 3 // in an array in the request: the depth
	widest := s.models.widest()
	depth, documents, values, quoted := 0, 0, 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted:
			if c == '\\' {
				i++
			}
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			if depth++; depth == inDocument {
				documents, values = documents+1, 1
			}
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == inDocument:
			if values++; values > widest {
				return badRequest("document %d has more than %d features", documents-1, widest)
			}
		}
	}
	if documents > s.maxDocuments {
		return s.tooMany(documents)
	}
	return nil
}

// readError is the error for a body that could not be read.
func readError(err error) error {
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return httpError{http.StatusRequestEntityTooLarge, fmt.Errorf("the body has more than %d bytes", tooLarge.Limit)}
	}
	return httpError{http.StatusRequestTimeout, fmt.Errorf("the body did not come: %w", err)}
}

// fill makes rows of features of the documents.
func (w *scratch) fill(model *served, documents []document) error {
	width := len(model.columns)
	w.features = slices.Grow(w.features[:0], len(documents)*width)[:len(documents)*width]
	clear(w.features)
	for d, doc := range documents {
		row := w.features[d*width : (d+1)*width]
		switch {
		case doc.err != nil:
			return badRequest("document %d, %w", d, doc.err)
		case doc.sparse == nil && len(doc.dense) != width:
			return badRequest("document %d has %d features, want %d", d, len(doc.dense), width)
		}
		copy(row, doc.dense)
		for text, value := range doc.sparse {
			id, err := strconv.Atoi(text)
			column, known := model.columns[id]
			if err != nil || !known || text != strconv.Itoa(id) {
				return badRequest("document %d: %q is no feature id of the model", d, text)
			}
			if row[column], err = number(value); err != nil {
				return badRequest("document %d, feature %d: %w", d, id, err)
			}
		}
	}
	return nil
}

func (w *scratch) draw(d *draw, scores []float64, maxCutoff int) (*drawn, error) {
	if d.Cutoff < 1 {
		return nil, badRequest("draw: cutoff %d, want 1 or more", d.Cutoff)
	}
	if d.Seed == nil {
		return nil, badRequest("draw: no seed: want a whole number, another one for each request, by which the ranking can be drawn again")
	}
	k := min(d.Cutoff, len(scores))
	if k > maxCutoff {
		return nil, badRequest("draw: cutoff %d, %d at most", d.Cutoff, maxCutoff)
	}
	for len(w.ones) < k {
		w.ones = append(w.ones, 1)
	}
	out := &drawn{Ranking: []int{}, Propensities: []float64{}}
	var err error
	if out.Ranking, out.LogProbability, err = ranker.Draw(out.Ranking, scores, d.Cutoff, *d.Seed); err != nil {
		return nil, err
	}
	out.Propensities, err = ranker.Exposure(out.Propensities, scores, w.ones[:k])
	return out, err
}
