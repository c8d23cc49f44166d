package train

import "math"

// shrinkInputs is the proximal step of Config.GroupLasso after a step of the optimizer at
// rate η: the weights w_j that lead from input j into a layer of so many outputs become
//
//	w_j · max(0, 1 − ηλ·√outputs / ‖w_j‖),
//
// by which the objective gets a penalty of λ·√outputs·Σ_j ‖w_j‖ (group lasso: Yuan & Lin
// 2006; proximal: Parikh & Boyd 2014, section 6.5.4). Where the optimizer's steps are in
// proportion to the gradient, the weights of an input that says nothing of the objective
// become exactly 0. Adam's steps are no smaller where the gradient is: with it they stay
// small, and become 0 only if λ is large.
func (t *Trainer) shrinkInputs(rate float64) {
	if t.GroupLasso == 0 {
		return
	}
	at := 0
	for _, a := range t.model.Weights().Arrays() {
		of := t.weights[at : at+a.Size()]
		at += a.Size()
		if !a.Inputs {
			continue
		}
		outputs := a.Size() / a.Shape[0]
		least := rate * t.GroupLasso * math.Sqrt(float64(outputs))
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
}
