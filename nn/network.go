package nn

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/ops"
)

// A network is a model of a built-in kind: members that begin with the hidden layers of an MLP,
// go on with the blocks of a transformer, if it is one, and end in one score.
type network struct {
	settings model.Settings
	weights  *Weights
	dropout  *ops.Dropout // nil: none
}

// newNetwork makes one with initial weights.
func newNetwork(s model.Settings, dtype tensor.Dtype) (network, error) {
	if err := s.Check(); err != nil {
		return network{}, fmt.Errorf("nn: %w", err)
	}
	arrays := s.Arrays()
	weights, err := NewWeights(dtype, arraysOf(arrays)...)
	if err != nil {
		return network{}, err
	}
	if err := initialise(weights, s.Seed, arrays); err != nil {
		return network{}, err
	}
	return networkOf(s, weights)
}

// readNetwork makes one of stored settings and weights.
func readNetwork(kind string, settings []byte, stored *Weights) (network, error) {
	s, err := model.Read(kind, settings)
	if err == nil {
		err = s.CheckCount(len(stored.arrays))
	}
	if err != nil {
		return network{}, fmt.Errorf("nn: %w", err)
	}
	weights, err := stored.Select(arraysOf(s.Arrays())...)
	if err != nil {
		return network{}, err
	}
	return networkOf(s, weights)
}

func networkOf(s model.Settings, weights *Weights) (n network, err error) {
	n = network{settings: s, weights: weights}
	if s.Dropout != 0 {
		if n.dropout, err = ops.NewDropout(s.Dropout, s.Seed); err != nil {
			return n, fmt.Errorf("nn: %w", err)
		}
	}
	return n, nil
}

// SetStep sets the step of the dropout.
func (n *network) SetStep(step uint64) {
	if n.dropout != nil {
		n.dropout.SetStep(step)
	}
}

// build adds the mean of the scores of all members.
func (n *network) build(in Input, mode Mode) (*G.Node, error) {
	scores, err := n.buildMembers(in, mode)
	if err != nil {
		return nil, err
	}
	if len(scores) == 1 {
		return scores[0], nil
	}
	sum := scores[0]
	for _, s := range scores[1:] {
		if sum, err = G.Add(sum, s); err != nil {
			return nil, fmt.Errorf("nn: %w", err)
		}
	}
	var share *G.Node
	if n.weights.Dtype() == tensor.Float64 {
		share = G.NewConstant(1 / float64(len(scores)))
	} else {
		share = G.NewConstant(1 / float32(len(scores)))
	}
	return G.Mul(sum, share)
}

// buildMembers adds the scores of each member.
func (n *network) buildMembers(in Input, mode Mode) (scores G.Nodes, err error) {
	if err := n.checkInput(in); err != nil {
		return nil, err
	}
	b := builder{n.settings, n.weights, nil, in}
	if mode == Train {
		b.dropout = n.dropout
	}
	x, err := b.embed(in.Features)
	if err != nil {
		return nil, fmt.Errorf("nn: %w", err)
	}
	for i, m := range n.settings.Layers() {
		score, err := b.member(i, m, x)
		if err != nil {
			return nil, fmt.Errorf("nn: %w", err)
		}
		scores = append(scores, score)
	}
	return scores, nil
}

// embed replaces the codes by their vectors.
func (b builder) embed(x *G.Node) (*G.Node, error) {
	if len(b.settings.Embeddings) == 0 {
		return x, nil
	}
	var tables G.Nodes
	for i := range b.settings.Embeddings {
		tables = append(tables, b.array(model.Table(i)))
	}
	return ops.Embed(x, tables)
}

// member adds the scores of a member.
func (b builder) member(number int, m model.Member, x *G.Node) (h *G.Node, err error) {
	h = x
	for i, d := range m.Hidden {
		if b.dropout == nil {
			h, err = b.dense(d, h, b.activation())
		} else if h, err = ops.DenseDrop(h, b.array(d.W), b.array(d.B), b.activation(), b.dropout, b.layer(number, i)); err != nil {
			err = fmt.Errorf("layer %s: %w", d.W, err)
		}
		if err != nil {
			return nil, err
		}
	}
	if b.settings.Attention != nil {
		if h, err = b.blocks(number, m, h); err != nil {
			return nil, err
		}
	}
	return b.dense(m.Score, h, ops.Identity)
}

func (n *network) checkInput(in Input) error {
	x := in.Features
	if x == nil || x.Dims() != 2 || x.Shape()[1] != n.settings.Features {
		return fmt.Errorf("nn: the features are %v, want a matrix [rows, %d]", shapeOf(x), n.settings.Features)
	}
	if dtype := n.weights.Dtype(); x.Dtype() != dtype {
		return fmt.Errorf("nn: the features are %v, but the model is %v", x.Dtype(), dtype)
	}
	if want := len(n.weights.arrays); len(in.Weights) != want {
		return fmt.Errorf("nn: %d nodes of weights, want %d: Weights().Nodes(graph)", len(in.Weights), want)
	}
	return nil
}

func shapeOf(x *G.Node) string {
	if x == nil {
		return "nil"
	}
	return fmt.Sprint(x.Shape())
}
