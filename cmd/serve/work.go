package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"
)

// What a request takes is known before it is computed: its price, in units of about 0.2 µs of
// a core and some ten bytes. A document and a rank to draw is one unit. The others are in
// proportion to it.
const (
	inputsOfUnit          = 16   // numbers that the model sees of a document
	multiplicationsOfUnit = 2000 // of the model's scores
)

func (m *served) price(documents, ranks int) int {
	inputs := m.File().Transform.Inputs + m.File().Transform.Width()
	return documents*ranks + documents*inputs/inputsOfUnit + int(m.Multiplications(documents)/multiplicationsOfUnit)
}

// lightWork is the largest price of a request that may be computed beside others: some
// milliseconds, some megabytes.
const lightWork = 100_000

// work lets in what is computed. Of requests above lightWork, there are as many at a time as
// cores: more would take no less time together, and more memory. They do not hold up the
// others.
type work struct {
	light, heavy lane
	bodies       lane        // large ones, while they are in memory
	idle         *time.Timer // gives memory back to the system, when no request has ended for idleTime
}

const idleTime = 2 * time.Second

func newWork() *work {
	cores := runtime.GOMAXPROCS(0)
	w := &work{light: make(lane, 4*cores), heavy: make(lane, cores), bodies: make(lane, 4*cores), idle: time.AfterFunc(idleTime, giveBack)}
	w.idle.Stop()
	return w
}

// giveBack gives memory that is not in use back to the system. What pools have is in use until
// the second collection.
func giveBack() {
	runtime.GC()
	debug.FreeOSMemory()
}

// of is the lane of a price.
func (w *work) of(price int) lane {
	if price <= lightWork {
		return w.light
	}
	return w.heavy
}

// A lane holds one token for each request that is in it.
type lane chan struct{}

// enter waits for room until the context ends, and gives a function that leaves the lane.
func (l lane) enter(ctx context.Context) (leave func(), err error) {
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return func() {}, ctx.Err()
	}
}

// statusClientClosed is what nginx has for clients that hang up. Nobody gets it; it is in the
// log and in the metrics.
const statusClientClosed = 499

// contextError is the error of a request whose context has ended, and err of others.
func (s *server) contextError(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return httpError{http.StatusServiceUnavailable, fmt.Errorf("no answer within %v: the service has too much work, or the request is too large for it", s.timeout)}
	case errors.Is(err, context.Canceled):
		return httpError{statusClientClosed, errors.New("the client hung up")}
	}
	return err
}
