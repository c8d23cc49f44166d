package ops

import (
	"fmt"

	"github.com/plrank/plrank/internal/forward"
)

// An Activation is the elementwise function at the end of a dense layer.
type Activation int

// The activations, with their derivatives by the pre-activation z:
const (
	Identity Activation = iota // z; 1
	Sigmoid                    // 1/(1+e^−z); y(1−y)
	Tanh                       // tanh z; 1−y²
	ReLU                       // max(z, 0); 1 where z > 0, else 0
	GELU                       // z·Φ(z), Φ the standard normal distribution; Φ(z) + z·φ(z)
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
	return Activation(a), nil
}

// String is the name that ParseActivation reads.
func (a Activation) String() string { return forward.Activation(a).String() }

// MarshalText writes the name, so that an activation in JSON is a word.
func (a Activation) MarshalText() ([]byte, error) {
	if !forward.Activation(a).Valid() {
		return nil, fmt.Errorf("ops: no such activation: %d", int(a))
	}
	return []byte(a.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (a *Activation) UnmarshalText(text []byte) error {
	v, err := ParseActivation(string(text))
	if err != nil {
		return err
	}
	*a = v
	return nil
}
