package nn

import (
	"math"
	"slices"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/ops"
)

// MLPConfig describes a multi-layer perceptron.
type MLPConfig struct {
	Features   int            // columns of the input
	Embeddings []Embedding    // of categorical features, whose codes are the last columns of the input, one each
	Hidden     []int          // widths of the hidden layers; none: a linear model
	Activation ops.Activation // of the hidden layers; the zero value is none
	Dropout    float64        // rate of dropout after each hidden layer in Train graphs, in [0, 1)
	Members    int            // networks that the model averages, each with its own initial weights and dropout; 0: 1
	Seed       uint64         // of the initial weights and of the dropout
	Dtype      tensor.Dtype   // float32 or float64; the zero value is float32
}

// TransformerConfig describes a transformer over the documents of a query. Its hidden layers,
// at least one, see every document by itself; the width of the last one is that of the blocks.
type TransformerConfig struct {
	MLPConfig
	Blocks      int  // of attention and two dense layers; 0: none
	Heads       int  // of each attention, which divide the width; 0: 1
	LatentCross bool // the output of the blocks scales that of the hidden layers, see Transformer
}

// An Embedding is the shape of the table that a model learns for a categorical feature: a vector
// of Width numbers for each of its Codes, 0 to Codes−1. The vectors of codes 0 and
// 1, for the values that training data do not have and for those that are missing (see
// datasets.Category), begin as zeros, and stay so where training data have no such values.
type Embedding struct{ Codes, Width int }

// EmbeddingWidth is the default width of the embedding of a feature with that many codes:
// the square root, and 16 at most.
func EmbeddingWidth(codes int) int { return int(min(16, math.Ceil(math.Sqrt(float64(codes))))) }

// settings are the form of a config that all packages share.
func (c MLPConfig) settings() model.Settings {
	s := model.Settings{
		Features: c.Features, Hidden: slices.Clone(c.Hidden), Activation: forward.Activation(c.Activation),
		Dropout: c.Dropout, Members: c.Members, Seed: c.Seed,
	}
	for _, e := range c.Embeddings {
		s.Embeddings = append(s.Embeddings, forward.Embedding(e))
	}
	return s
}

func (c TransformerConfig) settings() model.Settings {
	s := c.MLPConfig.settings()
	s.Attention = &model.Attention{Blocks: c.Blocks, Heads: c.Heads, LatentCross: c.LatentCross}
	return s
}

// config is the config of the settings.
func (n *network) config() MLPConfig {
	s := n.settings
	c := MLPConfig{
		Features: s.Features, Hidden: slices.Clone(s.Hidden), Activation: ops.Activation(s.Activation),
		Dropout: s.Dropout, Members: s.Members, Seed: s.Seed, Dtype: n.weights.Dtype(),
	}
	for _, e := range s.Embeddings {
		c.Embeddings = append(c.Embeddings, Embedding(e))
	}
	return c
}
