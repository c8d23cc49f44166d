package model

import (
	"context"
	"slices"
	"sync"

	"github.com/plrank/plrank/internal/blas"
)

// A Pass computes the scores of the documents of one query from their transformed features, row
// after row. Where the context ends, so does the pass, with its error. It may be called by
// several goroutines at once.
type Pass func(ctx context.Context, scores []float64, x []float32) error

// NewPass makes the pass of the model with these arrays of weights, and says how many
// multiplications it takes for every pair of documents, besides one a weight for every document.
func NewPass[T blas.Float](s Settings, array func(name string) []T) (pass Pass, pairs int) {
	in := newInputs(s, array)
	if s.Attention == nil {
		return newMLP(s.Activation, s.Layers(), array).pass(in), 0
	}
	t := newTransformer(s, array)
	return t.pass(in), t.pairs()
}

// How many documents an MLP scores at a time: their hidden units stay in the cache, and
// those of very wide layers take about as much memory as the weights at most.
const (
	mlpRows   = 128
	mlpValues = 1 << 22 // numbers computed for them, unless one document takes more
)

func (m *mlp[T]) pass(inputs inputs[T]) Pass {
	most := min(mlpRows, max(1, mlpValues/m.scratch(1)))
	type space struct{ x, scores, scratch []T }
	pool := sync.Pool{New: func() any {
		return &space{nil, make([]T, most), make([]T, m.scratch(most))}
	}}
	return func(ctx context.Context, scores []float64, x []float32) error {
		s := pool.Get().(*space)
		defer pool.Put(s)
		width := len(x) / len(scores)
		for from := 0; from < len(scores); from += most {
			if err := ctx.Err(); err != nil {
				return err
			}
			part := scores[from:min(from+most, len(scores))]
			rows := x[from*width:][:len(part)*width]
			in, err := inputs.of(rows, &s.x)
			if err != nil {
				return err
			}
			m.run(in, s.scores[:len(part)], s.scratch)
			for i, v := range s.scores[:len(part)] {
				part[i] = float64(v)
			}
		}
		return nil
	}
}

// KeptNumbers is the most numbers of scratch space that are kept for the next query; those of
// one with more documents are not.
const KeptNumbers = 1 << 20

func (t *transformer[T]) pass(inputs inputs[T]) Pass {
	type space struct{ x, scores, scratch []T }
	pool := sync.Pool{New: func() any { return new(space) }}
	return func(ctx context.Context, scores []float64, x []float32) error {
		need := t.scratch(len(scores))
		var s *space
		if need+len(x) <= KeptNumbers {
			s = pool.Get().(*space)
			defer pool.Put(s)
		} else {
			s = new(space)
		}
		in, err := inputs.of(x, &s.x)
		if err != nil {
			return err
		}
		s.scores, s.scratch = slices.Grow(s.scores[:0], len(scores))[:len(scores)], slices.Grow(s.scratch[:0], need)[:need]
		if err := t.run(ctx, in, s.scores, s.scratch); err != nil {
			return err
		}
		for i, v := range s.scores {
			scores[i] = float64(v)
		}
		return nil
	}
}
