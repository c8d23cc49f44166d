// Package elementwise computes functions of each number of a layer by itself: activations,
// their derivatives, dropout, exponentials of a softmax, and steps of optimizers.
// Vector instructions earned their place in the softmax, in Adam and in logistic functions, which have the same bits without.
package elementwise

import (
	"math"

	"github.com/plrank/plrank/internal/num"
)

// ReLUVJP sets dz to dy·factor where y > 0, to NaN where y is NaN, else to 0.
func ReLUVJP(y, dy, dz []float32, factor float32) {
	dy, dz = dy[:len(y)], dz[:len(y)]
	// Without branches, which a processor would guess wrong.
	const infinity = 0x7f800000
	for i, y := range y {
		v := math.Float32bits(y)
		positive := ones(uint64(v-1), infinity)
		isNaN := ones(infinity, uint64(v&math.MaxInt32))
		dz[i] = math.Float32frombits(math.Float32bits(dy[i])&positive|v&isNaN) * factor
	}
}

// ones is all ones if a < b, else 0, for numbers below 2^63.
func ones(a, b uint64) uint32 { return uint32(int64(a-b) >> 63) }

// Drop multiplies the numbers of x by kept, or by 0 where a random number of 32 bits is
// below that given. Two entries, the first with an even number, share the bits of
// a random number of 64: num.SplitMixNext(key + that number/2). The number of the first entry is from.
func Drop(x []float32, from int, key uint64, below uint64, kept float32) {
	keep := math.Float32bits(kept)
	factor := func(random uint64) float32 { return math.Float32frombits(keep &^ ones(random, below)) }
	key += uint64(from / 2)
	if from%2 == 1 && len(x) > 0 {
		x[0] *= factor(num.SplitMixNext(key) >> 32)
		x = x[1:]
		key++
	}
	for ; len(x) > 0; key++ {
		random := num.SplitMixNext(key)
		x[0] *= factor(random & math.MaxUint32)
		if len(x) == 1 {
			return
		}
		x[1] *= factor(random >> 32)
		x = x[2:]
	}
}

// Descend sets w = w − rate·g.
func Descend(w, g []float32, rate float32) {
	w = w[:len(g)]
	for i, v := range g {
		w[i] -= rate * v
	}
}

// Adam takes a step of Adam (Kingma & Ba 2015) with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8:
//
//	mean = β₁·mean + (1−β₁)·g,  squares = β₂·squares + (1−β₂)·g²,
//	w = w − rate·mean/(√squares/unbias + ε).
//
// Means and squares of weights whose gradient stays 0 fade away to 0.
func Adam(w, g, mean, squares []float32, rate, unbias float64) {
	const beta1, beta2, epsilon = 0.9, 0.999, 1e-8
	w, mean, squares = w[:len(g)], mean[:len(g)], squares[:len(g)]
	const step = 8
	if n := len(g) / step * step; wide && n > 0 {
		adamAVX512(&w[0], &g[0], &mean[0], &squares[0], n, rate, unbias)
		w, g, mean, squares = w[n:], g[n:], mean[n:], squares[n:]
	}
	for i, v := range g {
		mean[i] = num.Flush(beta1*mean[i] + (1-beta1)*v)
		squares[i] = num.Flush(beta2*squares[i] + (1-beta2)*v*v)
		w[i] -= float32(rate * float64(mean[i]) / (math.Sqrt(float64(squares[i]))/unbias + epsilon))
	}
}
