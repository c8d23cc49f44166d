package model

import (
	"context"
	"sync"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/sparse"
)

// A Pass computes the scores of the documents of one query from their transformed features, row
// after row. Where the context ends, so does the pass, with its error. It may be called by
// several goroutines at once.
type Pass func(ctx context.Context, scores []float64, x []float32) error

// A SparsePass is a Pass of sparse documents.
type SparsePass func(ctx context.Context, scores []float64, rows *sparse.Rows) error

// KeptNumbers is the most numbers of scratch space that are kept for the next query; the numbers of
// one with more documents are not.
const KeptNumbers = 1 << 20

// passRows is how many documents are scored at a time where none sees the others: their hidden
// units stay in the cache.
const passRows = 128

// NewPasses makes the passes of the model with these arrays of weights. The second is nil for a model with bins or embeddings, and gives
// the scores of the first, bit for bit.
func NewPasses[T blas.Float](s Settings, array func(name string) []T) (Pass, SparsePass) {
	n := newNetwork(s, array)
	part := min(passRows, max(1, KeptNumbers/n.numbers()))
	pool := sync.Pool{New: func() any { return new(space[T]) }}
	inParts := func(ctx context.Context, scores []float64, run func(s *space[T], from, to int) error) error {
		most := part // documents at a time
		if s.Attention != nil {
			most = len(scores)
		}
		space := pool.Get().(*space[T])
		defer func() {
			if most*n.numbers() <= KeptNumbers {
				pool.Put(space)
			}
		}()
		for from := 0; from < len(scores); from += most {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := run(space, from, min(from+most, len(scores))); err != nil {
				return err
			}
		}
		return nil
	}
	pass := func(ctx context.Context, scores []float64, x []float32) error {
		return inParts(ctx, scores, func(space *space[T], from, to int) error {
			return n.run(ctx, scores[from:to], x[from*s.Features:to*s.Features], nil, space)
		})
	}
	if s.Bins != nil || s.Embeddings != nil {
		return pass, nil
	}
	return pass, func(ctx context.Context, scores []float64, rows *sparse.Rows) error {
		return inParts(ctx, scores, func(space *space[T], from, to int) error {
			own := rows.Cut(from, to)
			return n.run(ctx, scores[from:to], own.Values, &own, space)
		})
	}
}

// space is the scratch space of a pass.
type space[T blas.Float] struct {
	x, embedded  []T // inputs
	odd, even    []T // hidden layers, in turn
	h, y, wide   []T // of blocks
	attention    forward.AttentionSpace[T]
	score, total []T
}

// numbers is about how many it holds for every document.
func (n *network[T]) numbers() int {
	return n.Inputs() + 3*n.widest + (2+n.wide())*n.attention.Width + 2
}

// wide is the most columns that a layer of a block has, in widths of the block.
func (n *network[T]) wide() int { return max(3, upwards*n.Activation.Products()) }

// run sets the score of every row of x, or of sparse ones whose values are x. Where rows see each other, they are the documents of one
// query.
func (n *network[T]) run(ctx context.Context, scores []float64, x []float32, own *sparse.Rows, s *space[T]) error {
	in, err := n.inputs(x, s)
	if err != nil {
		return err
	}
	rows, width := len(scores), n.attention.Width
	s.odd, s.even = num.Sized(s.odd, rows*n.widest), num.Sized(s.even, rows*n.widest)
	s.h, s.y, s.wide = num.Sized(s.h, rows*width), num.Sized(s.y, rows*width), num.Sized(s.wide, n.wide()*rows*width)
	s.score, s.total = num.Sized(s.score, rows), num.Sized(s.total, rows)
	layer := func(l *forward.Layer[T], first bool, x, y []T) []T {
		if first && own != nil {
			return l.RunSparse(forward.Sparse[T]{Starts: own.Starts, Columns: own.Columns, Values: x}, y)
		}
		return l.Run(x, y)
	}
	for i, m := range n.members {
		h := in
		for j, l := range m.hidden {
			h = layer(l, j == 0, h, s.even[:rows*l.Out])
			s.even, s.odd = s.odd, s.even
		}
		if n.Attention != nil {
			if h, err = n.runBlocks(ctx, m, h, s); err != nil {
				return err
			}
		}
		if i == 0 {
			layer(m.score, len(m.hidden) == 0, h, s.total)
			continue
		}
		layer(m.score, len(m.hidden) == 0, h, s.score)
		forward.Add(s.total, s.score)
	}
	share := 1 / T(len(n.members))
	for r, v := range s.total {
		scores[r] = float64(v * share)
	}
	return nil
}

