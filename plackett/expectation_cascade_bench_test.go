package plackett

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkCascades times cascades and average precision in turn with the gradient of DCG with the same discounts, and
// reports the shortest times and their ratio. "any" has continuations that are no linear function of the rewards.
func BenchmarkCascades(b *testing.B) {
	for _, kind := range []string{"err", "relevance", "any", "ap"} {
		for _, size := range []struct{ docs, cutoff int }{{24, 5}, {24, 24}, {60, 20}, {125, 5}, {125, 10}, {125, 17}, {125, 50}, {125, 100}, {300, 100}, {125, 125}, {500, 200}, {1000, 10}, {1000, 100}, {1000, 1000}} {
			b.Run(fmt.Sprintf("%s/D=%d/K=%d", kind, size.docs, size.cutoff), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 1))
				scores := gaussian(rng, size.docs, 1)
				c := newCascade(kind, "1/k", scores, size.cutoff, rng)
				plain := newCascade("dcg", "1/k", scores, size.cutoff, rng)
				var e, other Expectation
				one, two := time.Hour, time.Hour
				lambda := make([]float64, size.docs)
				for b.Loop() {
					start := time.Now()
					if kind == "ap" {
						e.AveragePrecision(scores, c.relevant, size.cutoff, lambda)
					} else {
						e.Cascade(scores, c.rewards, c.continuations, c.discounts, lambda)
					}
					middle := time.Now()
					other.Gradient(scores, plain.rewards, plain.discounts, lambda)
					one, two = min(one, middle.Sub(start)), min(two, time.Since(middle))
				}
				b.ReportMetric(float64(one.Nanoseconds()), "ns/op")
				b.ReportMetric(float64(two.Nanoseconds()), "dcg-ns/op")
				b.ReportMetric(one.Seconds()/two.Seconds(), "ratio")
				b.ReportMetric(float64(e.Nodes())/float64(other.Nodes()), "nodes-ratio")
			})
		}
	}
}
