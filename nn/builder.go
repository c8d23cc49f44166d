package nn

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/layers"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/ops"
)

// A builder adds the layers of a network to a graph, see [model.Build].
type builder struct {
	weights *Weights
	dropout *layers.Dropout // nil: none, as in graphs without training
	in      Input
	err     error // the first one; what comes after it adds nothing
}

// array is the node of the array of that name.
func (b *builder) array(name string) *G.Node { return b.in.Weights[b.weights.index(name)] }

// add adds what make does. Errors begin with what, unless it is "".
func (b *builder) add(what string, make func() (*G.Node, error)) *G.Node {
	if b.err != nil {
		return nil
	}
	n, err := make()
	switch {
	case err != nil && what != "":
		b.err = fmt.Errorf("nn: %s: %w", what, err)
	case err != nil:
		b.err = fmt.Errorf("nn: %w", err)
	}
	return n
}

// inputs returns the inputs of the first layer: vectors instead of codes.
func (b *builder) inputs(embeddings int) *G.Node {
	if b.in.Sparse != nil {
		return b.in.Sparse.Values
	}
	if embeddings == 0 {
		return b.in.Features
	}
	var tables G.Nodes
	for i := range embeddings {
		tables = append(tables, b.array(model.Table(i)))
	}
	return b.add("", func() (*G.Node, error) { return ops.Embed(b.in.Features, tables) })
}

func (b *builder) Dense(d model.Dense, act forward.Activation, dropout int, x *G.Node) *G.Node {
	masks := b.dropout
	if dropout == model.NoDropout {
		masks = nil
	}
	return b.add("layer "+d.W, func() (*G.Node, error) {
		w, bias := b.array(d.W), b.array(d.B)
		if s := b.in.Sparse; s != nil && x == s.Values {
			return layers.Dense("ops: SparseDense", x, w, bias, nil, act, masks, dropout, s.Starts, s.Columns)
		}
		if masks == nil || d.Bins == nil {
			return layers.Dense("ops: Dense", x, w, bias, d.Bins, act, masks, dropout)
		}
		y, err := layers.Dense("ops: PiecewiseLinear", x, w, bias, d.Bins, act, nil, 0)
		if err != nil {
			return nil, err
		}
		return layers.Drop(y, masks, dropout)
	})
}

func (b *builder) Norm(n model.Norm, x *G.Node) *G.Node {
	return b.add(n.Gain, func() (*G.Node, error) { return ops.LayerNorm(x, b.array(n.Gain), b.array(n.Bias)) })
}

func (b *builder) Attention(heads, _ int, qkv *G.Node) *G.Node {
	return b.add("", func() (*G.Node, error) { return ops.Attention(qkv, b.in.Offsets, heads) })
}

func (b *builder) Add(x, y *G.Node) *G.Node {
	return b.add("", func() (*G.Node, error) { return G.Add(x, y) })
}

func (b *builder) Times(x *G.Node, factor float64) *G.Node {
	var number any = float32(factor)
	if b.weights.Dtype() == tensor.Float64 {
		number = factor
	}
	return b.add("", func() (*G.Node, error) { return G.HadamardProd(x, G.NewConstant(number)) })
}
