package train

import (
	"errors"
	"math"

	"github.com/plrank/plrank/internal/elementwise"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/nn"
)

// An Optimizer changes weights along a gradient of the loss.
type Optimizer interface {
	// Step changes the weights w, given their gradient g; both are flat, one array of
	// the model after another. It is the n-th step, counted from 1.
	Step(w, g []float32, learningRate float64, n uint64)

	// State is all that the optimizer remembers, by name: the slices themselves, which
	// a checkpoint keeps, and which are written to where a run goes on. nil: nothing.
	State() map[string][]float32
}

// optimizers make an optimizer of the weights in these arrays.
var optimizers = map[string]func(c Config, arrays []nn.Array) Optimizer{
	"sgd": func(Config, []nn.Array) Optimizer { return sgd{} },
	"momentum": func(c Config, arrays []nn.Array) Optimizer {
		return &momentum{rate: float32(c.Momentum), velocity: make([]float32, weightsIn(arrays))}
	},
	"adam": func(_ Config, arrays []nn.Array) Optimizer { return newAdam(arrays) },
	"adamw": func(c Config, arrays []nn.Array) Optimizer {
		return &adamW{adam: newAdam(arrays), decay: c.WeightDecay, arrays: arrays}
	},
}

func weightsIn(arrays []nn.Array) (n int) {
	for _, a := range arrays {
		n += a.Size()
	}
	return n
}

// Optimizers lists the names of the optimizers:
//
//	sgd       w ← w − η·g
//	momentum  v ← μ·v + g, w ← w − η·v (Polyak 1964)
//	adam      with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8 (Kingma & Ba 2015)
//	adamw     adam and, for weights w that are not biases, w ← w − η·decay·w, apart from
//	          the gradient (Loshchilov & Hutter 2019, algorithm 2)
func Optimizers() []string { return []string{"sgd", "momentum", "adam", "adamw"} }

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
	n := weightsIn(arrays)
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
	eachPenalised(o.arrays, func(i int) { w[i] *= keep })
	o.adam.Step(w, g, learningRate, n)
}

// eachPenalised calls f with the number of every weight that is not a bias.
func eachPenalised(arrays []nn.Array, f func(i int)) {
	at := 0
	for _, a := range arrays {
		end := at + a.Size()
		for i := at; i < end && !a.Bias; i++ {
			f(i)
		}
		at = end
	}
}

// newOptimizer makes the optimizer of the weights in these arrays; custom is Parts.Optimizer.
func newOptimizer(c Config, custom func(weights int) Optimizer, arrays []nn.Array) (Optimizer, error) {
	if custom == nil {
		return optimizers[c.Optimizer](c, arrays), nil
	}
	o := custom(weightsIn(arrays))
	if o == nil {
		return nil, errors.New("train: Parts.Optimizer gives none")
	}
	return o, nil
}
