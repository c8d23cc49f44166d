package service

import (
	"cmp"
	"errors"
	"time"
)

// Limits bound a request and what it may take. A field that equals zero has its value in
// [DefaultLimits].
type Limits struct {
	Body      int64         // bytes of the body
	Documents int           // documents
	Cutoff    int           // ranks to draw
	Work      int           // work, in units of about 0.2 µs of a core: see docs/serving.md
	Requests  int           // requests in flight; further ones get status 503
	Timeout   time.Duration // to receive the body; and again to wait for a core and compute
}

// DefaultLimits are 16 MiB, 10,000 documents, 1000 ranks, 20 million units of work, 256
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
