package losses_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
)

// BenchmarkLosses is one run of the graph of every loss and its gradient, in float32,
// K = 10, N = 100 (1000 for the exposure of fairness losses): of a query of MSLR's
// length, of a batch of many, and of a long one.
func BenchmarkLosses(b *testing.B) {
	for _, size := range []struct{ queries, documents int }{{1, 125}, {32, 125}, {1, 1000}} {
		rng := rand.New(rand.NewPCG(1, 1))
		f := fixture{offsets: []int{0}, discounts: metrics.Discounts(10)}
		for range size.queries {
			f.offsets = append(f.offsets, f.offsets[len(f.offsets)-1]+size.documents)
		}
		for range size.queries * size.documents {
			label := float64(max(0, rng.IntN(8)-3))
			f.scores = append(f.scores, rng.NormFloat64())
			f.labels = append(f.labels, label)
			f.gains = append(f.gains, math.Exp2(label)-1)
			f.groups = append(f.groups, rng.IntN(2))
		}
		for _, name := range losses.Names() {
			b.Run(fmt.Sprintf("%s/%dx%d", name, size.queries, size.documents), func(b *testing.B) {
				batch := f.batch(tensor.Float32)
				batch.Sampler, batch.Exposure = ops.NewSampler(100, 10, 1), ops.NewSampler(1000, 10, 2)
				build, err := losses.Parse(name)
				if err != nil {
					b.Fatal(err)
				}
				loss, err := losses.Mean(build, batch)
				if err != nil {
					b.Fatal(err)
				}
				grads, err := G.Grad(loss, batch.Lists.Scores)
				if err != nil {
					b.Fatal(err)
				}
				optest.Benchmark(b, batch.Lists.Scores, loss, grads[0])
			})
		}
	}
}
