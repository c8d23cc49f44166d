// Package splitmix has the parts of the random number generator SplitMix64 (Steele, Lea &
// Flood, OOPSLA 2014): a counter and a mixing function, so that draws do not wait for each
// other.
package splitmix

// Gamma is the step of the counter, 2^64 divided by the golden ratio.
const Gamma = 0x9e3779b97f4a7c15

// Mix is the output for a counter: a bijection in which every input bit reaches every
// output bit.
func Mix(counter uint64) uint64 {
	z := (counter ^ counter>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Next is the output one step after a counter.
func Next(counter uint64) uint64 { return Mix(counter + Gamma) }
