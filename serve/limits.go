package serve

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limits holds the bounds on requests. A field that equals zero has its value in
// [DefaultLimits].
type Limits struct {
	Body      int64         // bytes of the body
	Documents int           // documents
	Cutoff    int           // ranks to draw, unless they are all
	Work      int           // work, in units of 0.2 µs of a core: see docs/serving.md
	Requests  int           // requests in flight, whose bodies have arrived; further ones get status 503
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

// light is the largest price of light work, which takes a few megabytes.
const light = 20_000_000

// A gate admits work to the cores. Heavy work is computed one per core: more at a time would take more memory, and not
// finish sooner. Light work does not wait for heavy work; its prices add up to at most the largest one for each core.
type gate struct {
	cores        int64
	heavy, light *semaphore.Weighted
}

func newGate() gate {
	cores := int64(runtime.GOMAXPROCS(0))
	return gate{cores, semaphore.NewWeighted(cores), semaphore.NewWeighted(cores * light)}
}

// enter waits for room until the context ends. Heavy work keeps that many cores busy. The caller calls leave after the work.
func (g gate) enter(ctx context.Context, price float64, cores int64) (leave func(), err error) {
	room, weight := g.light, int64(min(price, light))
	if price > light {
		room, weight = g.heavy, cores
	}
	if err := room.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	return func() { room.Release(weight) }, nil
}
