package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/plrank/plrank/ranker"
)

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
	Temperature    float64   `json:"temperature"`
}

// An httpError is what a client did wrong.
type httpError struct {
	status int
	error
}

func (e httpError) Unwrap() error { return e.error }

func badRequest(format string, args ...any) error {
	return httpError{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

// scratch is what requests use again.
type scratch struct {
	body     bytes.Buffer
	features []float32
	given    []int // by column: the document that gave it last, from 1
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// keptBytes is how much of a large request's memory is kept for the next one.
const keptBytes = 1 << 20

// rank answers a request, whose body has so many bytes; -1: that is not known.
func (s *server) rank(ctx context.Context, body io.Reader, length int64) (*response, error) {
	space := scratches.Get().(*scratch)
	defer func() {
		if space.body.Cap() <= 2*keptBytes && cap(space.features) <= keptBytes/4 {
			scratches.Put(space)
		}
	}()
	done, err := s.read(ctx, &space.body, body, length)
	defer done()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	out, err := s.compute(ctx, space)
	return out, s.contextError(err)
}

// read reads a body. Of large ones, there are only so many at a time, until they are done with.
func (s *server) read(ctx context.Context, to *bytes.Buffer, body io.Reader, length int64) (done func(), err error) {
	done = func() {}
	to.Reset()
	to.Grow(int(min(max(length, 0), keptBytes)) + bytes.MinRead)
	if _, err := to.ReadFrom(io.LimitReader(body, keptBytes)); err != nil {
		return done, s.readError(err)
	}
	if to.Len() < keptBytes {
		return done, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if done, err = s.work.bodies.enter(ctx); err != nil {
		return done, s.contextError(err)
	}
	to.Grow(int(min(max(length-keptBytes, 0), s.maxBody)) + bytes.MinRead)
	if _, err = to.ReadFrom(body); err != nil {
		err = s.readError(err)
	}
	return done, err
}

// readError is the error for a body that could not be read.
func (s *server) readError(err error) error {
	tooLarge := new(http.MaxBytesError)
	switch {
	case errors.As(err, &tooLarge):
		return httpError{http.StatusRequestEntityTooLarge, fmt.Errorf("the body has more than %d bytes", tooLarge.Limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return httpError{http.StatusRequestTimeout, fmt.Errorf("the body did not come within %v", s.timeout)}
	}
	return badRequest("the body ended early")
}

// compute answers a request that has been read.
func (s *server) compute(ctx context.Context, space *scratch) (*response, error) {
	in, err := parseRequest(space.body.Bytes())
	if err != nil {
		return nil, err
	}
	if in.count > s.maxDocuments {
		return nil, httpError{http.StatusRequestEntityTooLarge, fmt.Errorf("%d documents, %d at most", in.count, s.maxDocuments)}
	}
	model, name, err := s.models.pick(in.model)
	if err != nil {
		return nil, httpError{http.StatusNotFound, err}
	}
	ranks := 0
	if in.draw != nil {
		if ranks = min(in.draw.cutoff, in.count); ranks > s.maxCutoff {
			return nil, badRequest("draw: cutoff %d, %d at most", in.draw.cutoff, s.maxCutoff)
		}
	}
	price := model.price(in.count, ranks)
	if price > s.maxWork {
		return nil, badRequest("%d documents, with %d ranks to draw, are %d units of work, %d at most: send fewer documents, or draw fewer ranks", in.count, ranks, price, s.maxWork)
	}
	leave, err := s.work.of(price).enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := space.fill(model, in); err != nil {
		return nil, err
	}
	out := &response{Model: name, Version: model.version}
	if out.Scores, err = model.ScoreContext(ctx, make([]float64, 0, in.count), space.features); err != nil {
		return nil, badRequest("%w", err) // it is about the features, or the context's
	}
	out.Order = ranker.Rank(make([]int, 0, len(out.Scores)), out.Scores)
	if in.draw != nil {
		out.Drawn, err = in.draw.of(ctx, out.Scores)
	}
	return out, err
}

// of draws a ranking from the policy of the scores.
func (d *draw) of(ctx context.Context, scores []float64) (*drawn, error) {
	policy := ranker.Policy{Temperature: d.temperature}
	out := &drawn{Temperature: d.temperature, Ranking: []int{}, Propensities: []float64{}}
	var err error
	if out.Ranking, out.LogProbability, err = policy.Draw(out.Ranking, scores, d.cutoff, d.seed); err != nil {
		return nil, badRequest("%w", err) // it is about the temperature
	}
	shown := slices.Repeat([]float64{1}, min(d.cutoff, len(scores)))
	out.Propensities, err = policy.Exposure(ctx, out.Propensities, scores, shown)
	return out, err
}
