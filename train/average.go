package train

import (
	"math"

	"github.com/plrank/plrank/internal/normal"
)

// average is the hook of Config.Average, β: it keeps the exponential moving average of the weights
// after every step so far (Polyak & Juditsky 1992; in this form the average that Adam takes of
// gradients, with its correction of the bias, Kingma & Ba 2015, section 3),
//
//	Σ_i β^(n−i) w_i / Σ_i β^(n−i),
//
// which is what is evaluated, kept and saved.
type average struct {
	idle
	beta     float64
	averaged []float32
}

func newAverage(beta float64, averaged []float32) hook {
	if beta == 0 {
		return nil
	}
	return &average{beta: beta, averaged: averaged}
}

func (a *average) stepped(s *step) error {
	share := (1 - a.beta) / (1 - math.Pow(a.beta, float64(s.number)))
	for i, w := range s.weights {
		// That of a weight that stays 0 fades away.
		a.averaged[i] = normal.Flush(a.averaged[i] + float32(share*(float64(w)-float64(a.averaged[i]))))
	}
	return nil
}

func (a *average) state() state {
	return state{arrays: map[string][]float32{"average": a.averaged}}
}
