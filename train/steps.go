package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/network"
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
	case "constant", "cosine":
		return schedule{cosine: name == "cosine"}, nil
	case "plateau":
		name = "plateau(3)"
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
		return s, fmt.Errorf("train: schedule %q: plateau needs a patience in epochs: %s", text, want)
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
	NopHook
	Optimization
	schedule schedule
	history  *history
}

func (r *rates) BeforeStep(s *Step) error {
	s.Rate = r.rate(r.history.epochs, s.Step-1, s.Steps)
	return nil
}

// rate returns the learning rate of a step of the epoch after the history: of the first
// for step 0 of the number of steps of an epoch. It follows from these alone, so that a run
// that goes on has the same rates as one that was not interrupted.
func (r *rates) rate(history []Epoch, step, steps int) float64 {
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

// l2 is the hook of Config.L2: the gradient of every weight w that is not a bias gets λ·w, the
// derivative of a penalty of λ/2·‖w‖².
type l2 struct {
	NopHook
	rate   float32 // λ
	arrays []nn.Array
}

func (l *l2) Gradient(s *Step) error {
	network.EachPenalised(l.arrays, func(i int) { s.Gradient[i] += l.rate * s.Weights[i] })
	return nil
}

// clipping is the hook of Config.Clip: a gradient whose norm is larger is scaled down to it; 0:
// never. It returns an error if the gradient is not finite.
type clipping struct {
	NopHook
	most float64
}

func (c *clipping) Gradient(s *Step) error {
	if c.most > 0 || !batches.AllFinite(s.Gradient) {
		return batches.Clip(s.Gradient, c.most)
	}
	return nil
}

// finiteWeights is the hook that ends a run whose weights are not finite any more.
type finiteWeights struct{ NopHook }

func (finiteWeights) AfterUpdate(s *Step) error {
	if !batches.AllFinite(s.Weights) {
		return &weightError{s.Weights[slices.IndexFunc(s.Weights, notFinite)]}
	}
	return nil
}

// weightError is a weight that a step has made infinite.
type weightError struct{ weight float32 }

func (e *weightError) Error() string {
	return fmt.Sprintf("a weight became %v: a lower learning rate, or clipping the gradient, may help", e.weight)
}

// average is the hook of Config.Average, β: it keeps an average of the weights after every step, which is what is
// evaluated, kept and saved (Polyak & Juditsky 1992). After step n it moves towards the weights by max(1−β, 9/(n+8)) of
// the difference: it is over about a ninth of the steps (Shamir & Zhang 2013, section 4, η = 8), so that the first steps
// are soon forgotten, and from 9/(1−β) steps on it is the exponential moving average Σ_i β^(n−i) w_i.
type average struct {
	NopHook
	beta     float64
	averaged []float32
}

func (a *average) AfterUpdate(s *Step) error {
	share := max(1-a.beta, 9/float64(s.Number+8))
	forward.Elementwise(len(s.Weights), func(from, to int) {
		averaged := a.averaged[from:to]
		for i, w := range s.Weights[from:to] {
			// The average of a weight that stays 0 fades away.
			averaged[i] = num.Flush(averaged[i] + float32(share*(float64(w)-float64(averaged[i]))))
		}
	})
	return nil
}

func (a *average) State() State {
	return State{Arrays: map[string][]float32{"average": a.averaged}}
}
