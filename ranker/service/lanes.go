package service

import (
	"context"
	"runtime"
)

// lightWork is the largest price of a request that may be computed beside as many others as
// come: some milliseconds, some megabytes.
const lightWork = 100_000

// lanes admit requests to the cores. Requests above lightWork are computed one per core: more
// at a time would not finish sooner together, and take more memory. They do not delay the
// others.
type lanes struct {
	light, heavy lane
	bodies       lane // large bodies, while they are in memory
}

func newLanes() *lanes {
	cores := runtime.GOMAXPROCS(0)
	return &lanes{light: make(lane, 4*cores), heavy: make(lane, cores), bodies: make(lane, 4*cores)}
}

// of is the lane for a price.
func (l *lanes) of(price int) lane {
	if price <= lightWork {
		return l.light
	}
	return l.heavy
}

// A lane holds one token for each request in it.
type lane chan struct{}

// enter waits for room until the context ends. The result leaves the lane.
func (l lane) enter(ctx context.Context) (leave func(), err error) {
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return func() {}, ctx.Err()
	}
}
