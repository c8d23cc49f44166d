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
	Rules   *ruling   `json:"rules,omitempty"`
	Arm     float64   `json:"arm_probability,omitempty"` // of the model, in an A/B test

	Interleaved *interleaved        `json:"interleaved,omitempty"`
	Explanation *ranker.Explanation `json:"explanation,omitempty"`
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
	rows  rows
	spent float64 // the price of the parts of the request so far
	line  []byte  // of the log; empty: the answer is not logged
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// free keeps the memory for the next request, unless the request was large.
func (space *scratch) free() {
	if max(4*cap(space.rows.features)*2, cap(space.line), cap(space.rows.text)) <= 2*keptBytes {
		scratches.Put(space)
	}
}

// A task computes the answer to a request with a body.
type task func(ctx context.Context, body []byte, space *scratch) error

// process reads the body of a request, and calls work with it unless too many requests are in flight. It waits until the
// lines that work leaves are on the disk. logged reports whether there are any.
func (s *Service) process(w http.ResponseWriter, r *http.Request, work task) (logged bool, err error) {
	if err := s.check(r); err != nil {
		return false, err
	}
	body, free, err := s.readBody(w, r) // before it takes a place: a slow client keeps nobody out
	if err == nil && !s.inFlight.TryAcquire(1) {
		err = statusError{http.StatusServiceUnavailable, fmt.Errorf("%d requests in flight", s.limits.Requests)}
	}
	if err != nil {
		free()
		return false, err
	}
	defer s.inFlight.Release(1)
	lines, err := s.withBody(r.Context(), body, free, work)
	if err == nil && lines != nil {
		err = s.clicks.wait(r.Context(), lines) // other requests have the memory and the cores meanwhile
	}
	return lines != nil, err
}

// withBody calls work with a body, frees it, and adds the lines that work leaves to the log. logged is nil if there are none.
func (s *Service) withBody(ctx context.Context, body []byte, free func(), work task) (logged *journal.Batch, err error) {
	defer free()
	space := scratches.Get().(*scratch)
	defer space.free()
	ctx, cancel := context.WithTimeout(ctx, s.limits.Timeout)
	defer cancel()
	space.line, space.spent = space.line[:0], 0
	if err = work(ctx, body, space); err == nil && len(space.line) > 0 {
		logged, err = s.clicks.add(space.line)
	}
	return logged, err
}

// part does a part of a request, if the prices so far are within the limit. Heavy parts keep that many cores busy.
func (s *Service) part(ctx context.Context, space *scratch, name string, price float64, cores int, do func() error) error {
	if space.spent += price; space.spent > unit*float64(s.limits.Work) {
		return badRequest("with %s the request takes %.0f units of work, at most %d are allowed: "+
			"send fewer documents or events, draw fewer ranks, or explain with fewer permutations", name, space.spent/unit, s.limits.Work)
	}
	leave, err := s.gate.enter(ctx, price, cores)
	if err != nil {
		return err
	}
	defer leave()
	return do()
}

// compute answers a request, and makes the line of its impression. As soon as it knows the model, the answer names it.
func (s *Service) compute(ctx context.Context, body []byte, binary bool, space *scratch, out *response) (err error) {
	var in *request
	var values []byte
	if binary {
		found := false
		if body, values, found = bytes.Cut(body, []byte("\n")); !found {
			return badRequest("invalid request body: no line break: want a line of JSON before the values")
		}
	}
	if err := s.part(ctx, space, "its body", bodyTime*float64(len(body)), 1, func() (err error) {
		in, err = parseRequest(body, values, &space.rows, s.clicks != nil, s.pickEarly)
		return err
	}); err != nil {
		return err
	}
	if in.count > s.limits.Documents {
		return statusError{http.StatusRequestEntityTooLarge, fmt.Errorf("%d documents, want at most %d", in.count, s.limits.Documents)}
	}
	in.interleaved = s.interleaved != nil && in.model == "" && in.count > 0
	if in.interleaved {
		in.model = s.interleaved[0]
	}
	if s.split != nil && in.model == "" {
		in.model, out.Arm = s.split[in.arm()%uint64(len(s.split))], 1/float64(len(s.split))
	}
	if in.served == nil || in.model != "" && in.model != in.served.name { // guessed before the name came
		in.decoded = false
		if in.served, err = s.models.pick(in.model); err != nil {
			return statusError{http.StatusNotFound, err}
		}
	}
	model := in.served
	out.Model, out.Version = model.name, model.Digest()
	if in.logged = s.clicks != nil && (in.draw != nil || in.interleaved) && in.count > 0; in.logged {
		if err := in.complete(); err != nil {
			return err
		}
	}
	in.setSeed()
	if err := s.rank(ctx, model, in, space, out); err != nil {
		return err
	}
	s.measures.count(model.name, model, space.rows.unknowns)
	s.watchDrift(model, in, &space.rows, out.Scores)
	return nil
}

