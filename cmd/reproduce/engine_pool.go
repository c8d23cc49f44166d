package main

import (
	"context"
	"runtime"
	"sync"

	"github.com/plrank/plrank/train"
)

// Whether trials run beside each other.
type schedule int

const (
	sideBySide schedule = iota // as many as there are cores: nothing is timed
	alone                      // one after another: time is measured
)

// trainAll is the learning curves of trials, which depend neither on their order nor
// on the number of cores. The first error ends all.
func (s *session) trainAll(ctx context.Context, what string, trials []trial, how schedule) ([][]train.Epoch, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := newProgress(s.stderr, what, len(trials))
	defer p.finish()
	curves := make([][]train.Epoch, len(trials))
	next := make(chan int)
	var workers sync.WaitGroup
	n := 1
	if how == sideBySide {
		n = min(len(trials), runtime.GOMAXPROCS(0))
	}
	for range n {
		workers.Go(func() {
			for i := range next {
				var err error
				if curves[i], err = s.train(ctx, trials[i], func(part float64) { p.at(i, part) }); err != nil {
					cancel(err)
					continue
				}
				p.done(i, trials[i].name())
			}
		})
	}
	for i := range trials {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return curves, nil
}
