package model

import "github.com/plrank/plrank/internal/forward"

// A Builder adds layers to a graph with values of type V.
type Builder[V any] interface {
	Dense(d Dense, act forward.Activation, dropout int, x V) V // then dropout of that number, see NoDropout
	Norm(n Norm, x V) V
	Attention(heads, width int, qkv V) V
	Add(x, y V) V
	Mul(x, y V) V // by element, or by a number
	Number(v float64) V
}

// NoDropout is no number of a dropout.
const NoDropout = -1

// Build adds the members of a model, and gives the scores of each. x is the inputs of the first layer.
func Build[V any](s Settings, b Builder[V], x V) (scores []V) {
	members := s.Layers()
	for i, m := range members {
		dropout := i * (len(s.Hidden) + 1)
		h := x
		for j, d := range m.Hidden {
			h = b.Dense(d, s.Activation, dropout+j, h)
		}
		if s.Attention != nil {
			// Dropouts of the blocks are numbered after those of all hidden layers.
			h = buildBlocks(s, b, m, len(members)*(len(s.Hidden)+1)+2*i*s.Blocks, h)
		}
		scores = append(scores, b.Dense(m.Score, forward.Identity, NoDropout, h))
	}
	return scores
}

// buildBlocks adds the blocks of a transformer, behind the hidden layers.
func buildBlocks[V any](s Settings, b Builder[V], m Member, dropout int, hidden V) V {
	h := hidden
	for i, block := range m.Blocks {
		qkv := b.Dense(block.QKV, forward.Identity, NoDropout, b.Norm(block.First, h))
		h = b.Add(h, b.Dense(block.Merge, forward.Identity, dropout+2*i, b.Attention(s.Heads(), s.Width(), qkv)))
		up := b.Dense(block.Up, s.Activation, NoDropout, b.Norm(block.Second, h))
		h = b.Add(h, b.Dense(block.Down, forward.Identity, dropout+2*i+1, up))
	}
	h = b.Norm(m.Last, h)
	if s.LatentCross {
		h = b.Add(hidden, b.Mul(h, hidden))
	}
	return h
}

// Mean adds the mean of the scores of the members.
func Mean[V any](b Builder[V], scores []V) V {
	sum := scores[0]
	for _, s := range scores[1:] {
		sum = b.Add(sum, s)
	}
	if len(scores) == 1 {
		return sum
	}
	return b.Mul(sum, b.Number(1/float64(len(scores))))
}
