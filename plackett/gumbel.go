package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/splitmix"
)

// Gumbel fills noise with standard Gumbel noise, −log(−log u), from a stream. Every
// sample has other numbers, which are not those of a [Sampler] either. The documents in
// descending order of score plus noise are a draw from their Plackett–Luce policy; beside scores beyond
// ±2^20 noise is rounded, see [Compact].
func Gumbel(from Stream, sample uint64, noise []float64) {
	g := from.start()
	g.counter = splitmix.Mix(g.counter ^ splitmix.Mix(sample+1))
	for d := range noise {
		noise[d] = -math.Log(-math.Log(g.open()))
	}
}
