package plackett

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchmarkList has normal scores of standard deviation spread, and gains with
// the label frequencies of MSLR-WEB30K.
func benchmarkList(docs int, spread float64) (scores, gains []float64) {
	rng := rand.New(rand.NewPCG(1, uint64(docs)))
	for range docs {
		scores = append(scores, spread*rng.NormFloat64())
		u := rng.Float64()
		switch {
		case u < 0.515:
			gains = append(gains, 0)
		case u < 0.840:
			gains = append(gains, 1)
		case u < 0.974:
			gains = append(gains, 3)
		case u < 0.992:
			gains = append(gains, 7)
		default:
			gains = append(gains, 15)
		}
	}
	return scores, gains
}

// A querySize is documents, places and rankings.
type querySize struct{ docs, cutoff, samples int }

// String is the end of a benchmark's name, for scores of standard deviation 1.
func (s querySize) String() string {
	return fmt.Sprintf("sd=1/D=%d/K=%d/N=%d", s.docs, s.cutoff, s.samples)
}

var sizes = []querySize{
	{24, 5, 1000}, {125, 5, 1}, {125, 5, 10}, {125, 5, 100}, {125, 5, 1000}, {125, 10, 1000}, {125, 100, 1000},
	{1000, 5, 1000}, {1000, 10, 1000}, {1000, 100, 1000}, {10000, 5, 1000}, {10000, 10, 1000},
	{125, 5, 4000}, {10000, 5, 4000}, // with N = 1000: the cost of a sample
}

// BenchmarkQuery is the gradient of one query by PL-Rank-RB, sampling included.
func BenchmarkQuery(b *testing.B) {
	for _, spread := range []float64{1, 3, 5} {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("sd=%g/D=%d/K=%d/N=%d", spread, size.docs, size.cutoff, size.samples), func(b *testing.B) {
				scores, gains := benchmarkList(size.docs, spread)
				theta := dcg(size.cutoff)
				places := make([]int, size.samples*size.cutoff)
				lambda := make([]float64, size.docs)
				var s Sampler
				var k Kernel
				step := uint64(0)
				b.ReportAllocs()
				for b.Loop() {
					step++
					if err := s.Draw(scores, Stream{Seed: 1, Step: step}, Rankings{Documents: places, Cutoff: size.cutoff}); err != nil {
						b.Fatal(err)
					}
					if _, err := k.Gradient(PLRankRB, scores, gains, theta, Rankings{Documents: places, Cutoff: size.cutoff}, lambda); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkDraw is sampling alone.
func BenchmarkDraw(b *testing.B) {
	for _, spread := range []float64{1, 3, 5} {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("sd=%g/D=%d/K=%d/N=%d", spread, size.docs, size.cutoff, size.samples), func(b *testing.B) {
				scores, _ := benchmarkList(size.docs, spread)
				places := make([]int, size.samples*size.cutoff)
				var s Sampler
				step := uint64(0)
				b.ReportAllocs()
				for b.Loop() {
					step++
					if err := s.Draw(scores, Stream{Seed: 1, Step: step}, Rankings{Documents: places, Cutoff: size.cutoff}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkAlgorithm1 is the paper's way: Gumbel noise, sorting, and its Algorithm 1.
func BenchmarkAlgorithm1(b *testing.B) {
	for _, size := range kernelSizes {
		b.Run(size.String(), func(b *testing.B) {
			scores, gains := benchmarkList(size.docs, 1)
			rng := rand.New(rand.NewPCG(1, 1))
			b.ReportAllocs()
			for b.Loop() {
				algorithm1(scores, gains, dcg5, gumbelSort(scores, size.samples, rng))
			}
		})
	}
}

// BenchmarkGumbelSort is the sampling of the paper alone.
func BenchmarkGumbelSort(b *testing.B) {
	for _, docs := range []int{125, 1000} {
		b.Run(fmt.Sprintf("sd=1/D=%d/N=1000", docs), func(b *testing.B) {
			scores, _ := benchmarkList(docs, 1)
			rng := rand.New(rand.NewPCG(1, 1))
			b.ReportAllocs()
			for b.Loop() {
				gumbelSort(scores, 1000, rng)
			}
		})
	}
}
