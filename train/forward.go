package train

import (
	"fmt"
	"sync"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// Forward is a forward pass of any kind of model that package nn knows: it runs the
// graphs of the model, several at once where it is called so. A kind that has no plain
// one is lent this:
//
//	ranker.Register("my kind", train.Forward)
//
// It may be called by several goroutines at once: graphs run side by side, and are built one
// at a time, for Gorgonia numbers some nodes, such as those of Rectify, with a counter of the
// process. A program that makes such nodes of its own meanwhile has a race on that counter.
func Forward(f *ranker.File) (ranker.Forward, error) {
	first, err := rankerOf(f)
	if err != nil {
		return nil, err
	}
	pool := sync.Pool{New: func() any {
		return newRanker(first.model, first.transform, first.ids, first.names, first.gain, first.grade)
	}}
	pool.Put(first)
	return func(scores []float64, x []float32) error {
		r := pool.Get().(*Ranker)
		defer pool.Put(r)
		capacity := datasets.Capacity(len(scores))
		g, err := r.graph(capacity)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		r.batch.X = append(r.batch.X[:0], x...)
		r.batch.X = append(r.batch.X, make([]float32, (capacity-len(scores))*r.transform.Width())...)
		r.batch.Offsets = r.batch.Offsets[:0]
		for len(r.batch.Offsets) <= capacity { // of one query, and empty ones
			r.batch.Offsets = append(r.batch.Offsets, len(scores))
		}
		r.batch.Offsets[0] = 0
		values, err := g.run(&r.batch)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		copy(scores, values)
		return nil
	}, nil
}
