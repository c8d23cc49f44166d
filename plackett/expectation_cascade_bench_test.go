package plackett

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkCascades times cascades and average precision in turn with the gradient of DCG with the same discounts, and
// reports the shortest times and their ratio. "any" has any continuations.
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

// BenchmarkCascadesAgainstSamples times the exact gradients of metrics in turn with the drawing of 1000 rankings, from which a
// sampled gradient is yet to be made, and reports the shortest times.
func BenchmarkCascadesAgainstSamples(b *testing.B) {
	for _, size := range []struct{ docs, cutoff int }{{24, 5}, {125, 10}, {125, 50}, {125, 125}, {1000, 10}, {1000, 1000}} {
		b.Run(fmt.Sprintf("D=%d/K=%d", size.docs, size.cutoff), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			scores := gaussian(rng, size.docs, 1)
			lambda := make([]float64, size.docs)
			rankings := NewRankings(1000, size.cutoff)
			var s Sampler
			work := map[string]func(){"drawn": func() { s.Draw(scores, Stream{Seed: 1}, rankings) }}
			for _, kind := range []string{"dcg", "relevance", "err", "ap"} {
				c := newCascade(kind, "1/k", scores, size.cutoff, rng)
				var e Expectation
				work[kind] = func() {
					if kind == "ap" {
						e.AveragePrecision(scores, c.relevant, size.cutoff, lambda)
					} else {
						e.Cascade(scores, c.rewards, c.continuations, c.discounts, lambda)
					}
				}
				work[kind]() // finds the sums of geometric sequences, once
			}
			shortest := map[string]time.Duration{}
			for b.Loop() {
				for name, do := range work {
					start := time.Now()
					do()
					took := time.Since(start)
					if before, ok := shortest[name]; !ok || took < before {
						shortest[name] = took
					}
				}
			}
			sum := time.Duration(0)
			for name, took := range shortest {
				b.ReportMetric(float64(took.Nanoseconds()), name+"-ns/op")
				sum += took
			}
			b.ReportMetric(float64(sum.Nanoseconds()), "ns/op")
		})
	}
}
