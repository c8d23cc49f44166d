package serve

import (
	"cmp"
	"errors"
	"time"
)

// Limits holds the bounds on requests. A field that equals zero has its value in
// [DefaultLimits].
type Limits struct {
	// Body is the largest number of bytes of a body.
	Body int64

	// Documents is the largest number of documents, or of events, of a request.
	Documents int

	// Cutoff is the largest number of ranks to draw, unless all documents are ranked.
	Cutoff int

	// Work is the largest price of a request, in units of 0.2 µs of a core. See docs/serving.md.
	Work int

	// Requests is the largest number of requests in flight, which are those whose bodies have
	// arrived. Further requests get status 503.
	Requests int

	// Timeout is the time for a body to arrive, and again for the request to wait for a core and
	// be computed.
	Timeout time.Duration
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
