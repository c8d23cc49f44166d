package plackett

import "math"

// Gumbel fills noise with standard Gumbel noise, −log(−log u), of the stream of
// (seed, step, query) and the number of the sample.
func Gumbel(seed, step, query, sample uint64, noise []float64) {
	var s stream
	s.seek(seed, step, query)
	s.counter = mix(s.counter ^ mix(sample+1))
	for d := range noise {
		noise[d] = -math.Log(-math.Log(s.open()))
	}
}
