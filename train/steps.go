package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/normal"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/graph"
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

// l2 is the hook of Config.L2: the gradient of every weight w that is not a bias gets λ·w, the
// derivative of a penalty of λ/2·‖w‖².
type l2 struct {
	idle
	rate   float32 // λ
	arrays []nn.Array
}

func (l *l2) gradient(s *step) error {
	eachPenalised(l.arrays, func(i int) { s.gradient[i] += l.rate * s.weights[i] })
	return nil
}

// clipping is the hook of Config.Clip: a gradient whose norm is larger is scaled down to it; 0:
// never. A gradient that is not finite is an error.
type clipping struct {
	idle
	most float64
}

func (c *clipping) gradient(s *step) error {
	if c.most > 0 || !allFinite(s.gradient) {
		if _, err := clip(s.gradient, c.most); err != nil {
			return graph.Unsound(err)
		}
	}
	return nil
}

// clip scales the gradient down to the norm given, 0: none, and gives the norm
// it had. A norm that is not finite is an error.
func clip(g []float32, most float64) (float64, error) {
	var squares float64
	for _, v := range g {
		squares += float64(v) * float64(v)
	}
	norm := math.Sqrt(squares)
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return norm, fmt.Errorf("the norm of the gradient is %v", norm)
	}
	if most > 0 && norm > most {
		for i := range g {
			g[i] *= float32(most / norm)
		}
	}
	return norm, nil
}

// groupLasso is the hook of Config.GroupLasso, λ: a proximal step after a step of the optimizer at
// rate η: the n weights w_j that lead from input j into the first layer, those of all its bins
// together, become
//
//	w_j · max(0, 1 − ηλ·√n / ‖w_j‖),
//
// by which the objective gets a penalty of λ·√n·Σ_j ‖w_j‖ (group lasso: Yuan & Lin
// 2006; proximal: Parikh & Boyd 2014, section 6.5.4). The weights of an input that says nothing of
// the objective become exactly 0; with Adam, whose steps are no smaller where the gradient is, only
// if λ is large.
type groupLasso struct {
	idle
	penalty float64 // λ
	arrays  []nn.Array
}

func (l *groupLasso) stepped(s *step) error {
	eachInput(l.arrays, s.weights, func(_ int, of []float32) {
		squares := 0.
		for _, w := range of {
			squares += float64(w) * float64(w)
		}
		keep, least := float32(0), s.rate*l.penalty*math.Sqrt(float64(len(of)))
		if norm := math.Sqrt(squares); norm > least {
			keep = float32(1 - least/norm)
		}
		for i := range of {
			of[i] *= keep
		}
	})
	return nil
}

// eachInput calls f with the weights of each input of the first layers of all networks: one row of so
// many outputs, or one for each of its bins.
func eachInput(arrays []nn.Array, weights []float32, f func(outputs int, of []float32)) {
	for _, a := range arrays {
		of := weights[:a.Size()]
		weights = weights[len(of):]
		outputs := len(of) / a.Shape[0]
		for input := 0; a.Inputs && len(of) > 0; input++ {
			n := outputs
			if input < len(a.Bins) {
				n *= a.Bins[input]
			}
			f(outputs, of[:n])
			of = of[n:]
		}
	}
}

// binRate is the hook of Config.Bins: it shortens the steps of the weights of an input of n bins to
// min(1, √12/n) of their length. What a unit makes of an input is the sum of the weights of the bins that
// its position has passed, and a position has a standard deviation of n/√12, where a number has 1. At the
// full rate the first layer would change several times as fast as without bins, and the other layers
// could not have the rate that suits them.
type binRate struct {
	idle
	arrays []nn.Array
	before []float32 // the weights of the inputs before the step
}

func (r *binRate) gradient(s *step) error {
	r.before = r.before[:0]
	eachInput(r.arrays, s.weights, func(_ int, of []float32) { r.before = append(r.before, of...) })
	return nil
}

func (r *binRate) stepped(s *step) error {
	before := r.before
	eachInput(r.arrays, s.weights, func(outputs int, of []float32) {
		share := float32(min(1, math.Sqrt(12)/float64(len(of)/outputs)))
		for i, was := range before[:len(of)] {
			of[i] = was + share*(of[i]-was)
		}
		before = before[len(of):]
	})
	return nil
}

// finiteWeights is the hook that ends a run whose weights are not finite any more.
type finiteWeights struct{ idle }

func (finiteWeights) stepped(s *step) error {
	if !allFinite(s.weights) {
		return &weightError{s.weights[slices.IndexFunc(s.weights, notFinite)]}
	}
	return nil
}

// weightError is a weight that a step has made infinite.
type weightError struct{ weight float32 }

func (e *weightError) Error() string {
	return fmt.Sprintf("a weight became %v: a lower learning rate, or clipping the gradient, may help", e.weight)
}

// average is the hook of Config.Average, β: it keeps the exponential moving average of the weights
// after every step, Σ_i β^(n−i) w_i / Σ_i β^(n−i), which is what is evaluated, kept and saved (Polyak
// & Juditsky 1992; with the correction of the bias by Kingma & Ba 2015, section 3).
type average struct {
	idle
	beta     float64
	averaged []float32
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
