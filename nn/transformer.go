package nn

import (
	"encoding/json"
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/ops"
)

// TransformerConfig describes a list transformer. Its hidden layers, one at least, are what
// documents go through by themselves; the width of the last one is that of the blocks.
type TransformerConfig struct {
	MLPConfig
	Blocks      int  `json:"blocks"`      // of attention and two dense layers; 0: none
	Heads       int  `json:"heads"`       // of each attention, which divide the width; 0: 1
	LatentCross bool `json:"latentCross"` // what the blocks give scales what the hidden layers give, see Transformer
}

const maxBlocks = 1000

func (c TransformerConfig) check() error {
	if err := c.MLPConfig.check(); err != nil {
		return err
	}
	switch {
	case len(c.Hidden) == 0:
		return fmt.Errorf("nn: no hidden layers: blocks of attention need one or more before them")
	case c.Blocks < 0 || c.Blocks > maxBlocks:
		return fmt.Errorf("nn: %d blocks: want 0 to %d", c.Blocks, maxBlocks)
	case c.Heads < 0 || c.width()%c.heads() != 0:
		return fmt.Errorf("nn: %d heads: want a number that divides %d, the width of the last hidden layer", c.Heads, c.width())
	}
	return nil
}

func (c TransformerConfig) heads() int { return max(1, c.Heads) }

// width is that of the blocks.
func (c TransformerConfig) width() int { return c.Hidden[len(c.Hidden)-1] }

func (c TransformerConfig) parts() []forward.TransformerMember {
	return forward.TransformerMembers(c.inputs(), c.Hidden, c.Blocks, c.members())
}

// arrays are those of an MLP of the same hidden layers, and those of the blocks.
func (c TransformerConfig) arrays() []Array {
	all := c.MLPConfig.arrays()
	for _, m := range c.parts() {
		for _, l := range m.Dense() {
			all = append(all, Array{Name: l.W, Shape: []int{l.In, l.Out}}, Array{Name: l.B, Shape: []int{l.Out}, Bias: true})
		}
		for _, n := range m.Norms() {
			all = append(all, Array{Name: n.Gain, Shape: []int{n.Width}, Bias: true}, Array{Name: n.Bias, Shape: []int{n.Width}, Bias: true})
		}
	}
	return all
}

// A Transformer is a network that sees all documents of a query at once: the context-aware
// ranker of Pobrotyn et al. (2020), as in allRank. Hidden layers with an activation and
// dropout give h for every document by itself. Each block then adds to it what the
// documents tell each other, and two dense layers, with dropout on both:
//
//	h ← h + W·Attention(norm(h)),   h ← h + V·act(U·norm(h)),
//
// U being twice as wide. Rows are normalised before, as in allRank. The score is linear in
// a = norm(h), or with the latent cross of DASALC (Qin et al., ICLR 2021) in (1 + a) ⊙ h₀,
// where h₀ is the h before the blocks.
//
// The order of the documents does not matter. It may be an ensemble, as [MLP].
type Transformer struct {
	network
	config TransformerConfig
}

var (
	_ Ensemble = &Transformer{}
	_ Stepper  = &Transformer{}
)

// NewTransformer makes a model with weights drawn as those of [NewMLP], gains of 1 and
// biases of 0. Errors are those of [NewMLP], and no hidden layer, or heads that do not divide
// the width of the last one.
func NewTransformer(c TransformerConfig) (*Transformer, error) {
	c.MLPConfig = c.withDtype()
	if err := c.check(); err != nil {
		return nil, err
	}
	n, err := c.newNetwork(c.arrays())
	if err != nil {
		return nil, err
	}
	const stream = 1 << 32 // and further, for the layers of blocks
	drawn := uint64(0)
	for _, m := range c.parts() {
		for _, l := range m.Dense() {
			if err := c.initialise(n.weights, l, stream+drawn); err != nil {
				return nil, err
			}
			drawn++
		}
		for _, norm := range m.Norms() {
			ones := make([]float64, norm.Width)
			for i := range ones {
				ones[i] = 1
			}
			if err := n.weights.Set(norm.Gain, ones); err != nil {
				return nil, err
			}
		}
	}
	c.MLPConfig = n.config
	return &Transformer{n, c}, nil
}

// readTransformer makes a model of settings and weights that were stored.
func readTransformer(settings []byte, stored *Weights) (Scorer, error) {
	var c TransformerConfig
	if err := json.Unmarshal(settings, &c); err != nil {
		return nil, fmt.Errorf("nn: settings of a transformer: %w", err)
	}
	c.Dtype = stored.Dtype()
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := stored.checkCount(forward.TransformerArrays(len(c.Hidden), c.Blocks, c.members()) + len(c.Embeddings)); err != nil {
		return nil, err
	}
	n, err := c.readNetwork(stored, c.arrays())
	if err != nil {
		return nil, err
	}
	return &Transformer{n, c}, nil
}

