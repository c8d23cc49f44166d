package model

import "fmt"

// A Dense names the arrays of a dense layer, and says how large they are: w [in, out], or [in]
// in the last layer, whose width is 1; b [out].
type Dense struct {
	W, B    string
	In, Out int
}

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
	Hidden []Dense
	Blocks []Block
	Last   Norm
	Score  Dense
}

// Layers are the layers of all members. The arrays of a layer are called w0, b0, w1, …, those
// of a transformer also block0.norm1.gain, block0.norm1.bias, block0.qkv.w, block0.qkv.b, …,
// norm.gain and norm.bias; in an ensemble m0.w0, ….
func (s Settings) Layers() []Member {
	all := make([]Member, s.Size())
	for i := range all {
		prefix := ""
		if len(all) > 1 {
			prefix = fmt.Sprintf("m%d.", i)
		}
		all[i] = s.member(prefix)
	}
	return all
}

func (s Settings) member(prefix string) (m Member) {
	in := s.Inputs()
	layer := func(i, out int) Dense {
		return Dense{fmt.Sprintf("%sw%d", prefix, i), fmt.Sprintf("%sb%d", prefix, i), in, out}
	}
	for i, out := range s.Hidden {
		m.Hidden = append(m.Hidden, layer(i, out))
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
			return Dense{prefix + block + name + ".w", prefix + block + name + ".b", in, out}
		}
		m.Blocks = append(m.Blocks, Block{
			First: norm(block + "norm1"), QKV: dense("qkv", width, 3*width), Merge: dense("merge", width, width),
			Second: norm(block + "norm2"), Up: dense("up", width, upwards*width), Down: dense("down", upwards*width, width),
		})
	}
	m.Last = norm("norm")
	return m
}

// Table is the name of the table of embedding i, an array [codes, width].
func Table(i int) string { return fmt.Sprintf("embedding%d", i) }
