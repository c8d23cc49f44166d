package service

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

// A response gives documents by their positions in the request, from 0.
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

// scratch is memory that requests use again.
type scratch struct {
	body bytes.Buffer
	rows rows
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// answer reads a body and answers it; length is -1 where it is not known.
func (s *Service) answer(ctx context.Context, body io.Reader, length int64) (*response, error) {
	space := scratches.Get().(*scratch)
	defer func() {
		if space.body.Cap() <= 2*keptBytes && cap(space.rows.features) <= keptBytes/4 {
			scratches.Put(space)
		}
	}()
	done, err := s.readBody(ctx, &space.body, body, length)
	defer done()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.limits.Timeout)
	defer cancel()
	return s.compute(ctx, space)
}

// compute answers the request in space.body.
func (s *Service) compute(ctx context.Context, space *scratch) (out *response, err error) {
	in, err := parseRequest(space.body.Bytes())
	if err != nil {
		return nil, err
	}
	if in.count > s.limits.Documents {
		return nil, statusError{http.StatusRequestEntityTooLarge, fmt.Errorf("%d documents, want at most %d", in.count, s.limits.Documents)}
	}
	model, name, err := s.models.pick(in.model)
	if err != nil {
		return nil, statusError{http.StatusNotFound, err}
	}
	defer func() {
		if err != nil {
			err = modelError{name, err}
		}
	}()
	ranks := 0
	if in.draw != nil {
		if ranks = min(in.draw.cutoff, in.count); ranks > s.limits.Cutoff && ranks < in.count {
			return nil, badRequest("draw: cutoff %d, want at most %d, or all %d", in.draw.cutoff, s.limits.Cutoff, in.count)
		}
	}
	price := model.price(in.count, ranks)
	if price > s.limits.Work {
		return nil, badRequest("%d documents with %d ranks to draw are %d units of work, at most %d are allowed: send fewer documents, or draw fewer ranks", in.count, ranks, price, s.limits.Work)
	}
	leave, err := s.lanes.of(price).enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := space.rows.fill(model, in); err != nil {
		return nil, err
	}
	if err := space.rows.fillBase(model, in); err != nil {
		return nil, err
	}
	out = &response{Model: name, Version: model.Digest()}
	if out.Scores, err = model.ScoreOn(ctx, make([]float64, 0, in.count), space.rows.features, space.rows.base); err != nil {
		return nil, badRequest("%w", err) // an invalid feature, or the end of the context
	}
	out.Order = ranker.Rank(make([]int, 0, len(out.Scores)), out.Scores)
	if in.draw != nil {
		out.Drawn, err = in.draw.from(ctx, out.Scores)
	}
	return out, err
}

// from draws a ranking from the policy of the scores.
func (d *draw) from(ctx context.Context, scores []float64) (*drawn, error) {
	policy := ranker.Policy{Temperature: d.temperature}
	out := &drawn{Temperature: d.temperature, Ranking: []int{}, Propensities: []float64{}}
	var err error
	if out.Ranking, out.LogProbability, err = policy.Draw(out.Ranking, scores, d.cutoff, d.seed); err != nil {
		return nil, badRequest("%w", err) // a score beyond float64 at this temperature
	}
	shown := slices.Repeat([]float64{1}, min(d.cutoff, len(scores)))
	out.Propensities, err = policy.Exposure(ctx, out.Propensities, scores, shown)
	return out, err
}

// keptBytes is the memory of a request that is kept for the next one. A longer body is a
// large one.
const keptBytes = 1 << 20

// readBody reads the body of a request; length is -1 where it is not known. Only so many large ones
// are in memory at a time. The caller calls done when it no longer needs the body, whatever the error.
func (s *Service) readBody(ctx context.Context, to *bytes.Buffer, body io.Reader, length int64) (done func(), err error) {
	done = func() {}
	to.Reset()
	to.Grow(int(min(max(length, 0), keptBytes)) + bytes.MinRead)
	if _, err := to.ReadFrom(io.LimitReader(body, keptBytes)); err != nil {
		return done, s.bodyError(err)
	}
	if to.Len() < keptBytes {
		return done, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.limits.Timeout)
	defer cancel()
	if done, err = s.lanes.bodies.enter(ctx); err != nil {
		return done, err
	}
	to.Grow(int(min(max(length-keptBytes, 0), s.limits.Body)) + bytes.MinRead)
	if _, err = to.ReadFrom(body); err != nil {
		err = s.bodyError(err)
	}
	return done, err
}

// bodyError is the error of a body that could not be read.
func (s *Service) bodyError(err error) error {
	tooLarge := new(http.MaxBytesError)
	switch {
	case errors.As(err, &tooLarge):
		return statusError{http.StatusRequestEntityTooLarge, fmt.Errorf("the body has more than %d bytes", tooLarge.Limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return statusError{http.StatusRequestTimeout, fmt.Errorf("the body did not arrive within %v", s.limits.Timeout)}
	}
	return badRequest("the body ended early")
}
