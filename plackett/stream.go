package plackett

// A Stream names a stream of random numbers. Every seed, step and query has one of its
// own: what is drawn for a query depends neither on the other queries nor on the order
// in which they are worked on.
type Stream struct{ Seed, Step, Query uint64 }

// start returns the generator at the start of the stream.
func (s Stream) start() generator {
	const odd = 0x9e3779b97f4a7c15 // keeps a key of zeros from giving zeros
	return generator{mix(mix(mix(s.Seed+odd)^s.Step+odd) ^ s.Query + odd)}
}

// generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a counter and a mixing
// function, so that draws do not wait for each other.
type generator struct{ counter uint64 }

// next returns 64 random bits.
func (g *generator) next() uint64 {
	g.counter += 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	return mix(g.counter)
}

// mix is the finaliser of SplitMix64, a bijection in which every input bit reaches
// every output bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// open returns a number uniform in (0, 1), never 0 and never 1.
func (g *generator) open() float64 {
	u := (float64(g.next()>>11) + 0.5) * (1.0 / (1 << 53))
	if u == 1 { // by rounding, once in 2^53 numbers
		return 1 - 1.0/(1<<53)
	}
	return u
}
