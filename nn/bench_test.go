package nn

import (
	"math/rand/v2"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

// Forward and backward pass of one network on 32 queries of 128 documents:
// lab/peers/attention compares it with the same network in PyTorch.
func BenchmarkTransformerStep(b *testing.B) {
	const queries, documents, features, width = 32, 128, 136, 128
	model, err := NewTransformer(TransformerConfig{
		MLPConfig: MLPConfig{Features: features, Hidden: []int{width}, Activation: ops.ReLU, Seed: 1},
		Blocks:    1, Heads: 4,
	})
	if err != nil {
		b.Fatal(err)
	}
	g := G.NewGraph()
	rows := queries * documents
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float32, rows*features)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	offsets := make([]int, queries+1)
	for q := range offsets {
		offsets[q] = q * documents
	}
	x := G.NewMatrix(g, tensor.Float32, G.WithName("x"), G.WithShape(rows, features), G.WithValue(tensor.New(tensor.WithShape(rows, features), tensor.WithBacking(values))))
	weights := model.Weights().Nodes(g)
	scores, err := model.Build(Input{
		Features: x,
		Offsets:  G.NewVector(g, tensor.Int, G.WithName("offsets"), G.WithShape(queries+1), G.WithValue(tensor.New(tensor.WithBacking(offsets)))),
		Weights:  weights,
	}, Train)
	if err != nil {
		b.Fatal(err)
	}
	loss := G.Must(G.Sum(G.Must(G.Square(scores))))
	grads, err := G.Grad(loss, weights...)
	if err != nil {
		b.Fatal(err)
	}
	optest.Benchmark(b, x, append(G.Nodes{loss}, grads...)...)
}
