package train

import "github.com/plrank/plrank/nn"

// l2 is the hook of Config.L2: the gradient of every weight w that is not a bias gets λ·w, the
// derivative of a penalty of λ/2·‖w‖².
type l2 struct {
	idle
	rate   float32 // λ
	arrays []nn.Array
}

func newL2(rate float64, arrays []nn.Array) hook {
	if rate == 0 {
		return nil
	}
	return &l2{rate: float32(rate), arrays: arrays}
}

func (l *l2) gradient(s *step) error {
	eachPenalised(l.arrays, func(i int) { s.gradient[i] += l.rate * s.weights[i] })
	return nil
}
