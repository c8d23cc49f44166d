package nn

import "github.com/plrank/plrank/internal/model"

// An MLP is a multi-layer perceptron: hidden layers with an activation and dropout, and a
// linear last layer of width one. It may be an ensemble of several such networks. Its score is
// the mean of those of its members, which varies less with the seed than that of one, and ranks
// better (Lakshminarayanan et al., NeurIPS 2017).
//
// Its weights are w0, b0, w1, b1, …: w [in, out], b [out], and for the last layer w [in], b [1].
// In an ensemble the names begin with m0., m1., …. Then there are embedding0, …, [codes, width],
// which the members share. Build ignores the offsets.
type MLP struct{ network }

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
//
// Its weights are those of an [MLP] of the same hidden layers; for each block block0.qkv,
// block0.merge, block0.up and block0.down, each with .w [in, out] and .b [out], and
// block0.norm1 and block0.norm2 with .gain and .bias [width]; and norm.gain and norm.bias.
// Weight decay leaves all of those alone but .w.
type Transformer struct{ network }

var (
	_ Ensemble = &MLP{}
	_ Stepper  = &MLP{}
	_ Ensemble = &Transformer{}
	_ Stepper  = &Transformer{}
)

func init() {
	for _, kind := range model.BuiltIn {
		Register(kind, func(settings []byte, stored *Weights) (Scorer, error) {
			n, err := readNetwork(kind, settings, stored)
			switch {
			case err != nil:
				return nil, err
			case kind == model.Transformer:
				return &Transformer{n}, nil
			}
			return &MLP{n}, nil
		})
	}
}

// NewMLP makes a model with zero biases and weights drawn by the seed, uniform
// in ±√(6/(in+out)) (Glorot & Bengio 2010, eq. 16). Fewer than one feature, a layer without
// width, a rate of dropout outside [0, 1) and other settings that make no sense are errors.
func NewMLP(c MLPConfig) (*MLP, error) {
	n, err := newNetwork(c.settings(), c.Dtype)
	if err != nil {
		return nil, err
	}
	return &MLP{n}, nil
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
func (m *MLP) Config() MLPConfig { return m.config() }

// Config is the config that the model was made with.
func (t *Transformer) Config() TransformerConfig {
	a := t.settings.Attention
	return TransformerConfig{MLPConfig: t.config(), Blocks: a.Blocks, Heads: a.Heads, LatentCross: a.LatentCross}
}
