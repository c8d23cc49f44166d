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
		name  string
		build estimate
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
	for _, e := range estimates {
		for _, queries := range []int{1, 32} {
			for _, samples := range []int{1, 10, 100, 1000} {
				b.Run(fmt.Sprintf("%s/%dx%d/N=%d", e.name, queries, documents, samples), func(b *testing.B) {
					benchmark(b, queries, func(l ops.Lists, gains *G.Node) (*G.Node, error) {
						rankings, err := ops.Rankings(l, ops.NewSampler(samples, len(discounts), 1))
						if err != nil {
							return nil, err
						}
						return e.build(l, gains, rankings)
					})
				})
			}
		}
	}
}

// BenchmarkExpected is the same for the exact ops, which need no rankings.
func BenchmarkExpected(b *testing.B) {
	discounts := []float64{1, .63, .5, .43, .39}
	for _, queries := range []int{1, 32} {
		b.Run(fmt.Sprintf("ExpectedMetric/%dx%d", queries, documents), func(b *testing.B) {
			benchmark(b, queries, func(l ops.Lists, gains *G.Node) (*G.Node, error) {
				return ops.ExpectedMetric(l, gains, discounts)
			})
		})
		b.Run(fmt.Sprintf("ExpectedExposure/%dx%d", queries, documents), func(b *testing.B) {
			benchmark(b, queries, func(l ops.Lists, _ *G.Node) (*G.Node, error) {
				return ops.ExpectedExposure(l, discounts)
			})
		})
	}
}

// BenchmarkValues is a run that makes an estimate of 32 given queries and rankings, N = 100, without a gradient
// and with one.
func BenchmarkValues(b *testing.B) {
	discounts := []float64{1, .63, .5, .43, .39}
	for _, e := range []struct {
		name  string
		build func(l ops.Lists, gains, rankings *G.Node) (*G.Node, error)
	}{
		{"PLRank2", func(l ops.Lists, gains, rankings *G.Node) (*G.Node, error) {
			return ops.PLRank2(l, gains, rankings, discounts)
		}},
		{"RewardFunc", func(l ops.Lists, _, rankings *G.Node) (*G.Node, error) {
			return ops.RewardFunc(l, rankings, func(_ int, y []int) float64 { return float64(y[0] % 2) })
		}},
		{"ExpectedMetric", func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) { return ops.ExpectedMetric(l, gains, discounts) }},
	} {
		for _, derivatives := range []int{0, 1} {
			b.Run(fmt.Sprintf("%s/derivatives=%d", e.name, derivatives), func(b *testing.B) {
				batch := drawnBatch(32)
				g := G.NewGraph()
				lists := batch.Lists(g, tensor.Float32)
				drawn := optest.Run(b, G.Must(ops.Rankings(batch.Lists(G.NewGraph(), tensor.Float32), ops.NewSampler(100, len(discounts), 1))))
				rankings := optest.Ints(g, "rankings", drawn.Data().([]int), drawn.Shape()...)
				node, err := e.build(lists, optest.Vector(g, "gains", tensor.Float32, batch.Gains), rankings)
				if err != nil {
					b.Fatal(err)
				}
				outputs := G.Nodes{G.Must(G.Sum(node))}
				if derivatives > 0 {
					outputs = append(outputs, G.Must(gradientOf(outputs[0], lists.Scores)))
				}
				optest.Benchmark(b, lists.Scores, outputs...)
			})
		}
	}
}

func gradientOf(sum, scores *G.Node) (*G.Node, error) {
	grads, err := G.Grad(sum, scores)
	if err != nil {
		return nil, err
	}
	return grads[0], nil
}

const documents = 125

// benchmark runs the graph of a function of queries and of its gradient.
func benchmark(b *testing.B, queries int, build func(l ops.Lists, gains *G.Node) (*G.Node, error)) {
	batch := drawnBatch(queries)
	g := G.NewGraph()
	lists := batch.Lists(g, tensor.Float32)
	node, err := build(lists, optest.Vector(g, "gains", tensor.Float32, batch.Gains))
	if err != nil {
		b.Fatal(err)
	}
	sum := G.Must(G.Sum(node))
	optest.Benchmark(b, lists.Scores, sum, G.Must(gradientOf(sum, lists.Scores)))
}

// drawnBatch has queries of as many documents, with gains of grades.
func drawnBatch(queries int) optest.Batch {
	rng := rand.New(rand.NewPCG(1, 1))
	batch := optest.Batch{Offsets: []int{0}}
	for range queries {
		for range documents {
			batch.Scores = append(batch.Scores, rng.NormFloat64())
			batch.Gains = append(batch.Gains, math.Exp2(float64(max(0, rng.IntN(8)-3)))-1)
		}
		batch.Offsets = append(batch.Offsets, len(batch.Scores))
	}
	return batch
}
