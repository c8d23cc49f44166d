package plackett

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// expectationSizes are lists, and how much of the time of PL-Rank-RB with 1000 samples an
// exact gradient may take where there are vector instructions.
var expectationSizes = []struct {
	docs, cutoff int
	spread       float64
	allowed      float64
}{
	{24, 5, 1, 1. / 8}, {125, 5, 1, 1. / 4}, {125, 10, 1, 1. / 3}, {1000, 5, 1, 1.5}, {125, 125, 1, 1. / 4},
	{24, 24, 1, 1}, {125, 5, 0.1, 1}, {125, 5, 4, 1}, {125, 50, 1, 1}, {1000, 50, 1, 1}, {10_000, 5, 1, 1}, {100_000, 10, 1, 10},
	{1000, 10, 1, 2}, {1000, 1000, 1, 1. / 25}, {10_000, 10_000, 1, 1. / 25},
}

// BenchmarkExpectation is the exact gradient of one query.
func BenchmarkExpectation(b *testing.B) {
	whole := expectationSizes[0]
	whole.docs, whole.cutoff = 100_000, 100_000 // their rankings take too much memory
	for _, size := range append(slices.Clone(expectationSizes), whole) {
		b.Run(fmt.Sprintf("sd=%g/D=%d/K=%d", size.spread, size.docs, size.cutoff), func(b *testing.B) {
			step := exactStep(b, size.docs, size.cutoff, size.spread)
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// BenchmarkExpectationAgainstSamples times the exact gradient and PL-Rank-RB with 1000
// samples in turn, and reports the shortest times of both and their ratio, which are not much
// disturbed by what else a machine does. With -cpu 1, so that the
// sampler has no more than one core either.
func BenchmarkExpectationAgainstSamples(b *testing.B) {
	for _, size := range expectationSizes {
		b.Run(fmt.Sprintf("sd=%g/D=%d/K=%d", size.spread, size.docs, size.cutoff), func(b *testing.B) {
			exact, sampled := exactStep(b, size.docs, size.cutoff, size.spread), sampledStep(b, size.docs, size.cutoff, size.spread)
			exact()
			sampled()
			one, other := time.Hour, time.Hour
			for b.Loop() {
				start := time.Now()
				exact()
				middle := time.Now()
				sampled()
				one, other = min(one, middle.Sub(start)), min(other, time.Since(middle))
			}
			b.ReportMetric(float64(one.Nanoseconds()), "ns/op")
			b.ReportMetric(float64(other.Nanoseconds()), "sampled-ns/op")
			b.ReportMetric(one.Seconds()/other.Seconds(), "ratio")
			b.ReportMetric(size.allowed, "allowed")
		})
	}
}

func exactStep(b *testing.B, docs, cutoff int, spread float64) func() {
	scores, gains := benchmarkList(docs, spread)
	lambda := make([]float64, docs)
	theta := dcg(cutoff)
	var e Expectation
	return func() {
		if _, err := e.Gradient(scores, gains, theta, lambda); err != nil {
			b.Fatal(err)
		}
	}
}

func sampledStep(b *testing.B, docs, cutoff int, spread float64) func() {
	scores, gains := benchmarkList(docs, spread)
	lambda := make([]float64, docs)
	theta := dcg(cutoff)
	r := NewRankings(1000, cutoff)
	var s Sampler
	var k Kernel
	step := uint64(0)
	return func() {
		step++
		if err := s.Draw(scores, Stream{Seed: 1, Step: step}, r); err != nil {
			b.Fatal(err)
		}
		if _, err := k.Gradient(PLRankRB, scores, gains, theta, r, lambda); err != nil {
			b.Fatal(err)
		}
	}
}
