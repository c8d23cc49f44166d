package train

import (
	"math"

	"github.com/plrank/plrank/nn"
)

// groupLasso is the hook of Config.GroupLasso, λ: a proximal step after a step of the optimizer at
// rate η: the weights w_j that lead from input j into a layer of so many outputs become
//
//	w_j · max(0, 1 − ηλ·√outputs / ‖w_j‖),
//
// by which the objective gets a penalty of λ·√outputs·Σ_j ‖w_j‖ (group lasso: Yuan & Lin
// 2006; proximal: Parikh & Boyd 2014, section 6.5.4). Where the optimizer's steps are in
// proportion to the gradient, the weights of an input that says nothing of the objective
// become exactly 0. Adam's steps are no smaller where the gradient is: with it they stay
// small, and become 0 only if λ is large.
type groupLasso struct {
	idle
	penalty float64 // λ
	arrays  []nn.Array
}

func newGroupLasso(penalty float64, arrays []nn.Array) hook {
	if penalty == 0 {
		return nil
	}
	return &groupLasso{penalty: penalty, arrays: arrays}
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
