package forward

import (
	"math"

	"github.com/plrank/plrank/internal/elementwise"
	"github.com/plrank/plrank/internal/num"
)

// A Dropout is inverted dropout: it multiplies each entry by 0, with probability Rate, or
// by 1/(1−Rate). Which entries it drops depends on the key and on their numbers alone. With
// rate 0 it does nothing.
type Dropout struct {
	Rate float64
	Key  uint64
}

// DropoutKey returns the key of the masks of a layer at a step.
func DropoutKey(seed, step, layer uint64) uint64 {
	return num.SplitMixNext(num.SplitMixNext(num.SplitMixNext(seed)+step) + layer)
}

// DropInto sets y to x after dropout, on all cores.
func DropInto[T float](d Dropout, x, y []T) {
	Elementwise(len(x), func(from, to int) {
		copy(y[from:to], x[from:to])
		drop(d, y[from:to], from)
	})
}

// drop applies dropout to x, whose first entry has the number from. Entries that are not finite
// stay so.
func drop[T float](d Dropout, x []T, from int) {
	if d.Rate == 0 {
		return
	}
	below := uint64(d.Rate * (1 << 32))
	switch x := any(x).(type) {
	case []float32:
		elementwise.Drop(x, from, d.Key, below, float32(1/(1-d.Rate)))
	case []float64: // the same entries
		for i := range x {
			if half := (from + i) % 2 * 32; num.SplitMixNext(d.Key+uint64((from+i)/2))>>half&math.MaxUint32 < below {
				x[i] *= 0
			} else {
				x[i] *= 1 / (1 - d.Rate)
			}
		}
	}
}
