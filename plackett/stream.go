package plackett

import "github.com/plrank/plrank/plackett/internal/lanes"

// A Stream names a stream of random numbers. Every seed, step and query has one of its
// own: what is drawn for a query depends neither on the other queries nor on the order
// in which they are worked on.
type Stream struct{ Seed, Step, Query uint64 }

// start returns the generator at the start of the stream.
func (s Stream) start() generator {
	const odd = lanes.Golden // keeps a key of zeros from giving zeros
	return generator{lanes.Mix(lanes.Mix(lanes.Mix(s.Seed+odd)^s.Step+odd) ^ s.Query + odd)}
}

// generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a counter and a mixing
// function, so that draws do not wait for each other.
type generator struct{ counter uint64 }

// next returns 64 random bits.
func (g *generator) next() uint64 {
	g.counter += lanes.Golden
	return lanes.Mix(g.counter)
}

// split returns the generator of a sample, whose numbers are others than those of all others.
func (g generator) split(sample uint64) generator {
	return generator{lanes.Mix(g.counter ^ lanes.Mix(sample+1))}
}

// open returns a number uniform in (0, 1), never 0 and never 1.
func (g *generator) open() float64 {
	return (float64(g.next()>>11) + 0.5) * (1.0 / (1 << 53))
}
