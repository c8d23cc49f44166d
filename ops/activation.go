package ops

import (
	"fmt"

	"github.com/plrank/plrank/internal/forward"
)

// An Activation is the function at the end of a dense layer, elementwise except [SwiGLU]. Its zero value is [Identity].
type Activation int

// The activations, with their derivatives by the pre-activation z:
const (
	Identity Activation = iota // z; 1
	Sigmoid                    // 1/(1+e^−z); y(1−y)
	Tanh                       // tanh z; 1−y²
	ReLU                       // max(z, 0); 1 where z > 0, else 0
	GELU                       // z·Φ(z), Φ the standard normal distribution; Φ(z) + z·φ(z)

	// SwiGLU makes one output of two columns (Shazeer 2020, "GLU Variants Improve Transformer", equation 5): the first
	// half of the columns of z are z1, the second z2, and the outputs are z1·σ(z1)·z2. With s = σ(z1), the derivatives are
	// z2·s·(1 + z1·(1−s)) and z1·s. A layer with such units has weights [in, 2·out] and biases [2·out]. Its product expresses
	// two conditions that must both hold, for which other activations need many units.
	SwiGLU
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
	return Activation(a), nil
}

// String returns the name that [ParseActivation] reads.
func (a Activation) String() string { return forward.Activation(a).String() }

// MarshalText writes the name, so that an activation in JSON is a word. It returns an error if a is not one of the constants.
func (a Activation) MarshalText() ([]byte, error) { return forward.Activation(a).MarshalText() }

// UnmarshalText reads a name, as [ParseActivation] does.
func (a *Activation) UnmarshalText(text []byte) error {
	return (*forward.Activation)(a).UnmarshalText(text)
}
