package main

import (
	"context"
	"runtime"
	"sync"

	"github.com/plrank/plrank/train"
)

// Whether trials run at the same time.
type schedule int

const (
	sideBySide schedule = iota // as many as there are cores: nothing is timed
	alone                      // one after another: time is measured
)

// trainAll is the learning curves of trials, which depend neither on their order nor
// on the number of cores.
func (s *session) trainAll(ctx context.Context, what string, trials []trial, how schedule) ([][]train.Epoch, error) {
	names := make([]string, len(trials))
	for i, c := range trials {
		names[i] = c.name()
	}
	return computeAll(ctx, s, what, names, how, func(ctx context.Context, i int, done func(float64)) ([]train.Epoch, error) {
		return s.train(ctx, trials[i], done)
	})
}

// computeAll is the results of trials of these names. Each tells how much of it is done, from 0
// to 1. The first error ends all.
func computeAll[T any](ctx context.Context, s *session, what string, names []string, how schedule,
	compute func(ctx context.Context, i int, done func(part float64)) (T, error)) ([]T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := newProgress(s.stderr, what, len(names))
	defer p.finish()
	results := make([]T, len(names))
	next := make(chan int)
	var workers sync.WaitGroup
	n := 1
	if how == sideBySide {
		n = min(len(names), runtime.GOMAXPROCS(0))
	}
	for range n {
		workers.Go(func() {
			for i := range next {
				var err error
				if results[i], err = compute(ctx, i, func(part float64) { p.at(i, part) }); err != nil {
					cancel(err)
					continue
				}
				p.done(i, names[i])
			}
		})
	}
	for i := range names {
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
	return results, nil
}
