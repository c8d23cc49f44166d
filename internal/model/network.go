package model

import (
	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/forward"
)

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
		return forward.NewLayer(a, d.In, d.Out, array(d.W), array(d.B))
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