// Config is what the model was made with; do not change its slices.
func (t *Transformer) Config() TransformerConfig { return t.config }

const transformerKind = "attention"

// Kind is "attention".
func (t *Transformer) Kind() string { return transformerKind }

// Settings are the Config.
func (t *Transformer) Settings() any { return t.config }

// String says in words what the model is: "hidden 64 (relu), attention (blocks 1, heads 2)".
func (t *Transformer) String() string {
	c := t.config
	words := fmt.Sprintf("%s, attention (blocks %d, heads %d)", c.layersInWords(), c.Blocks, c.heads())
	if c.LatentCross {
		words += ", latent cross"
	}
	return c.inWords(words)
}

// Weights are those of an [MLP] of the same hidden layers; for each block block0.qkv,
// block0.merge, block0.up and block0.down, each with .w [in, out] and .b [out], and
// block0.norm1 and block0.norm2 with .gain and .bias [width]; and norm.gain and norm.bias.
// Weight decay leaves all of those alone that are no .w.
func (t *Transformer) Weights() *Weights { return t.weights }

// Build adds the model to the graph of the input, see [Scorer]. Without offsets all rows
// are one query.
func (t *Transformer) Build(in Input, mode Mode) (*G.Node, error) {
	return t.mean(t.BuildMembers(in, mode))
}

// BuildMembers adds the networks to the graph of the input, see [Ensemble].
func (t *Transformer) BuildMembers(in Input, mode Mode) (scores G.Nodes, err error) {
	if in, err = t.input(in); err != nil {
		return nil, err
	}
	for member, m := range t.config.parts() {
		s, err := t.buildMember(in, mode, member, m)
		if err != nil {
			return nil, err
		}
		scores = append(scores, s)
	}
	return scores, nil
}

func (t *Transformer) buildMember(in Input, mode Mode, member int, m forward.TransformerMember) (*G.Node, error) {
	before, err := t.hidden(in, mode, member, m.Layers)
	if err != nil {
		return nil, err
	}
	h := before
	for i, b := range m.Blocks {
		// Dropout of the blocks is numbered after that of all hidden layers.
		layer := t.config.layerNumber(t.config.members(), 0) + 2*(member*len(m.Blocks)+i)
		if h, err = t.add(h, mode, layer, func(h *G.Node) (*G.Node, error) { return t.attend(in, h, b) }); err != nil {
			return nil, err
		}
		if h, err = t.add(h, mode, layer+1, func(h *G.Node) (*G.Node, error) { return t.feed(in, h, b) }); err != nil {
			return nil, err
		}
	}
	if h, err = t.norm(in, h, m.Last); err != nil {
		return nil, err
	}
	if t.config.LatentCross {
		if h, err = G.HadamardProd(h, before); err != nil {
			return nil, fmt.Errorf("nn: %w", err)
		}
		if h, err = G.Add(before, h); err != nil {
			return nil, fmt.Errorf("nn: %w", err)
		}
	}
	return t.dense(in, h, m.Layers[len(m.Layers)-1], ops.Identity)
}

// add adds to h what part gives, after dropout.
func (t *Transformer) add(h *G.Node, mode Mode, layer int, part func(h *G.Node) (*G.Node, error)) (*G.Node, error) {
	y, err := part(h)
	if err != nil {
		return nil, err
	}
	if y, err = t.drop(y, mode, layer); err != nil {
		return nil, err
	}
	if h, err = G.Add(h, y); err != nil {
		return nil, fmt.Errorf("nn: %w", err)
	}
	return h, nil
}

// attend is what the documents of a query tell each other.
func (t *Transformer) attend(in Input, h *G.Node, b forward.Block) (*G.Node, error) {
	h, err := t.norm(in, h, b.First)
	if err != nil {
		return nil, err
	}
	if h, err = t.dense(in, h, b.QKV, ops.Identity); err != nil {
		return nil, err
	}
	if h, err = ops.Attention(h, in.Offsets, t.config.heads()); err != nil {
		return nil, fmt.Errorf("nn: %w", err)
	}
	return t.dense(in, h, b.Merge, ops.Identity)
}

// feed is two dense layers on each document.
func (t *Transformer) feed(in Input, h *G.Node, b forward.Block) (*G.Node, error) {
	h, err := t.norm(in, h, b.Second)
	if err != nil {
		return nil, err
	}
	if h, err = t.dense(in, h, b.Up, t.config.Activation); err != nil {
		return nil, err
	}
	return t.dense(in, h, b.Down, ops.Identity)
}

func (t *Transformer) norm(in Input, h *G.Node, n forward.Norm) (*G.Node, error) {
	y, err := ops.LayerNorm(h, t.array(in, n.Gain), t.array(in, n.Bias))
	if err != nil {
		return nil, fmt.Errorf("nn: %s: %w", n.Gain, err)
	}
	return y, nil
}
