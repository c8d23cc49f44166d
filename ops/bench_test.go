package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

// BenchmarkEstimates is one run of a graph that draws rankings, makes an estimate
// of them and differentiates it by the scores, in float32 and with K = 5: of one
// query of MSLR's length, and of a batch of 32.
func BenchmarkEstimates(b *testing.B) {
	discounts := make([]float64, 5)
	for k := range discounts {
		discounts[k] = 1 / math.Log2(float64(k+2))
	}
	type estimate func(l ops.Lists, gains, rankings *G.Node) (*G.Node, error)
	estimates := []struct {
		name string
		of   estimate
	}{
		{"PLRankRB", func(l ops.Lists, gains, rankings *G.Node) (*G.Node, error) {
			return ops.PLRankRB(l, gains, rankings, discounts)
		}},
		{"PLRank2", func(l ops.Lists, gains, rankings *G.Node) (*G.Node, error) {
			return ops.PLRank2(l, gains, rankings, discounts)
		}},
		{"Exposure", func(l ops.Lists, _, rankings *G.Node) (*G.Node, error) {
			return ops.Exposure(l, rankings, nil, discounts)
		}},
		{"LogProbs", func(l ops.Lists, _, rankings *G.Node) (*G.Node, error) {
			return ops.LogProbs(l, rankings)
		}},
	}
	const documents = 125
	for _, e := range estimates {
		for _, queries := range []int{1, 32} {
			for _, samples := range []int{1, 10, 100, 1000} {
				b.Run(fmt.Sprintf("%s/%dx%d/N=%d", e.name, queries, documents, samples), func(b *testing.B) {
					rng := rand.New(rand.NewPCG(1, 1))
					var scores, gains []float64
					offsets := []int{0}
					for range queries {
						for range documents {
							scores = append(scores, rng.NormFloat64())
							gains = append(gains, math.Exp2(float64(max(0, rng.IntN(8)-3)))-1)
						}
						offsets = append(offsets, len(scores))
					}
					g := G.NewGraph()
					lists := ops.Lists{
						Scores:  optest.Vector(g, "scores", tensor.Float32, scores),
						Offsets: optest.Ints(g, "offsets", offsets, len(offsets)),
					}
					rankings, err := ops.Rankings(lists, ops.NewSampler(samples, len(discounts), 1))
					if err != nil {
						b.Fatal(err)
					}
					node, err := e.of(lists, optest.Vector(g, "gains", tensor.Float32, gains), rankings)
					if err != nil {
						b.Fatal(err)
					}
					sum := G.Must(G.Sum(node))
					grads, err := G.Grad(sum, lists.Scores)
					if err != nil {
						b.Fatal(err)
					}
					program, places, err := G.CompileFunction(g, G.Nodes{lists.Scores}, G.Nodes{sum, grads[0]})
					if err != nil {
						b.Fatal(err)
					}
					vm := G.NewTapeMachine(g, G.WithPrecompiled(program, places))
					defer vm.Close()
					b.ReportAllocs()
					for b.Loop() {
						vm.Reset()
						if err := vm.RunAll(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
