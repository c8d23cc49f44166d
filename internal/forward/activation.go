package forward

import (
	"fmt"
	"math"
	"slices"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/elementwise"
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

var activations = [...]struct {
	name string
	of   func(z float64) float64
	of32 func(z []float32) // in place; nil: by of
}{
	Identity: {name: "none"},
	Sigmoid:  {"sigmoid", func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }, elementwise.Sigmoid},
	Tanh:     {"tanh", math.Tanh, elementwise.Tanh},
	ReLU:     {"relu", func(z float64) float64 { return max(z, 0) }, func(z []float32) { vek32.MaximumNumber_Inplace(z, 0) }}, // NaN stays
	GELU:     {"gelu", func(z float64) float64 { return z * normalCDF(z) }, nil},
}

// normalCDF is Φ(z), without the cancellation of 1 + erf for negative z.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// Activate applies a to z in place.
func Activate[T float](a Activation, z []T) {
	if a == Identity {
		return
	}
	if z, ok := any(z).([]float32); ok && activations[a].of32 != nil {
		activations[a].of32(z)
		return
	}
	for i, v := range z {
		z[i] = T(activations[a].of(float64(v)))
	}
}

// ActivateInto sets y = a(z).
func ActivateInto[T float](a Activation, z, y []T) {
	Elementwise(len(z), func(from, to int) {
		copy(y[from:to], z[from:to])
		Activate(a, y[from:to])
	})
}

// ActivationNames lists the names that [ParseActivation] knows.
func ActivationNames() (all []string) {
	for _, a := range activations {
		all = append(all, a.name)
	}
	return all
}

// ParseActivation is the activation of that name: none (or linear), sigmoid, tanh,
// relu or gelu.
func ParseActivation(name string) (Activation, error) {
	if name == "linear" {
		return Identity, nil
	}
	a := slices.Index(ActivationNames(), name)
	if a < 0 {
		return 0, fmt.Errorf("unknown activation %q: %s", name, names.Want(name, ActivationNames()))
	}
	return Activation(a), nil
}

// Valid reports whether a is one of them.
func (a Activation) Valid() bool { return a >= 0 && int(a) < len(activations) }

// String is the name that ParseActivation reads.
func (a Activation) String() string {
	if !a.Valid() {
		return fmt.Sprintf("Activation(%d)", int(a))
	}
	return activations[a].name
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
