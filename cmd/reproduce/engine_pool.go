package main

import (
	"context"
	"runtime"
	"sync"

	"github.com/plrank/plrank/train"
)

// Whether cells run beside each other.
type company int

const (
	together company = iota // as many as there are cores: nothing is timed
	alone                   // one after another: time is measured
)

// trainAll is the learning curves of cells, which depend neither on their order nor
// on the number of cores. The first error ends all.
func (s *session) trainAll(ctx context.Context, what string, cells []cell, how company) ([][]train.Epoch, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := newProgress(s.stderr, what, len(cells))
	defer p.finish()
	curves := make([][]train.Epoch, len(cells))
	next := make(chan int)
	var workers sync.WaitGroup
	n := 1
	if how == together {
		n = min(len(cells), runtime.GOMAXPROCS(0))
	}
	for range n {
		workers.Go(func() {
			for i := range next {
				var err error
				if curves[i], err = s.train(ctx, cells[i], func(part float64) { p.at(i, part) }); err != nil {
					cancel(err)
					continue
				}
				p.done(i, cells[i].name())
			}
		})
	}
	for i := range cells {
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
