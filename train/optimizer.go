package train

import (
	"fmt"
	"math"
)

// An optimizer changes weights along a gradient of the loss. All it remembers is
// in slices that a checkpoint can keep.
type optimizer interface {
	// step changes the weights w, given their gradient g; both are flat.
	step(w, g []float32, learningRate float64)

	// state is the memory of the optimizer, by name, each as long as the
	// weights; it may be written to.
	state(weights int) map[string][]float32

	// setSteps tells how many steps were made before.
	setSteps(n uint64)
}

var optimizers = map[string]func(Config) optimizer{
	"sgd":      func(Config) optimizer { return sgd{} },
	"momentum": func(c Config) optimizer { return &momentum{rate: float32(c.Momentum)} },
	"adam":     func(Config) optimizer { return &adam{} },
}

// Optimizers lists the names of the optimizers:
//
//	sgd       w ← w − η·g
//	momentum  v ← μ·v + g, w ← w − η·v (Polyak 1964)
//	adam      with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8 (Kingma & Ba 2015)
func Optimizers() []string { return []string{"sgd", "momentum", "adam"} }

func newOptimizer(c Config) (optimizer, error) {
	if make, ok := optimizers[c.Optimizer]; ok {
		return make(c), nil
	}
	return nil, unknown("optimizer", c.Optimizer, Optimizers())
}

type sgd struct{}

func (sgd) step(w, g []float32, learningRate float64) {
	for i, v := range g {
		w[i] -= float32(learningRate) * v
	}
}

func (sgd) state(int) map[string][]float32 { return nil }
func (sgd) setSteps(uint64)                {}

type momentum struct {
	rate     float32
	velocity []float32
}

func (o *momentum) step(w, g []float32, learningRate float64) {
	o.state(len(w))
	for i, v := range g {
		o.velocity[i] = o.rate*o.velocity[i] + v
		w[i] -= float32(learningRate) * o.velocity[i]
	}
}

func (o *momentum) state(weights int) map[string][]float32 {
	if o.velocity == nil {
		o.velocity = make([]float32, weights)
	}
	return map[string][]float32{"velocity": o.velocity}
}

func (o *momentum) setSteps(uint64) {}

type adam struct {
	steps         uint64
	mean, squares []float32
}

func (o *adam) step(w, g []float32, learningRate float64) {
	const beta1, beta2, epsilon = 0.9, 0.999, 1e-8
	o.state(len(w))
	o.steps++
	unbias := math.Sqrt(1 - math.Pow(beta2, float64(o.steps)))
	rate := learningRate / (1 - math.Pow(beta1, float64(o.steps)))
	for i, v := range g {
		o.mean[i] = beta1*o.mean[i] + (1-beta1)*v
		o.squares[i] = beta2*o.squares[i] + (1-beta2)*v*v
		w[i] -= float32(rate * float64(o.mean[i]) / (math.Sqrt(float64(o.squares[i]))/unbias + epsilon))
	}
}

func (o *adam) state(weights int) map[string][]float32 {
	if o.mean == nil {
		o.mean, o.squares = make([]float32, weights), make([]float32, weights)
	}
	return map[string][]float32{"mean": o.mean, "squares": o.squares}
}

func (o *adam) setSteps(n uint64) { o.steps = n }

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
