package forward

import (
	"context"
	"fmt"
)

// A Norm names the arrays of a layer normalisation, both [Width].
type Norm struct {
	Gain, Bias string
	Width      int
}

// A Block names the parts of a block of a transformer: attention and two dense layers,
// each on normalised rows, and each added to what it was computed from.
type Block struct {
	First      Norm
	QKV, Merge MLPLayer
	Second     Norm
	Up, Down   MLPLayer
}

// A TransformerMember names the parts of a network: hidden layers and one score as in an
// MLP, with blocks and a normalisation between them.
type TransformerMember struct {
	Layers []MLPLayer
	Blocks []Block
	Last   Norm
}

// upwards is the width of the layer within a block, in widths of the block.
const upwards = 2

// TransformerMembers are the members of an ensemble of so many networks. Besides the
// arrays of MLPLayers there are block0.norm1.gain, block0.norm1.bias, block0.qkv.w,
// block0.qkv.b, …, and norm.gain, norm.bias, in an ensemble with m0. before them, ….
func TransformerMembers(features int, hidden []int, blocks, members int) []TransformerMember {
	width := hidden[len(hidden)-1]
	all := make([]TransformerMember, members)
	for m, layers := range MLPLayers(features, hidden, members) {
		prefix := ""
		if members > 1 {
			prefix = fmt.Sprintf("m%d.", m)
		}
		norm := func(name string) Norm { return Norm{prefix + name + ".gain", prefix + name + ".bias", width} }
		all[m] = TransformerMember{Layers: layers, Last: norm("norm")}
		for b := range blocks {
			block := fmt.Sprintf("block%d.", b)
			dense := func(name string, in, out int) MLPLayer {
				return MLPLayer{prefix + block + name + ".w", prefix + block + name + ".b", in, out}
			}
			all[m].Blocks = append(all[m].Blocks, Block{
				First: norm(block + "norm1"), QKV: dense("qkv", width, 3*width), Merge: dense("merge", width, width),
				Second: norm(block + "norm2"), Up: dense("up", width, upwards*width), Down: dense("down", upwards*width, width),
			})
		}
	}
	return all
}

// TransformerArrays is how many arrays TransformerMembers name, see MLPArrays.
func TransformerArrays(hidden, blocks, members int) int {
	const ofBlock = 2*4 + 2*2 // dense layers, normalisations
	return MLPArrays(hidden, members) + (ofBlock*blocks+2)*members
}

// Dense are the dense layers of the blocks, in their order.
func (m TransformerMember) Dense() (all []MLPLayer) {
	for _, b := range m.Blocks {
		all = append(all, b.QKV, b.Merge, b.Up, b.Down)
	}
	return all
}

// Norms are all normalisations, in their order.
func (m TransformerMember) Norms() (all []Norm) {
	for _, b := range m.Blocks {
		all = append(all, b.First, b.Second)
	}
	return append(all, m.Last)
}

// A Transformer is a network that sees all documents of a query, with weights that stay as
// they are, or the mean of several. It may be used by several goroutines at once.
type Transformer[T float] struct {
	members     []transformerMember[T]
	attention   Attention[T]
	latentCross bool
	widest      int // of the hidden layers
}

type transformerMember[T float] struct {
	hidden []*Layer[T]
	blocks []transformerBlock[T]
	last   norm[T]
	score  *Layer[T]
}

type transformerBlock[T float] struct {
	first, second        norm[T]
	qkv, merge, up, down *Layer[T]
}

type norm[T float] struct{ gain, bias []T }

// NewTransformer makes one of the arrays of that name.
func NewTransformer[T float](act Activation, members []TransformerMember, heads int, latentCross bool, array func(name string) []T) *Transformer[T] {
	t := &Transformer[T]{attention: Attention[T]{members[0].Last.Width, heads}, latentCross: latentCross}
	dense := func(a Activation, l MLPLayer) *Layer[T] { return NewLayer(a, l.In, l.Out, array(l.W), array(l.B)) }
	normOf := func(n Norm) norm[T] { return norm[T]{array(n.Gain), array(n.Bias)} }
	for _, m := range members {
		last := len(m.Layers) - 1
		member := transformerMember[T]{last: normOf(m.Last), score: dense(Identity, m.Layers[last])}
		for _, l := range m.Layers[:last] {
			member.hidden = append(member.hidden, dense(act, l))
			t.widest = max(t.widest, l.Out)
		}
		for _, b := range m.Blocks {
			member.blocks = append(member.blocks, transformerBlock[T]{
				normOf(b.First), normOf(b.Second), dense(Identity, b.QKV), dense(Identity, b.Merge), dense(act, b.Up), dense(Identity, b.Down),
			})
		}
		t.members = append(t.members, member)
	}
	return t
}

// Pairs is how many multiplications the scores take for every pair of documents.
func (t *Transformer[T]) Pairs() int {
	return 2 * t.attention.Width * len(t.members) * len(t.members[0].blocks)
}

// Scratch is how much scratch space Run needs for so many rows.
func (t *Transformer[T]) Scratch(rows int) int { return rows * (2*t.widest + 6*t.attention.Width + 1) }

// Run sets the score of every row of x, the documents of one query. Where the context ends,
// so does Run, with its error.
func (t *Transformer[T]) Run(ctx context.Context, x, scores, scratch []T) error {
	n, width := len(scores), t.attention.Width
	rest := scratch
	take := func(columns int) []T {
		part := rest[:n*columns]
		rest = rest[n*columns:]
		return part
	}
	odd, even := take(t.widest), take(t.widest)
	h, y, wide, sum := take(width), take(width), take(3*width), take(1)
	for i, m := range t.members {
		in := x
		for _, l := range m.hidden {
			l.Run(in, even[:n*l.Out])
			in, even, odd = even[:n*l.Out], odd, even
		}
		copy(h, in)
		for _, b := range m.blocks {
			NormalizeRows(b.first.gain, b.first.bias, h, y)
			b.qkv.Run(y, wide)
			if err := t.attention.RunQuery(ctx, wide, y); err != nil {
				return err
			}
			b.merge.Run(y, wide[:n*width])
			add(h, wide[:n*width])
			NormalizeRows(b.second.gain, b.second.bias, h, y)
			b.up.Run(y, wide[:upwards*n*width])
			b.down.Run(wide[:upwards*n*width], y)
			add(h, y)
		}
		NormalizeRows(m.last.gain, m.last.bias, h, h)
		if t.latentCross {
			for e, v := range in {
				h[e] = v + T(h[e]*v)
			}
		}
		m.score.Run(h, sum)
		if i == 0 {
			copy(scores, sum)
			continue
		}
		add(scores, sum)
	}
	if members := len(t.members); members > 1 {
		share := 1 / T(members)
		for r := range scores {
			scores[r] *= share
		}
	}
	return nil
}
