package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/normal"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/graph"
)

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
// rate η: the weights w_j that lead from input j into a layer of so many outputs become
//
//	w_j · max(0, 1 − ηλ·√outputs / ‖w_j‖),
//
// by which the objective gets a penalty of λ·√outputs·Σ_j ‖w_j‖ (group lasso: Yuan & Lin
// 2006; proximal: Parikh & Boyd 2014, section 6.5.4). The weights of an input that says nothing of
// the objective become exactly 0; with Adam, whose steps are no smaller where the gradient is, only
// if λ is large.
type groupLasso struct {
	idle
	penalty float64 // λ
	arrays  []nn.Array
}

func (l *groupLasso) stepped(s *step) error {
	at := 0
	for _, a := range l.arrays {
		of := s.weights[at : at+a.Size()]
		at += a.Size()
		if !a.Inputs {
			continue
		}
		outputs := a.Size() / a.Shape[0]
		least := s.rate * l.penalty * math.Sqrt(float64(outputs))
		for ; len(of) > 0; of = of[outputs:] {
			squares := 0.
			for _, w := range of[:outputs] {
				squares += float64(w) * float64(w)
			}
			keep := float32(0)
			if norm := math.Sqrt(squares); norm > least {
				keep = float32(1 - least/norm)
			}
			for i := range of[:outputs] {
				of[i] *= keep
			}
		}
	}
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
