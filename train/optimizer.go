package train

import (
	"errors"

	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/network"
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

// Optimizers lists the names of the optimizers:
//
//	sgd       w ← w − η·g
//	momentum  v ← μ·v + g, w ← w − η·v (Polyak 1964)
//	adam      with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8 (Kingma & Ba 2015)
//	adamw     adam and, for weights w that are not biases, w ← w − η·decay·w, apart from
//	          the gradient (Loshchilov & Hutter 2019, algorithm 2)
func Optimizers() []string { return []string{"sgd", "momentum", "adam", "adamw"} }

// newOptimizer makes the optimizer of the weights in these arrays; custom is Custom.Optimizer.
func newOptimizer(c Optimization, custom func(weights int) Optimizer, arrays []nn.Array) (network.Optimizer, error) {
	if custom == nil {
		return network.Optimizers[c.Optimizer](c.Momentum, c.WeightDecay, arrays), nil
	}
	o := custom(network.Size(arrays))
	if o == nil {
		return nil, errors.New("train: Custom.Optimizer gives none")
	}
	return o, nil
}
