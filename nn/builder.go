package nn

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/ops"
)

// A builder adds the layers of a network to a graph.
type builder struct {
	settings model.Settings
	weights  *Weights
	dropout  *ops.Dropout // nil: none, as in graphs without training
	in       Input
}

// array is the node of the array of that name.
func (b builder) array(name string) *G.Node { return b.in.Weights[b.weights.index(name)] }

func (b builder) activation() ops.Activation { return ops.Activation(b.settings.Activation) }

// layer counts the layers of all members, for their dropout.
func (b builder) layer(member, layer int) int { return member*(len(b.settings.Hidden)+1) + layer }

func (b builder) dense(d model.Dense, h *G.Node, act ops.Activation) (*G.Node, error) {
	y, err := ops.Dense(h, b.array(d.W), b.array(d.B), act)
	if err != nil {
		return nil, fmt.Errorf("layer %s: %w", d.W, err)
	}
	return y, nil
}

// drop adds dropout.
func (b builder) drop(h *G.Node, layer int) (*G.Node, error) {
	if b.dropout == nil {
		return h, nil
	}
	return ops.Drop(h, b.dropout, layer)
}
