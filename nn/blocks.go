package nn

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/ops"
)

// blocks adds those of a transformer, behind the hidden layers.
func (b builder) blocks(number int, m model.Member, hidden *G.Node) (h *G.Node, err error) {
	h = hidden
	for i, block := range m.Blocks {
		// Dropout of the blocks is numbered after that of all hidden layers.
		layer := b.layer(b.settings.Size(), 0) + 2*(number*len(m.Blocks)+i)
		if h, err = b.add(h, layer, block, b.attend); err != nil {
			return nil, err
		}
		if h, err = b.add(h, layer+1, block, b.feed); err != nil {
			return nil, err
		}
	}
	if h, err = b.norm(m.Last, h); err != nil || !b.settings.LatentCross {
		return h, err
	}
	if h, err = G.HadamardProd(h, hidden); err != nil {
		return nil, err
	}
	return G.Add(hidden, h)
}

// add adds to h the output of part, after dropout.
func (b builder) add(h *G.Node, layer int, block model.Block, part func(model.Block, *G.Node) (*G.Node, error)) (*G.Node, error) {
	y, err := part(block, h)
	if err != nil {
		return nil, err
	}
	if y, err = b.drop(y, layer); err != nil {
		return nil, err
	}
	return G.Add(h, y)
}

// attend adds attention among the documents of each query.
func (b builder) attend(block model.Block, h *G.Node) (*G.Node, error) {
	h, err := b.norm(block.First, h)
	if err != nil {
		return nil, err
	}
	if h, err = b.dense(block.QKV, h, ops.Identity); err != nil {
		return nil, err
	}
	if h, err = ops.Attention(h, b.in.Offsets, b.settings.Heads()); err != nil {
		return nil, err
	}
	return b.dense(block.Merge, h, ops.Identity)
}

// feed adds two dense layers on each document.
func (b builder) feed(block model.Block, h *G.Node) (*G.Node, error) {
	h, err := b.norm(block.Second, h)
	if err != nil {
		return nil, err
	}
	if h, err = b.dense(block.Up, h, b.activation()); err != nil {
		return nil, err
	}
	return b.dense(block.Down, h, ops.Identity)
}

func (b builder) norm(n model.Norm, h *G.Node) (*G.Node, error) {
	y, err := ops.LayerNorm(h, b.array(n.Gain), b.array(n.Bias))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Gain, err)
	}
	return y, nil
}
