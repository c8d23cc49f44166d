package train

import (
	"math"

	"github.com/plrank/plrank/internal/normal"
)

// averageWeights moves the weights that are evaluated, kept and saved towards those that
// the n-th step has given, counted from 1. Where Config.Average is β they are the
// exponential moving average of the weights after every step so far (Polyak & Juditsky
// 1992; in this form the average that Adam takes of gradients, with its correction of the
// bias, Kingma & Ba 2015, section 3),
//
//	Σ_i β^(n−i) w_i / Σ_i β^(n−i),
//
// and otherwise the very same memory.
func (t *Trainer) averageWeights(n uint64) {
	if t.Average == 0 {
		return
	}
	share := (1 - t.Average) / (1 - math.Pow(t.Average, float64(n)))
	for i, w := range t.weights {
		// That of a weight that stays 0 fades away.
		t.averaged[i] = normal.Flush(t.averaged[i] + float32(share*(float64(w)-float64(t.averaged[i]))))
	}
}
