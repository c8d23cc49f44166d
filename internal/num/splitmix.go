package num

// SplitMixGamma is the step of the counter, 2^64 divided by the golden ratio.
const SplitMixGamma = 0x9e3779b97f4a7c15

// SplitMix returns the output for a counter: a bijection in which every input bit reaches every
// output bit.
func SplitMix(counter uint64) uint64 {
	z := (counter ^ counter>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// SplitMixNext returns the output one step after a counter.
func SplitMixNext(counter uint64) uint64 { return SplitMix(counter + SplitMixGamma) }
