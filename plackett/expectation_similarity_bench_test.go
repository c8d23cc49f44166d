package plackett

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkSimilarity times the gradient of the similarity in turn with the gradient of DCG with as many ranks, and reports the
// shortest times and their ratio.
func BenchmarkSimilarity(b *testing.B) {
	for _, size := range []struct{ docs, cutoff, dimension int }{{24, 5, 4}, {100, 10, 1}, {100, 10, 5}, {100, 10, 32}, {100, 10, 384}, {1000, 10, 32}, {100, 50, 32}} {
		b.Run(fmt.Sprintf("D=%d/K=%d/dimension=%d", size.docs, size.cutoff, size.dimension), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			scores, vectors := gaussian(rng, size.docs, 1), gaussian(rng, size.docs*size.dimension, 1)
			discounts, lambda := dcg(size.cutoff), make([]float64, size.docs)
			var e, other Expectation
			one, two := time.Hour, time.Hour
			for b.Loop() {
				start := time.Now()
				e.Similarity(scores, vectors, size.dimension, discounts, lambda)
				middle := time.Now()
				other.Gradient(scores, vectors[:size.docs], discounts, lambda)
				one, two = min(one, middle.Sub(start)), min(two, time.Since(middle))
			}
			b.ReportMetric(float64(one.Nanoseconds()), "ns/op")
			b.ReportMetric(float64(two.Nanoseconds()), "dcg-ns/op")
			b.ReportMetric(one.Seconds()/two.Seconds(), "ratio")
		})
	}
}
