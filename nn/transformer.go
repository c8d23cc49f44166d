package nn

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/model"
)

// A Transformer is a network that sees all documents of a query at once: the context-aware
// ranker of Pobrotyn et al. (2020), as in allRank. Hidden layers with an activation and
// dropout give h for every document by itself. Each block then adds attention among the
// documents, and the output of two dense layers, with dropout on both:
//
//	h ← h + W·Attention(norm(h)),   h ← h + V·act(U·norm(h)),
//
// where U is twice as wide as h. Rows are normalised before, as in allRank. The score is linear
// in a = norm(h), or with the latent cross of DASALC (Qin et al., ICLR 2021) in (1 + a) ⊙ h₀,
// where h₀ is the h before the blocks.
//
// The order of the documents does not matter. It may be an ensemble, as [MLP].
type Transformer struct{ network }

var (
	_ Ensemble = &Transformer{}
	_ Stepper  = &Transformer{}
)

func init() {
	Register(model.Transformer, func(settings []byte, stored *Weights) (Scorer, error) {
		n, err := readNetwork(model.Transformer, settings, stored)
		if err != nil {
			return nil, err
		}
		return &Transformer{n}, nil
	})
}

// NewTransformer makes a model with weights drawn as those of [NewMLP], gains of 1 and biases
// of 0. Errors are those of [NewMLP]; no hidden layer, or heads that do not divide the width of
// the last one, are errors, too.
func NewTransformer(c TransformerConfig) (*Transformer, error) {
	n, err := newNetwork(c.settings(), c.Dtype)
	if err != nil {
		return nil, err
	}
	return &Transformer{n}, nil
}

// Config is the config that the model was made with.
func (t *Transformer) Config() TransformerConfig {
	s := t.settings
	return TransformerConfig{MLPConfig: mlpConfig(s, t.weights.Dtype()), Blocks: s.Blocks, Heads: s.Attention.Heads, LatentCross: s.LatentCross}
}

// Kind is "attention".
func (t *Transformer) Kind() string { return model.Transformer }

// Settings are the Config as a model file has it.
func (t *Transformer) Settings() any { return t.settings }

// String describes the model in words: "hidden 64 (relu), attention (blocks 1, heads 2)".
func (t *Transformer) String() string { return t.inWords() }

// Weights are those of an [MLP] of the same hidden layers; for each block block0.qkv,
// block0.merge, block0.up and block0.down, each with .w [in, out] and .b [out], and
// block0.norm1 and block0.norm2 with .gain and .bias [width]; and norm.gain and norm.bias.
// Weight decay leaves all of those alone but .w.
func (t *Transformer) Weights() *Weights { return t.weights }

// Build adds the model to the graph of the input, see [Scorer].
func (t *Transformer) Build(in Input, mode Mode) (*G.Node, error) { return t.build(in, mode) }

// BuildMembers adds the members to the graph of the input, see [Ensemble].
func (t *Transformer) BuildMembers(in Input, mode Mode) (scores G.Nodes, err error) {
	return t.buildMembers(in, mode)
}
