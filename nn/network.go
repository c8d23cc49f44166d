package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/ops"
)

// A network is what the kinds of this package share: members that begin with the hidden
// layers of an MLP and end in one score.
type network struct {
	config  MLPConfig
	weights *Weights
	dropout *ops.Dropout // nil: none
}

func (c MLPConfig) withDtype() MLPConfig {
	if (c.Dtype == tensor.Dtype{}) {
		c.Dtype = tensor.Float32
	}
	return c
}

// newNetwork makes one of these arrays, of which those of the hidden layers and of the
// scores have initial values, and the others are zero.
func (c MLPConfig) newNetwork(arrays []Array) (network, error) {
	weights, err := NewWeights(c.Dtype, arrays...)
	if err != nil {
		return network{}, err
	}
	if err := c.initialiseEmbeddings(weights); err != nil {
		return network{}, err
	}
	for member, layers := range c.layers() {
		for i, l := range layers {
			if err := c.initialise(weights, l, uint64(c.layerNumber(member, i))); err != nil {
				return network{}, err
			}
		}
	}
	return c.network(weights)
}

// initialise draws the weights of a layer from a stream of the seed.
func (c MLPConfig) initialise(weights *Weights, l forward.MLPLayer, stream uint64) error {
	rng := rand.New(rand.NewPCG(c.Seed, stream))
	limit := math.Sqrt(6 / float64(l.In+l.Out))
	initial := make([]float64, l.In*l.Out)
	for j := range initial {
		initial[j] = limit * (2*rng.Float64() - 1)
	}
	return weights.Set(l.W, initial)
}

// readNetwork makes a network of arrays that were stored.
func (c MLPConfig) readNetwork(stored *Weights, arrays []Array) (network, error) {
	weights, err := stored.Select(arrays...)
	if err != nil {
		return network{}, err
	}
	return c.network(weights)
}

func (c MLPConfig) network(weights *Weights) (network, error) {
	c.Hidden, c.Embeddings = slices.Clone(c.Hidden), slices.Clone(c.Embeddings)
	n := network{config: c, weights: weights}
	if c.Dropout != 0 {
		var err error
		if n.dropout, err = ops.NewDropout(c.Dropout, c.Seed); err != nil {
			return n, fmt.Errorf("nn: %w", err)
		}
	}
	return n, nil
}

// layerNumber counts the layers of all members.
func (c MLPConfig) layerNumber(member, layer int) int { return member*(len(c.Hidden)+1) + layer }

// SetStep sets the step of the dropout.
func (n *network) SetStep(step uint64) {
	if n.dropout != nil {
		n.dropout.SetStep(step)
	}
}

func (n *network) checkInput(in Input) error {
	x := in.Features
	if x == nil || x.Dims() != 2 || x.Shape()[1] != n.config.Features {
		return fmt.Errorf("nn: the features are %v, want a matrix [rows, %d]", shapeOf(x), n.config.Features)
	}
	if x.Dtype() != n.config.Dtype {
		return fmt.Errorf("nn: the features are %v, but the model is %v", x.Dtype(), n.config.Dtype)
	}
	if want := len(n.weights.arrays); len(in.Weights) != want {
		return fmt.Errorf("nn: %d nodes of weights, want %d: Weights().Nodes(graph)", len(in.Weights), want)
	}
	return nil
}

// input is a model's input after a check of its nodes, with what the embeddings have in the
// place of codes.
func (n *network) input(in Input) (Input, error) {
	if err := n.checkInput(in); err != nil || len(n.config.Embeddings) == 0 {
		return in, err
	}
	var tables G.Nodes
	for _, a := range n.config.embeddingArrays() {
		tables = append(tables, n.array(in, a.Name))
	}
	var err error
	if in.Features, err = ops.Embed(in.Features, tables); err != nil {
		err = fmt.Errorf("nn: %w", err)
	}
	return in, err
}

func shapeOf(x *G.Node) string {
	if x == nil {
		return "nil"
	}
	return fmt.Sprint(x.Shape())
}

// hidden adds the hidden layers of a member, which all kinds begin with.
func (n *network) hidden(in Input, mode Mode, member int, layers []forward.MLPLayer) (h *G.Node, err error) {
	h = in.Features
	for i, l := range layers[:len(layers)-1] {
		if n.dropout == nil || mode != Train {
			h, err = n.dense(in, h, l, n.config.Activation)
		} else if h, err = ops.DenseDrop(h, n.array(in, l.W), n.array(in, l.B), n.config.Activation, n.dropout, n.config.layerNumber(member, i)); err != nil {
			err = fmt.Errorf("nn: layer %s: %w", l.W, err)
		}
		if err != nil {
			return nil, err
		}
	}
	return h, nil
}

// dense adds a layer.
func (n *network) dense(in Input, h *G.Node, l forward.MLPLayer, act ops.Activation) (*G.Node, error) {
	y, err := ops.Dense(h, n.array(in, l.W), n.array(in, l.B), act)
	if err != nil {
		return nil, fmt.Errorf("nn: layer %s: %w", l.W, err)
	}
	return y, nil
}

// array is the node of the array of that name.
func (n *network) array(in Input, name string) *G.Node { return in.Weights[n.weights.index(name)] }

// drop adds dropout, where there is any.
func (n *network) drop(h *G.Node, mode Mode, layer int) (*G.Node, error) {
	if n.dropout == nil || mode != Train {
		return h, nil
	}
	y, err := ops.Drop(h, n.dropout, layer)
	if err != nil {
		return nil, fmt.Errorf("nn: %w", err)
	}
	return y, nil
}

// mean adds the mean of the scores of all members.
func (n *network) mean(scores G.Nodes, err error) (*G.Node, error) {
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
	if n.config.Dtype == tensor.Float64 {
		share = G.NewConstant(1 / float64(len(scores)))
	} else {
		share = G.NewConstant(1 / float32(len(scores)))
	}
	return G.Mul(sum, share)
}

// layersInWords says what the hidden layers are: "hidden 64 (relu)".
func (c MLPConfig) layersInWords() string {
	if len(c.Hidden) == 0 {
		return "linear"
	}
	return fmt.Sprintf("hidden %v (%v)", strings.Trim(fmt.Sprint(c.Hidden), "[]"), c.Activation)
}

// inWords says how many such members there are, and what embeddings they share.
func (c MLPConfig) inWords(member string) string {
	if c.members() > 1 {
		member = fmt.Sprintf("%d networks of %s", c.members(), member)
	}
	for i, e := range c.Embeddings {
		before := ","
		if i == 0 {
			before = ", embeddings"
		}
		member += fmt.Sprintf("%s %d×%d", before, e.Codes, e.Width)
	}
	return member
}
