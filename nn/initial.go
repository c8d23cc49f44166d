package nn

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/plrank/plrank/internal/forward"
)

// An Embedding is a table of what a model learns of the values of a categorical feature: a
// vector of Width numbers for each of its Codes, 0 to Codes−1. The vectors of codes 0 and
// 1, for the values that training data do not have and for those that are missing (see
// datasets.Category), begin as zeros, and stay so where training data have no such values.
type Embedding struct {
	Codes int `json:"codes"`
	Width int `json:"width"`
}

// EmbeddingWidth is the width of the embedding of a feature of so many codes where nothing
// else is said: the square root, and 16 at most.
func EmbeddingWidth(codes int) int { return int(min(16, math.Ceil(math.Sqrt(float64(codes))))) }

// fixed are the codes whose vectors begin as zeros.
const fixed = 2

func (c MLPConfig) checkEmbeddings() error {
	if len(c.Embeddings) > c.Features {
		return fmt.Errorf("nn: %d embeddings for %d features", len(c.Embeddings), c.Features)
	}
	for i, e := range c.Embeddings {
		if e.Codes < 1 || e.Width < 1 {
			return fmt.Errorf("nn: embedding %d has %d codes and a width of %d: want 1 or more of both", i, e.Codes, e.Width)
		}
	}
	return nil
}

// inputs are the columns that the hidden layers see.
func (c MLPConfig) inputs() int {
	width := c.Features
	for _, e := range c.Embeddings {
		width += e.Width - 1
	}
	return width
}

func (c MLPConfig) embeddingArrays() (all []Array) {
	for i, e := range c.Embeddings {
		all = append(all, Array{Name: forward.EmbeddingName(i), Shape: []int{e.Codes, e.Width}})
	}
	return all
}

// initialiseEmbeddings draws the tables from streams of the seed, uniform in
// ±√(6/(1+width)): as the layer from one number to so many.
func (c MLPConfig) initialiseEmbeddings(weights *Weights) error {
	for i, e := range c.Embeddings {
		rng := rand.New(rand.NewPCG(c.Seed, 1<<33+uint64(i)))
		limit := math.Sqrt(6 / float64(1+e.Width))
		initial := make([]float64, e.Codes*e.Width)
		for j := min(fixed, e.Codes) * e.Width; j < len(initial); j++ {
			initial[j] = limit * (2*rng.Float64() - 1)
		}
		if err := weights.Set(forward.EmbeddingName(i), initial); err != nil {
			return err
		}
	}
	return nil
}
