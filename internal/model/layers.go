package model

import (
	"fmt"

	"github.com/plrank/plrank/internal/forward"
)

// A Dense names the arrays of a dense layer, and says how large they are: w [rows, out], or [rows]
// in the last layer, whose width is 1; b [out]. With SwiGLU, a layer has half as many outputs as out says.
type Dense struct {
	W, B    string
	Bins    []int // of its first inputs, in a first layer: see ops.PiecewiseLinear
	In, Out int
}

// Rows returns the number of rows of w: In, without bins.
func (d Dense) Rows() int { return forward.BinRows(d.Bins, d.In) }

// A Norm names the arrays of a layer normalisation, both [width].
type Norm struct {
	Gain, Bias string
	Width      int
}

// A Block is attention and two dense layers, each on normalised rows, and each added to its
// input.
type Block struct {
	First      Norm
	QKV, Merge Dense
	Second     Norm
	Up, Down   Dense
}

// upwards is the width of the layer within a block, in widths of the block.
const upwards = 2

// A Member is one network of a model: hidden layers, and the layer of the score. That of a
// transformer has blocks and a normalisation between them.
type Member struct {
	Network int // of an ensemble that it belongs to, from 1; 0: there is one
	Hidden  []Dense
	Blocks  []Block
	Last    Norm
	Score   Dense
}

// Layers returns the layers of all members. The arrays of a layer are called w0, b0, w1, …, those
// of a transformer also block0.norm1.gain, block0.norm1.bias, block0.qkv.w, block0.qkv.b, …,
// norm.gain and norm.bias; in an ensemble m0.w0, ….
func (s Settings) Layers() (all []Member) {
	for i := range max(1, s.Members) {
		prefix, network := "", 0
		if s.Members > 1 {
			prefix, network = fmt.Sprintf("m%d.", i), i+1
		}
		m := s.member(prefix)
		m.Network = network
		all = append(all, m)
	}
	return all
}

// member returns the layers of a member, with names that begin with prefix.
func (s Settings) member(prefix string) (m Member) {
	in := s.Inputs()
	layer := func(i, out int) Dense {
		d := Dense{W: fmt.Sprintf("%sw%d", prefix, i), B: fmt.Sprintf("%sb%d", prefix, i), In: in, Out: out}
		if i == 0 {
			d.Bins = s.Bins
		}
		return d
	}
	for i, out := range s.Hidden {
		m.Hidden = append(m.Hidden, layer(i, s.Activation.Products()*out))
		in = out
	}
	m.Score = layer(len(s.Hidden), 1)
	if s.Attention == nil {
		return m
	}
	width := s.Width()
	norm := func(name string) Norm { return Norm{prefix + name + ".gain", prefix + name + ".bias", width} }
	for b := range s.Blocks {
		block := fmt.Sprintf("block%d.", b)
		dense := func(name string, in, out int) Dense {
			return Dense{W: prefix + block + name + ".w", B: prefix + block + name + ".b", In: in, Out: out}
		}
		m.Blocks = append(m.Blocks, Block{
			First: norm(block + "norm1"), QKV: dense("qkv", width, 3*width), Merge: dense("merge", width, width),
			Second: norm(block + "norm2"), Up: dense("up", width, s.Activation.Products()*upwards*width), Down: dense("down", upwards*width, width),
		})
	}
	m.Last = norm("norm")
	return m
}

// Table returns the name of the table of embedding i, an array [codes, width].
func Table(i int) string { return fmt.Sprintf("embedding%d", i) }

// A Builder adds layers to a graph with values of type V.
type Builder[V any] interface {
	Dense(d Dense, act forward.Activation, dropout int, x V) V // then dropout of that number, see NoDropout
	Norm(n Norm, x V) V
	Attention(heads, width int, qkv V) V
	Add(x, y V) V
	Times(x V, factor float64) V
}

// NoDropout is the number of a layer without a dropout.
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
			// Dropouts of the blocks are numbered after the dropouts of all hidden layers.
			h = buildBlocks(s, b, m, len(members)*(len(s.Hidden)+1)+2*i*s.Blocks, h)
		}
		scores = append(scores, b.Dense(m.Score, forward.Identity, NoDropout, h))
	}
	return scores
}

// buildBlocks adds the blocks of a transformer, behind the hidden layers.
func buildBlocks[V any](s Settings, b Builder[V], m Member, dropout int, h V) V {
	for i, block := range m.Blocks {
		qkv := b.Dense(block.QKV, forward.Identity, NoDropout, b.Norm(block.First, h))
		h = b.Add(h, b.Dense(block.Merge, forward.Identity, dropout+2*i, b.Attention(s.Heads(), s.Width(), qkv)))
		up := b.Dense(block.Up, s.Activation, NoDropout, b.Norm(block.Second, h))
		h = b.Add(h, b.Dense(block.Down, forward.Identity, dropout+2*i+1, up))
	}
	return b.Norm(m.Last, h)
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
	return b.Times(sum, 1/float64(len(scores)))
}
