package ops

import (
	"fmt"

	"github.com/plrank/plrank/internal/forward"
)

// An Activation is the function at the end of a dense layer, elementwise except SwiGLU. It is written in
// text, such as JSON, by the name that [ParseActivation] reads, which is its String too.
type Activation = forward.Activation

// The activations, with their derivatives by the pre-activation z:
const (
	Identity = forward.Identity // z; 1
	Sigmoid  = forward.Sigmoid  // 1/(1+e^−z); y(1−y)
	Tanh     = forward.Tanh     // tanh z; 1−y²
	ReLU     = forward.ReLU     // max(z, 0); 1 where z > 0, else 0
	GELU     = forward.GELU     // z·Φ(z), Φ the standard normal distribution; Φ(z) + z·φ(z)

	// SwiGLU makes one output of two columns (Shazeer 2020, "GLU Variants Improve Transformer", equation 5): the first
	// half of the columns of z are z1, the second z2, and the outputs are z1·σ(z1)·z2. With s = σ(z1), the derivatives are
	// z2·s·(1 + z1·(1−s)) and z1·s. A layer with such units has weights [in, 2·out] and biases [2·out]. It says by a
	// product what takes many units of other activations: two conditions that have to hold both.
	SwiGLU = forward.SwiGLU
)

// ActivationNames lists the names that [ParseActivation] knows.
func ActivationNames() []string { return forward.ActivationNames() }

// ParseActivation returns the activation of that name: none (or linear), sigmoid,
// tanh, relu, gelu or swiglu.
func ParseActivation(name string) (Activation, error) {
	a, err := forward.ParseActivation(name)
	if err != nil {
		return 0, fmt.Errorf("ops: %w", err)
	}
	return a, nil
}
