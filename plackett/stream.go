package plackett

// stream is a source of random numbers of its own for every (seed, step, query):
// what one query draws depends neither on the other queries nor on the order in
// which they are worked on. It is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a
// counter and a mixing function, so that draws do not wait for each other.
type stream struct{ counter uint64 }

// seek puts the stream at the start of the numbers of (seed, step, query).
func (s *stream) seek(seed, step, query uint64) {
	const odd = 0x9e3779b97f4a7c15 // keeps a key of zeros from giving zeros
	s.counter = mix(mix(mix(seed+odd)^step+odd) ^ query + odd)
}

// next returns 64 random bits.
func (s *stream) next() uint64 {
	s.counter += 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	return mix(s.counter)
}

// mix is the finaliser of SplitMix64, a bijection in which every input bit reaches
// every output bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// open returns a number uniform in (0, 1), never 0 and never 1.
func (s *stream) open() float64 {
	return (float64(s.next()>>11) + 0.5) * (1.0 / (1 << 53))
}