// rank scores, draws and explains with a model. What a draw takes depends on the scores, and what an explanation takes on
// the features, so each is admitted by itself.
func (s *Service) rank(ctx context.Context, model *served, in *request, space *scratch, out *response) error {
	if in.draw != nil && min(in.draw.cutoff, in.count) > s.limits.Cutoff && !in.draw.all(in.count) {
		return badRequest("draw: cutoff %d, want at most %d, or all %d", in.draw.cutoff, s.limits.Cutoff, in.count)
	}
	if err := s.score(ctx, model, in, space, out); err != nil {
		return err
	}
	rules, err := s.rule(ctx, in, space, out)
	if err != nil {
		return err
	}
	if in.interleaved {
		if err := s.interleave(ctx, in, space, out); err != nil {
			return err
		}
	} else if in.draw != nil {
		in.draw.rules = rules
		price, err := in.draw.price(out.Scores)
		if err != nil {
			return badRequest("%w", err) // a score beyond float64 at this temperature
		}
		if err := s.part(ctx, space, "its draw", price, 1, func() (err error) {
			if out.Drawn, err = in.draw.from(ctx, out.Scores); err == nil && rules != nil {
				if out.Rules == nil {
					out.Rules = &ruling{}
				}
				err = in.cost(ctx, out.Rules, out.Scores, out.Order, in.draw.policy())
			}
			return err
		}); err != nil {
			return err
		}
	}
	if in.explain != nil {
		if err := s.explain(ctx, model, in, space, out); err != nil {
			return err
		}
	}
	if in.logged {
		out.QueryID = cmp.Or(in.queryID, cryptorand.Text())
		if err := space.log(in, out, model); err != nil {
			return badRequest("%w", err) // a line that would be too long to be read
		}
	}
	return nil
}

// score reads and scores the documents. They stay sparse unless something else needs all features.
func (s *Service) score(ctx context.Context, model *served, in *request, space *scratch, out *response) error {
	isSparse := space.rows.isSparse
	if !in.decoded {
		isSparse = model.keepsSparse
	}
	if err := s.part(ctx, space, "its scores", model.price(in, isSparse), 1, func() (err error) {
		if err := space.rows.complete(model, in); err != nil {
			return err
		}
		if err := space.rows.fillBase(model, in); err != nil {
			return err
		}
		if out.Scores, err = space.rows.score(ctx, model, make([]float64, 0, in.count)); err != nil {
			return badRequest("%w", err) // an invalid feature, or the end of the context
		}
		out.Order = ranker.Rank(make([]int, 0, len(out.Scores)), out.Scores)
		return nil
	}); err != nil {
		return err
	}
	if !space.rows.isSparse || len(in.rules) == 0 && in.explain == nil && !in.interleaved {
		return nil
	}
	return s.part(ctx, space, "all features of its documents", valueTime*float64(in.count*len(model.columns)), 1, func() error {
		space.rows.densify()
		return nil
	})
}

// explain divides the difference of two scores among the features.
func (s *Service) explain(ctx context.Context, model *served, in *request, space *scratch, out *response) error {
	c := *in.explain
	if others := in.others; others != nil {
		if others.count > s.limits.Documents {
			return badRequest("explain: background: %d documents, want at most %d", others.count, s.limits.Documents)
		}
		price := bodyTime*float64(len(others.documents)) + valueTime*float64(others.count*len(model.columns))
		if err := s.part(ctx, space, "the background of its explanation", price, 1, func() error {
			var rows rows
			if err := rows.complete(model, others); err != nil {
				return badRequest("explain: background: %w", err)
			}
			rows.densify()
			c.Background = rows.features
			return nil
		}); err != nil {
			return err
		}
	}
	cores := s.gate.cores
	if model.ExplainsExactly() {
		cores = 1
	}
	return s.part(ctx, space, "its explanation", model.explainPrice(space.rows.features, c), cores, func() (err error) {
		if out.Explanation, err = model.Explain(ctx, space.rows.features, space.rows.base, c); err != nil {
			return badRequest("explain: %w", err)
		}
		return nil
	})
}

