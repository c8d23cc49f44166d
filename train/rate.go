package train

import "math"

// rates is the hook that gives every step its learning rate.
type rates struct {
	idle
	history       *history
	first         float64 // Config.LearningRate
	decay, warmup float64
	epochs        int
	schedule      schedule
}

func newRates(c Config, s schedule, h *history) *rates {
	return &rates{history: h, first: c.LearningRate, decay: c.Decay, warmup: c.Warmup, epochs: c.Epochs, schedule: s}
}

func (r *rates) plan(s *step) { s.rate = r.of(r.history.epochs, s.index, s.steps) }

// of is the learning rate of a step of the epoch after the history: of the first
// for step 0, of so many steps an epoch. It follows from these alone, so that a run
// that goes on has the same rates as one that was not interrupted.
func (r *rates) of(history []Epoch, step, steps int) float64 {
	rate := r.first * math.Pow(r.decay, float64(len(history)))
	done := float64(len(history)) + float64(step)/float64(steps) // in epochs
	if next := done + 1/float64(steps); next < r.warmup {
		rate *= next / r.warmup
	}
	if r.schedule.cosine && done > r.warmup {
		rate *= (1 + math.Cos(math.Pi*(done-r.warmup)/(float64(r.epochs)-r.warmup))) / 2
	}
	if r.schedule.patience > 0 {
		waited := 0
		for _, e := range history {
			if waited++; e.Best {
				waited = 0
			}
			if waited == r.schedule.patience {
				rate *= r.schedule.factor
				waited = 0
			}
		}
	}
	return rate
}
