package serve

import (
	"bytes"
	"cmp"
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/serve/internal/journal"
)

// A response gives documents by their positions in the request, from 0.
type response struct {
	Model   string    `json:"model"`
	Version string    `json:"version"`
	QueryID string    `json:"query_id,omitempty"` // of an impression that is logged
	Scores  []float64 `json:"scores"`
	Order   []int     `json:"order"`
	Drawn   *drawn    `json:"drawn,omitempty"`

	Explanation *explanation `json:"explanation,omitempty"`
}

// An explanation divides the difference of two scores among the features: see ranker.Explanation.
type explanation struct {
	Difference     float64   `json:"difference"`
	Base           float64   `json:"base,omitempty"`
	Values         []float64 `json:"values"`
	StandardErrors []float64 `json:"standard_errors"`
}

type drawn struct {
	Ranking        []int     `json:"ranking"`
	Seed           uint64    `json:"seed"`
	LogProbability float64   `json:"log_probability"`
	Propensities   []float64 `json:"propensities"` // of every document, to be among the first cutoff
	Temperature    float64   `json:"temperature"`
}

// scratch is memory that requests reuse.
type scratch struct {
	body bytes.Buffer
	rows rows
	line []byte // of the log; empty: the answer is not logged
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// free keeps the memory for the next request, unless the request was large.
func (space *scratch) free() {
	if max(space.body.Cap(), 4*cap(space.rows.features)*2, cap(space.line), cap(space.rows.text)) <= 2*keptBytes {
		scratches.Put(space)
	}
}

// process admits a request, reads its body, and calls work with it. It waits until the lines that work leaves are on the
// disk. logged reports whether there are any.
func (s *Service) process(w http.ResponseWriter, r *http.Request, work func(context.Context, *scratch) error) (logged bool, err error) {
	body, leave, err := s.admit(w, r)
	if err != nil {
		return false, err
	}
	defer leave()
	lines, err := s.withBody(r.Context(), body, r.ContentLength, work)
	if err == nil && lines != nil {
		err = s.clicks.wait(r.Context(), lines) // other requests have the memory and the cores meanwhile
	}
	return lines != nil, err
}

// withBody reads a body, calls work with it, and adds the lines that work leaves to the log. logged is nil
// if there are none. length is -1 if it is not known.
func (s *Service) withBody(ctx context.Context, body io.Reader, length int64, work func(context.Context, *scratch) error) (logged *journal.Batch, err error) {
	space := scratches.Get().(*scratch)
	defer space.free()
	done, err := s.readBody(ctx, &space.body, body, length)
	defer done()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.limits.Timeout)
	defer cancel()
	space.line = space.line[:0]
	if err = work(ctx, space); err == nil && len(space.line) > 0 {
		logged, err = s.clicks.add(space.line)
	}
	return logged, err
}

