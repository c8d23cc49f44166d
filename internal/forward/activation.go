package forward

import (
	"fmt"

	"github.com/plrank/plrank/internal/names"
)

// An Activation is the elementwise function at the end of a dense layer.
type Activation int

const (
	Identity Activation = iota
	Sigmoid
	Tanh
	ReLU
	GELU
)

var activationNames = [...]string{Identity: "none", Sigmoid: "sigmoid", Tanh: "tanh", ReLU: "relu", GELU: "gelu"}

// ActivationNames lists the names that [ParseActivation] knows.
func ActivationNames() []string { return append([]string(nil), activationNames[:]...) }

// ParseActivation is the activation of that name: none (or linear), sigmoid, tanh,
// relu or gelu.
func ParseActivation(name string) (Activation, error) {
	if name == "linear" {
		return Identity, nil
	}
	for a, n := range activationNames {
		if n == name {
			return Activation(a), nil
		}
	}
	return 0, fmt.Errorf("unknown activation %q: %s", name, names.Want(name, activationNames[:]))
}

// Valid reports whether a is one of them.
func (a Activation) Valid() bool { return a >= 0 && int(a) < len(activationNames) }

// String is the name that ParseActivation reads.
func (a Activation) String() string {
	if !a.Valid() {
		return fmt.Sprintf("Activation(%d)", int(a))
	}
	return activationNames[a]
}

// MarshalText writes the name, so that an activation in JSON is a word.
func (a Activation) MarshalText() ([]byte, error) {
	if !a.Valid() {
		return nil, fmt.Errorf("no such activation: %d", int(a))
	}
	return []byte(a.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (a *Activation) UnmarshalText(text []byte) (err error) {
	*a, err = ParseActivation(string(text))
	return err
}
