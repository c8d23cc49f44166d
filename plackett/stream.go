package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/num"
)

// Stream names a stream of random numbers. Every seed, step and query has its own stream: what is
// drawn for a query depends neither on other queries nor on the order in which they are drawn.
type Stream struct{ Seed, Step, Query uint64 }

// start returns the generator at the start of the stream.
func (s Stream) start() generator {
	return generator{num.SplitMixNext(num.SplitMixNext(num.SplitMixNext(s.Seed)^s.Step) ^ s.Query)}
}

// generator is SplitMix64, see package num.
type generator struct{ counter uint64 }

// next returns 64 random bits.
func (g *generator) next() uint64 {
	g.counter += num.SplitMixGamma
	return num.SplitMix(g.counter)
}

// open returns a number uniform in (0, 1), never 0 and never 1.
func (g *generator) open() float64 {
	u := (float64(g.next()>>11) + 0.5) * (1.0 / (1 << 53))
	if u == 1 { // by rounding, once in 2^53 numbers
		return 1 - 1.0/(1<<53)
	}
	return u
}

// Gumbel fills noise with standard Gumbel noise, −log(−log u), from a stream. Every sample has
// different numbers, and a [Sampler] draws others again. The documents in descending order of score
// plus noise are a draw from their Plackett–Luce policy. Scores beyond ±2^20 round the noise, see
// [Compact].
func Gumbel(from Stream, sample uint64, noise []float64) {
	g := from.start()
	g.counter = num.SplitMix(g.counter ^ num.SplitMix(sample+1))
	for d := range noise {
		noise[d] = -math.Log(-math.Log(g.open()))
	}
}
