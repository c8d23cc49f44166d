package nn

import (
	"fmt"
	"math"
	"slices"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/ops"
)

// MLPConfig describes a multi-layer perceptron.
type MLPConfig struct {
	// Features is the number of columns of the input, 1 or more.
	Features int
	// Bins are the numbers of bins, 1 to 255, of the columns before the codes of Embeddings, whose values are positions in them: see
	// ops.PiecewiseLinear. nil: the values are numbers.
	Bins []int
	// Embeddings are the tables of categorical features, whose codes are the last columns of the input, one each. nil: there are none.
	Embeddings []Embedding
	// Hidden are the widths of the hidden layers, each 1 or more. None: a linear model.
	Hidden []int
	// Activation ends each hidden layer. The zero value is ops.Identity.
	Activation ops.Activation
	// Dropout is the rate of dropout after each hidden layer in Train graphs, in [0, 1). 0: none.
	Dropout float64
	// Members is the number of networks whose scores the model averages, each with its own initial weights and dropout, up to 1000.
	// 0: 1.
	Members int
	// Seed of the initial weights and of the dropout.
	Seed uint64
	// Dtype of the weights, float32 or float64. The zero value is float32.
	Dtype tensor.Dtype
}

// TransformerConfig describes a transformer over the documents of a query. Its hidden layers,
// at least one, see every document by itself; the last one has the width of the blocks.
type TransformerConfig struct {
	MLPConfig
	// Blocks is the number of blocks, each of attention and two dense layers, up to 1000. 0: none.
	Blocks int
	// Heads is the number of heads of each attention, which divides the width. 0: 1.
	Heads int
}

// An Embedding is the shape of the table that a model learns for a categorical feature: a vector
// of Width numbers for each of its Codes, 0 to Codes−1. The vectors of codes 0 and
// 1, for the values that training data do not have and for those that are missing (see
// transforms.Category), begin as zeros, and stay so where training data have no such values.
type Embedding struct {
	// Codes is the number of codes, 1 or more.
	Codes int
	// Width is the length of each vector, 1 or more; see EmbeddingWidth for the usual one.
	Width int
}

// EmbeddingWidth returns the default width of the embedding of a feature with that many codes:
// the square root, and 16 at most.
func EmbeddingWidth(codes int) int { return int(min(16, math.Ceil(math.Sqrt(float64(codes))))) }

// settings returns the form of a config that all packages share.
func (c MLPConfig) settings() model.Settings {
	s := model.Settings{
		Features: c.Features, Bins: slices.Clone(c.Bins), Hidden: slices.Clone(c.Hidden), Activation: forward.Activation(c.Activation),
		Dropout: c.Dropout, Members: c.Members, Seed: c.Seed,
	}
	for _, e := range c.Embeddings {
		s.Embeddings = append(s.Embeddings, forward.Embedding(e))
	}
	return s
}

func (c TransformerConfig) settings() model.Settings {
	s := c.MLPConfig.settings()
	s.Attention = &model.Attention{Blocks: c.Blocks, Heads: c.Heads}
	return s
}

// Size returns the number of weights of the model that [NewMLP] makes, or its error. It takes no memory for them, and has
// a result out of the range of int.
func (c MLPConfig) Size() (float64, error) { return sizeOf(c.settings()) }

// Size returns the number of weights of the model that [NewTransformer] makes, see [MLPConfig.Size].
func (c TransformerConfig) Size() (float64, error) { return sizeOf(c.settings()) }

func sizeOf(s model.Settings) (size float64, err error) {
	if err := s.Check(); err != nil {
		return 0, fmt.Errorf("nn: %w", err)
	}
	for _, a := range s.Arrays() {
		n := 1.
		for _, length := range a.Shape {
			n *= float64(length)
		}
		size += n
	}
	return size, nil
}

// config returns the config of the settings.
func (n *network) config() MLPConfig {
	s := n.settings
	c := MLPConfig{
		Features: s.Features, Bins: slices.Clone(s.Bins), Hidden: slices.Clone(s.Hidden), Activation: ops.Activation(s.Activation),
		Dropout: s.Dropout, Members: s.Members, Seed: s.Seed, Dtype: n.weights.Dtype(),
	}
	for _, e := range s.Embeddings {
		c.Embeddings = append(c.Embeddings, Embedding(e))
	}
	return c
}

// An MLP is a multi-layer perceptron: hidden layers with an activation and dropout, and a
// linear last layer of width one. It may be an ensemble of several such networks. Its score is
// the mean score of its members, which varies less with the seed than the score of one, and ranks
// better (Lakshminarayanan et al., NeurIPS 2017).
//
// Its weights are w0, b0, w1, b1, …: w [in, out], b [out], and for the last layer w [in], b [1]. With
// bins the first w has a row for each bin instead of one for the column. Package train begins with rows that
// make units linear functions of the column.
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
// in norm(h).
//
// The order of the documents does not matter. It may be an ensemble, as [MLP].
//
// Its weights are first the weights of an [MLP] of the same hidden layers; for each block block0.qkv,
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
// in ±√(6/(in+out)) (Glorot & Bengio 2010, eq. 16). It returns an error if a setting is out of its range.
func NewMLP(c MLPConfig) (*MLP, error) {
	n, err := newNetwork(c.settings(), c.Dtype)
	if err != nil {
		return nil, err
	}
	return &MLP{n}, nil
}

// NewTransformer makes a model with weights drawn as by [NewMLP], gains of 1 and biases
// of 0. It returns the errors of [NewMLP], and an error if there is no hidden layer, or if the heads do not divide the width of
// the last one.
func NewTransformer(c TransformerConfig) (*Transformer, error) {
	n, err := newNetwork(c.settings(), c.Dtype)
	if err != nil {
		return nil, err
	}
	return &Transformer{n}, nil
}

// Config returns the config that the model was made with.
func (m *MLP) Config() MLPConfig { return m.config() }

// Config returns the config that the model was made with.
func (t *Transformer) Config() TransformerConfig {
	a := t.settings.Attention
	return TransformerConfig{MLPConfig: t.config(), Blocks: a.Blocks, Heads: a.Heads}
}
