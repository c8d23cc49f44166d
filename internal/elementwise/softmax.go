package elementwise

import (
	"math"
	"slices"

	"github.com/viterin/vek/vek32"
)

// least is the smallest logarithm whose exponential is taken: below it a number adds
// nothing to the sum, even to one of float64, and its products would soon be subnormal.
const least = -60

// Exponentials, the inner loop of attention, replaces x by e^(scale·(x − max x)), 0 below e^−60, and
// gives the sum. The scale is positive. NaN, and a maximum that is infinite, make the sum NaN. There
// must be a number at least. Where the machine has AVX2 instructions, float32 has the same results
// up to rounding.
func Exponentials[T float32 | float64](x []T, scale T) T {
	if x, ok := any(x).([]float32); ok {
		return T(exponentials32(x, vek32.Max(x), float32(scale)))
	}
	return exponentials(x, slices.Max(x), scale)
}

func exponentials[T float32 | float64](x []T, highest, scale T) (sum T) {
	for i, v := range x {
		if v = scale * (v - highest); v < least {
			x[i] = 0
			continue
		}
		x[i] = T(math.Exp(float64(v)))
		sum += x[i]
	}
	return sum
}
