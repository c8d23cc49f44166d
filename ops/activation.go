package ops

import (
	"fmt"

	"github.com/plrank/plrank/internal/forward"
)

// An Activation is the elementwise function at the end of a dense layer. It is written in
// text, such as JSON, by the name that [ParseActivation] reads, which is its String too.
type Activation = forward.Activation

// The activations, with their derivatives by the pre-activation z:
const (
	Identity = forward.Identity // z; 1
	Sigmoid  = forward.Sigmoid  // 1/(1+e^−z); y(1−y)
	Tanh     = forward.Tanh     // tanh z; 1−y²
	ReLU     = forward.ReLU     // max(z, 0); 1 where z > 0, else 0
	GELU     = forward.GELU     // z·Φ(z), Φ the standard normal distribution; Φ(z) + z·φ(z)
)

// ActivationNames lists the names that [ParseActivation] knows.
func ActivationNames() []string { return forward.ActivationNames() }

// ParseActivation is the activation of that name: none (or linear), sigmoid,
// tanh, relu or gelu.
func ParseActivation(name string) (Activation, error) {
	a, err := forward.ParseActivation(name)
	if err != nil {
		return 0, fmt.Errorf("ops: %w", err)
	}
	return a, nil
}