// log writes the line of an impression.
func (space *scratch) log(in *request, out *response, model *served) (err error) {
	im := clicks.Impression{
		ID: out.QueryID, Client: in.clientID, Time: time.Now().UTC(), Query: in.query, Model: out.Model, Version: out.Version,
		Documents: in.documentIDs, Segment: in.segment, Arm: out.Arm,
	}
	if i := out.Interleaved; i != nil {
		im.Interleaving, im.Seed, im.Shown, im.Temperature = i.how, i.Seed, i.Ranking, i.Temperature
	} else {
		im.Scores, im.Seed, im.Shown, im.Temperature = out.Scores, in.draw.seed, out.Drawn.Ranking, in.draw.temperature
	}
	im.Cutoff, im.Clicks = len(im.Shown), make([]float64, len(im.Shown))
	features, err := space.rows.logged()
	if err != nil {
		return err
	}
	if in.draw != nil && in.draw.rules != nil {
		im.Rules, im.LogProbability = in.draw.policy().TemperedRules(), out.Drawn.LogProbability
	}
	space.line, err = clicks.AppendQueryJSON(space.line, &im, features, model.features)
	return err
}

// all reports whether all documents are drawn. The propensity of each is 1.
func (d *draw) all(documents int) bool { return d.cutoff >= documents }

func (d *draw) policy() ranker.Policy {
	return ranker.Policy{Temperature: d.temperature, Rules: d.rules}
}

// from draws a ranking from the policy of the scores.
func (d *draw) from(ctx context.Context, scores []float64) (*drawn, error) {
	out := &drawn{Seed: d.seed, Temperature: d.temperature, Ranking: []int{}}
	var err error
	if out.Ranking, out.LogProbability, err = d.policy().Draw(out.Ranking, scores, d.cutoff, d.seed); err != nil {
		return nil, badRequest("%w", err) // a score beyond float64 at this temperature
	}
	out.Propensities = slices.Repeat([]float64{1}, len(scores))
	if !d.all(len(scores)) {
		out.Propensities, err = d.policy().Exposure(ctx, nil, scores, out.Propensities[:d.cutoff])
	}
	return out, err
}

// addEvents writes the lines of the events of a body.
func (s *Service) addEvents(ctx context.Context, body []byte, space *scratch) (n int, err error) {
	err = s.part(ctx, space, "its events", eventTime*float64(len(body)), 1, func() (err error) {
		space.line, n, err = appendEvents(space.line, body, s.limits.Documents)
		return err
	})
	return n, err
}

const (
	keptBytes     = 1 << 20 // the most memory of a request that is kept for the next one
	smallBody     = 1 << 16 // bytes of a body that any request may have in memory
	bodiesPerCore = 4       // of the largest size, in memory
)

// readBody reads the body of a request as it arrives. Memory for more than smallBody bytes is shared: a request gets it
// for what has arrived, or is refused. The caller calls free when it no longer needs the body, whatever the error.
func (s *Service) readBody(w http.ResponseWriter, r *http.Request) (body []byte, free func(), err error) {
	held := int64(0)
	free = func() { s.bodies.Release(held) }
	if r.Body != http.NoBody {
		// Without an error: a ResponseWriter that has no deadlines leaves them to the server, which lifts this one at the
		// end of the body.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.limits.Timeout))
	}
	in := http.MaxBytesReader(w, r.Body, s.limits.Body)
	most := s.limits.Body + 1 // one more byte, to see that the body ends
	if r.ContentLength >= 0 {
		most = min(most, r.ContentLength+1)
	}
	body = make([]byte, 0, min(most, smallBody+1))
	for {
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == io.EOF:
			return body, free, nil
		case err != nil:
			return nil, free, s.bodyError(err)
		case len(body) < cap(body):
			continue
		}
		more := max(bytes.MinRead, min(max(int64(len(body)), keptBytes), most-int64(len(body))))
		if !s.bodies.TryAcquire(more) {
			return nil, free, statusError{http.StatusServiceUnavailable,
				errors.New("other requests have taken the memory for large bodies: ask again")}
		}
		held += more
		body = slices.Grow(body, int(more))
	}
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
