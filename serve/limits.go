package serve

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"time"
)

// Limits holds the bounds on requests. A field that equals zero has its value in
// [DefaultLimits].
type Limits struct {
	Body      int64         // bytes of the body
	Documents int           // documents
	Cutoff    int           // ranks to draw, unless they are all
	Work      int           // work, in units of about 0.2 µs of a core: see docs/serving.md
	Requests  int           // requests in flight; further ones get status 503
	Timeout   time.Duration // to receive the body; and again to wait for a core and compute
}

// DefaultLimits returns limits of 16 MiB, 10,000 documents, 1000 ranks, 20 million units of work, 256
// requests in flight and 10 seconds.
func DefaultLimits() Limits {
	return Limits{Body: 16 << 20, Documents: 10_000, Cutoff: 1000, Work: 20_000_000, Requests: 256, Timeout: 10 * time.Second}
}

func (l Limits) orDefaults() (Limits, error) {
	if l.Body < 0 || l.Documents < 0 || l.Cutoff < 0 || l.Work < 0 || l.Requests < 0 || l.Timeout < 0 {
		return l, errors.New("service: negative limit")
	}
	d := DefaultLimits()
	return Limits{
		Body: cmp.Or(l.Body, d.Body), Documents: cmp.Or(l.Documents, d.Documents), Cutoff: cmp.Or(l.Cutoff, d.Cutoff),
		Work: cmp.Or(l.Work, d.Work), Requests: cmp.Or(l.Requests, d.Requests), Timeout: cmp.Or(l.Timeout, d.Timeout),
	}, nil
}

// lightWork is the largest price of a light request, which takes a few milliseconds and
// megabytes.
const lightWork = 100_000

// lanes admits requests to the cores. Requests above lightWork are computed one per core: more
// at a time would take more memory, and not finish sooner. They do not delay light requests.
type lanes struct {
	light, heavy lane
	bodies       lane // large bodies, while they are in memory
}

func newLanes() *lanes {
	cores := runtime.GOMAXPROCS(0)
	return &lanes{light: make(lane, 4*cores), heavy: make(lane, cores), bodies: make(lane, 4*cores)}
}

// forPrice returns the lane for a price.
func (l *lanes) forPrice(price int) lane {
	if price <= lightWork {
		return l.light
	}
	return l.heavy
}

// A lane holds one token for each request in it.
type lane chan struct{}

// enter waits for room until the context ends. The caller calls leave to leave the lane.
func (l lane) enter(ctx context.Context) (leave func(), err error) {
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return func() {}, ctx.Err()
	}
}
