package network

import (
	"math"

	"github.com/plrank/plrank/internal/elementwise"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/nn"
)

// An Optimizer is what train.Optimizer is.
type Optimizer interface {
	Step(w, g []float32, learningRate float64, n uint64)
	State() map[string][]float32
}

// Optimizers make an optimizer of the weights in these arrays, by name, with a rate of momentum, and of the decay of weights.
var Optimizers = map[string]func(momentum, decay float64, arrays []nn.Array) Optimizer{
	"sgd": func(float64, float64, []nn.Array) Optimizer { return sgd{} },
	"momentum": func(rate, _ float64, arrays []nn.Array) Optimizer {
		return &momentum{rate: float32(rate), velocity: make([]float32, Size(arrays))}
	},
	"adam": func(_, _ float64, arrays []nn.Array) Optimizer { return newAdam(arrays) },
	"adamw": func(_, decay float64, arrays []nn.Array) Optimizer {
		return &adamW{adam: newAdam(arrays), decay: decay, arrays: arrays}
	},
}

// Size returns the number of weights in arrays.
func Size(arrays []nn.Array) (n int) {
	for _, a := range arrays {
		n += a.Size()
	}
	return n
}

type sgd struct{}

func (sgd) Step(w, g []float32, learningRate float64, _ uint64) {
	elementwise.Descend(w, g, float32(learningRate))
}

func (sgd) State() map[string][]float32 { return nil }

type momentum struct {
	rate     float32
	velocity []float32
}

func (o *momentum) Step(w, g []float32, learningRate float64, _ uint64) {
	for i, v := range g {
		o.velocity[i] = num.Flush(o.rate*o.velocity[i] + v)
		w[i] -= float32(learningRate) * o.velocity[i]
	}
}

func (o *momentum) State() map[string][]float32 {
	return map[string][]float32{"velocity": o.velocity}
}

type adam struct{ mean, squares []float32 }

func newAdam(arrays []nn.Array) *adam {
	n := Size(arrays)
	return &adam{mean: make([]float32, n), squares: make([]float32, n)}
}

func (o *adam) Step(w, g []float32, learningRate float64, n uint64) {
	const beta1, beta2 = 0.9, 0.999
	unbias := math.Sqrt(1 - math.Pow(beta2, float64(n)))
	rate := learningRate / (1 - math.Pow(beta1, float64(n)))
	forward.Elementwise(len(g), func(from, to int) {
		elementwise.Adam(w[from:to], g[from:to], o.mean[from:to], o.squares[from:to], rate, unbias)
	})
}

func (o *adam) State() map[string][]float32 {
	return map[string][]float32{"mean": o.mean, "squares": o.squares}
}

type adamW struct {
	*adam
	decay  float64
	arrays []nn.Array
}

func (o *adamW) Step(w, g []float32, learningRate float64, n uint64) {
	keep := float32(1 - learningRate*o.decay)
	EachPenalised(o.arrays, func(i int) { w[i] *= keep })
	o.adam.Step(w, g, learningRate, n)
}

// EachPenalised calls f with the number of every weight that is not a bias.
func EachPenalised(arrays []nn.Array, f func(i int)) {
	at := 0
	for _, a := range arrays {
		end := at + a.Size()
		for i := at; i < end && !a.Bias; i++ {
			f(i)
		}
		at = end
	}
}
