package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A schedule is how the learning rate goes from step to step.
type schedule struct {
	cosine   bool
	patience int     // of plateau, in epochs; 0: none
	factor   float64 // of plateau
}

// parseSchedule reads what [Config.Schedule] says.
func parseSchedule(text string) (schedule, error) {
	const want = "want constant, cosine, plateau or plateau(3,0.5)"
	name := strings.TrimSpace(text)
	switch name {
	case "constant":
		return schedule{}, nil
	case "cosine":
		return schedule{cosine: true}, nil
	case "plateau":
		return schedule{patience: 3, factor: 0.5}, nil
	}
	inner, plateau := strings.CutPrefix(name, "plateau(")
	inner, closed := strings.CutSuffix(inner, ")")
	if !plateau || !closed {
		return schedule{}, fmt.Errorf("train: schedule %q: %s", text, want)
	}
	s := schedule{factor: 0.5}
	patience, factor, two := strings.Cut(inner, ",")
	var err error
	if s.patience, err = strconv.Atoi(strings.TrimSpace(patience)); err != nil || s.patience < 1 {
		return s, fmt.Errorf("train: schedule %q: after how many epochs? %s", text, want)
	}
	if two {
		if s.factor, err = strconv.ParseFloat(strings.TrimSpace(factor), 64); err != nil || !(s.factor > 0 && s.factor < 1) {
			return s, fmt.Errorf("train: schedule %q: want a factor between 0 and 1", text)
		}
	}
	return s, nil
}

// rates is the hook that gives every step its learning rate.
type rates struct {
	idle
	Optimization
	schedule schedule
	history  *history
}

func (r *rates) plan(s *step) { s.rate = r.of(r.history.epochs, s.index, s.steps) }

// of is the learning rate of a step of the epoch after the history: of the first
// for step 0, of so many steps an epoch. It follows from these alone, so that a run
// that goes on has the same rates as one that was not interrupted.
func (r *rates) of(history []Epoch, step, steps int) float64 {
	rate := r.LearningRate * math.Pow(r.Decay, float64(len(history)))
	done := float64(len(history)) + float64(step)/float64(steps) // in epochs
	if next := done + 1/float64(steps); next < r.Warmup {
		rate *= next / r.Warmup
	}
	if r.schedule.cosine && done > r.Warmup {
		rate *= (1 + math.Cos(math.Pi*(done-r.Warmup)/(float64(r.Epochs)-r.Warmup))) / 2
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