// inputs returns the inputs of the first layer, for rows of transformed features.
func (n *network[T]) inputs(rows []float32, s *space[T]) ([]T, error) {
	x, same := any(rows).([]T)
	if !same {
		s.x = s.x[:0]
		for _, v := range rows {
			s.x = append(s.x, T(v))
		}
		x = s.x
	}
	if n.tables == nil {
		return x, nil
	}
	s.embedded = num.Sized(s.embedded, len(rows)/n.Features*n.Inputs())
	return s.embedded, forward.Embed(n.Features, n.Embeddings, n.tables, x, s.embedded)
}

// runBlocks gives the inputs of the last layer, of the outputs of the hidden layers.
func (n *network[T]) runBlocks(ctx context.Context, m member[T], hidden []T, s *space[T]) ([]T, error) {
	h, y := s.h, s.y
	qkv := s.wide[:3*len(h)]
	copy(h, hidden)
	for _, b := range m.blocks {
		forward.NormalizeRows(b.first.gain, b.first.bias, h, y)
		b.qkv.Run(y, qkv)
		if err := n.attention.RunQuery(ctx, &s.attention, qkv, y); err != nil {
			return nil, err
		}
		merged, up := s.wide[:len(h)], s.wide[:len(h)/b.up.In*b.up.Out]
		b.merge.Run(y, merged)
		forward.Add(h, merged)
		forward.NormalizeRows(b.second.gain, b.second.bias, h, y)
		b.down.Run(b.up.Run(y, up), y)
		forward.Add(h, y)
	}
	forward.NormalizeRows(m.last.gain, m.last.bias, h, h)
	return h, nil
}

// A network is a model with weights that stay as they are. It may be used by several goroutines
// at once.
type network[T blas.Float] struct {
	Settings
	tables    [][]T // of the embeddings
	members   []member[T]
	attention forward.Attention[T] // zero: none
	widest    int                  // of the hidden layers
}

// A member is a [Member] with its weights.
type member[T blas.Float] struct {
	hidden []*forward.Layer[T]
	blocks []block[T]
	last   norm[T]
	score  *forward.Layer[T]
}

type block[T blas.Float] struct {
	first, second        norm[T]
	qkv, merge, up, down *forward.Layer[T]
}

type norm[T blas.Float] struct{ gain, bias []T }

// newNetwork makes one of the arrays of these names.
func newNetwork[T blas.Float](s Settings, array func(name string) []T) *network[T] {
	n := &network[T]{Settings: s}
	for i := range s.Embeddings {
		n.tables = append(n.tables, array(Table(i)))
	}
	dense := func(a forward.Activation, d Dense) *forward.Layer[T] {
		return forward.NewLayer(a, d.Bins, d.In, d.Out, array(d.W), array(d.B))
	}
	normOf := func(n Norm) norm[T] { return norm[T]{array(n.Gain), array(n.Bias)} }
	for _, m := range s.Layers() {
		own := member[T]{score: dense(forward.Identity, m.Score)}
		for _, d := range m.Hidden {
			own.hidden = append(own.hidden, dense(s.Activation, d))
			n.widest = max(n.widest, d.Out)
		}
		for _, b := range m.Blocks {
			own.blocks = append(own.blocks, block[T]{
				first: normOf(b.First), qkv: dense(forward.Identity, b.QKV), merge: dense(forward.Identity, b.Merge),
				second: normOf(b.Second), up: dense(s.Activation, b.Up), down: dense(forward.Identity, b.Down),
			})
		}
		if s.Attention != nil {
			n.attention = forward.Attention[T]{Width: s.Width(), Heads: s.Heads()}
			own.last = normOf(m.Last)
		}
		n.members = append(n.members, own)
	}
	return n
}
