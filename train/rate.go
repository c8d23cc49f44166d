package train

import "math"

// rate is the learning rate of a step of the epoch after the history: of the first
// for step 0, of so many steps an epoch. It follows from these alone, so that a run
// that goes on has the same rates as one that was not interrupted.
func (p *parsed) rate(history []Epoch, step, steps int) float64 {
	rate := p.LearningRate * math.Pow(p.Decay, float64(len(history)))
	done := float64(len(history)) + float64(step)/float64(steps) // in epochs
	if next := done + 1/float64(steps); next < p.Warmup {
		rate *= next / p.Warmup
	}
	if p.schedule.cosine && done > p.Warmup {
		rate *= (1 + math.Cos(math.Pi*(done-p.Warmup)/(float64(p.Epochs)-p.Warmup))) / 2
	}
	if p.schedule.patience > 0 {
		waited := 0
		for _, e := range history {
			if waited++; e.Best {
				waited = 0
			}
			if waited == p.schedule.patience {
				rate *= p.schedule.factor
				waited = 0
			}
		}
	}
	return rate
}