// compute answers the request in space.body, and makes the line of its impression. As soon as it knows the model, the
// answer names it.
func (s *Service) compute(ctx context.Context, space *scratch, out *response) error {
	in, err := parseRequest(space.body.Bytes())
	if err != nil {
		return err
	}
	if in.count > s.limits.Documents {
		return statusError{http.StatusRequestEntityTooLarge, fmt.Errorf("%d documents, want at most %d", in.count, s.limits.Documents)}
	}
	model, name, err := s.models.pick(in.model)
	if err != nil {
		return statusError{http.StatusNotFound, err}
	}
	out.Model, out.Version = name, model.Digest()
	if in.logged = s.clicks != nil && in.draw != nil && in.count > 0; in.logged {
		if err := in.complete(); err != nil {
			return err
		}
	}
	ranks := 0
	if in.draw != nil {
		if ranks = min(in.draw.cutoff, in.count); ranks > s.limits.Cutoff && ranks < in.count {
			return badRequest("draw: cutoff %d, want at most %d, or all %d", in.draw.cutoff, s.limits.Cutoff, in.count)
		}
	}
	price := model.price(in.count, ranks) + space.body.Len()/bytesPerUnit
	if in.explain != nil {
		price += int(min(model.MultiplicationsToExplain(in.count, *in.explain)/multiplicationsPerUnit, 1<<40))
	}
	if price > s.limits.Work {
		return badRequest("%d documents with %d ranks to draw, in %d bytes, are %d units of work, at most %d are allowed: send fewer documents, draw fewer ranks, or explain with fewer permutations", in.count, ranks, space.body.Len(), price, s.limits.Work)
	}
	leave, err := s.lanes.forPrice(price).enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := space.rows.fill(model, in); err != nil {
		return err
	}
	s.measures.count(name, model, space.rows.unknowns)
	if err := space.rows.fillBase(model, in); err != nil {
		return err
	}
	if out.Scores, err = model.ScoreOn(ctx, make([]float64, 0, in.count), space.rows.features, space.rows.base); err != nil {
		return badRequest("%w", err) // an invalid feature, or the end of the context
	}
	out.Order = ranker.Rank(make([]int, 0, len(out.Scores)), out.Scores)
	if in.draw != nil {
		if out.Drawn, err = in.draw.from(ctx, out.Scores); err != nil {
			return err
		}
	}
	if in.explain != nil {
		e, err := model.Explain(ctx, space.rows.features, space.rows.base, *in.explain)
		if err != nil {
			return badRequest("explain: %w", err)
		}
		out.Explanation = &explanation{e.Difference, e.Base, e.Values, e.Errors}
	}
	if in.logged {
		out.QueryID = cmp.Or(in.queryID, cryptorand.Text())
		if err = space.log(in, out, model); err != nil {
			return badRequest("%w", err) // a line that would be too long to be read
		}
	}
	return nil
}

// log writes the line of an impression.
func (space *scratch) log(in *request, out *response, model *served) (err error) {
	ranking := out.Drawn.Ranking
	features := append(space.rows.text, ']')
	features[0] = '['
	space.line, err = clicks.AppendQueryJSON(space.line, &clicks.Impression{
		ID: out.QueryID, Client: in.clientID, Time: time.Now().UTC(), Query: in.query, Model: out.Model, Version: out.Version,
		Documents: in.documentIDs, Scores: out.Scores, Temperature: in.draw.temperature, Seed: in.draw.seed, Cutoff: len(ranking),
		Shown: ranking, Clicks: make([]float64, len(ranking)),
	}, features, model.features)
	return err
}

// from draws a ranking from the policy of the scores.
func (d *draw) from(ctx context.Context, scores []float64) (*drawn, error) {
	policy := ranker.Policy{Temperature: d.temperature}
	out := &drawn{Seed: d.seed, Temperature: d.temperature, Ranking: []int{}, Propensities: []float64{}}
	var err error
	if out.Ranking, out.LogProbability, err = policy.Draw(out.Ranking, scores, d.cutoff, d.seed); err != nil {
		return nil, badRequest("%w", err) // a score beyond float64 at this temperature
	}
	shown := slices.Repeat([]float64{1}, min(d.cutoff, len(scores)))
	out.Propensities, err = policy.Exposure(ctx, out.Propensities, scores, shown)
	return out, err
}

// eventBytes bytes of events cost a unit of work: they are checked, decoded and copied in 13 to 43 ns each, slowest if
// events consist of short names.
const eventBytes = 4

// addEvents writes the lines of the events in space.body.
func (s *Service) addEvents(ctx context.Context, space *scratch) (n int, err error) {
	price := space.body.Len() / eventBytes
	if price > s.limits.Work {
		return 0, badRequest("%d bytes of events are %d units of work, at most %d are allowed: send fewer events at a time", space.body.Len(), price, s.limits.Work)
	}
	leave, err := s.lanes.forPrice(price).enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	space.line, n, err = appendEvents(space.line, space.body.Bytes(), s.limits.Documents)
	return n, err
}

// keptBytes is the most memory of a request that is kept for the next one. A longer body is
// large.
const keptBytes = 1 << 20

// readBody reads the body of a request. length is -1 if it is not known. Large bodies wait for a place in lanes.bodies.
// The caller calls done when it no longer needs the body, whatever the error.
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

// bodyError returns the error for a body that could not be read.
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
