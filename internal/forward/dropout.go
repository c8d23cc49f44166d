package forward

import (
	"math"

	"github.com/viterin/vek/vek32"
)

// A Dropout is inverted dropout: it multiplies each entry by 0, with probability Rate, or
// by 1/(1−Rate). Which entries it drops depends on the key and on their numbers alone. With
// rate 0 it does nothing.
type Dropout struct {
	Rate float64
	Key  uint64
}

// DropoutKey is the key of the masks of a layer at a step.
func DropoutKey(seed, step, layer uint64) uint64 { return mix(mix(mix(seed)+step) + layer) }

// DropInto sets y to what is left of x, on all cores.
func DropInto[T float](d Dropout, x, y []T) {
	Elementwise(len(x), func(from, to int) {
		copy(y[from:to], x[from:to])
		drop(d, y[from:to], from)
	})
}

// drop drops from x, whose first entry has the number from. What is not finite stays so.
func drop[T float](d Dropout, x []T, from int) {
	if d.Rate == 0 {
		return
	}
	// Two entries share the bits of a random number.
	below := uint64(d.Rate * (1 << 32))
	half := func(i int) uint64 { return mix(d.Key+uint64(i/2)) >> (32 * (i % 2)) & math.MaxUint32 }
	switch x := any(x).(type) {
	case []float32:
		kept := math.Float32bits(float32(1 / (1 - d.Rate)))
		factor := func(random uint64) float32 { return math.Float32frombits(kept &^ ones(random, below)) }
		i := 0
		if from%2 == 1 && len(x) > 0 {
			x[0] *= factor(half(from))
			i = 1
		}
		key := d.Key + uint64((from+i)/2)
		for ; i+1 < len(x); i += 2 {
			random := mix(key)
			key++
			x[i] *= factor(random & math.MaxUint32)
			x[i+1] *= factor(random >> 32)
		}
		if i < len(x) {
			x[i] *= factor(half(from + i))
		}
	case []float64:
		for i := range x {
			if half(from+i) < below {
				x[i] *= 0
			} else {
				x[i] *= 1 / (1 - d.Rate)
			}
		}
	}
}

// ones is all ones if a < b, else 0, for numbers below 2^63: without a branch, which a
// processor would guess wrong.
func ones(a, b uint64) uint32 { return uint32(int64(a-b) >> 63) }

// mix is the output function of SplitMix64 (Steele, Lea & Flood 2014) after one
// step from z.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func scale[T float](x []T, by T) {
	switch x := any(x).(type) {
	case []float32:
		vek32.MulNumber_Inplace(x, float32(by))
	case []float64:
		for i := range x {
			x[i] *= float64(by)
		}
	}
}
