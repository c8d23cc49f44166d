package forward

import (
	"fmt"
	"math"
	"slices"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/elementwise"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/internal/num"
)

// An Activation is the function at the end of a dense layer, elementwise except SwiGLU.
type Activation int

const (
	Identity Activation = iota
	Sigmoid
	Tanh
	ReLU
	GELU
	SwiGLU
)

var activations = [...]struct {
	name  string
	exact func(z float64) float64
	fast  func(z []float32) // in place; nil: by exact
}{
	Identity: {name: "none"},
	Sigmoid:  {"sigmoid", func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }, elementwise.Sigmoid},
	Tanh:     {"tanh", math.Tanh, elementwise.Tanh},
	ReLU:     {"relu", func(z float64) float64 { return max(z, 0) }, relu32},
	GELU:     {"gelu", func(z float64) float64 { return z * normalCDF(z) }, nil},
	SwiGLU:   {name: "swiglu"},
}

func relu32(z []float32) { vek32.MaximumNumber_Inplace(z, 0) } // NaN stays

// normalCDF is Φ(z), without the cancellation of 1 + erf for negative z.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// Products returns how many columns of z an activation makes one output of: 2 for SwiGLU, else 1.
func (a Activation) Products() int {
	if a == SwiGLU {
		return 2
	}
	return 1
}

// Activate applies a to z in place; SwiGLU is Gate.
func Activate[T float](a Activation, z []T) {
	if a == Identity {
		return
	}
	if z, ok := any(z).([]float32); ok && activations[a].fast != nil {
		activations[a].fast(z)
		return
	}
	for i, v := range z {
		z[i] = T(activations[a].exact(float64(v)))
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

// ParseActivation returns the activation of that name: none (or linear), sigmoid, tanh,
// relu, gelu or swiglu.
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

// String returns the name that ParseActivation reads.
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

// ActivationVJP sets dz = dy·a'(z) where nothing was dropped, else 0. It reads a(z) after the
// dropout, which determines the derivatives of all activations except GELU, which needs z.
func ActivationVJP[T float](a Activation, yOrZ, dy, dz []T, d Dropout) {
	Elementwise(len(dz), func(from, to int) {
		part := dz[from:to]
		vjp(a, yOrZ[from:to], dy[from:to], part, d)
		if a != ReLU { // where y > 0, nothing was dropped
			drop(d, part, from)
		}
	})
}

// vjp is ActivationVJP without setting to 0 where the dropout did.
func vjp[T float](a Activation, yOrZ, dy, dz []T, d Dropout) {
	share := T(1 - d.Rate) // y·share is the output before the dropout
	dy, dz = dy[:len(yOrZ)], dz[:len(yOrZ)]
	switch a {
	case Identity:
		copy(dz, dy)
	case Sigmoid:
		for i, y := range yOrZ {
			y *= share
			dz[i] = dy[i] * y * (1 - y)
		}
	case Tanh:
		for i, y := range yOrZ {
			y *= share
			dz[i] = dy[i] * (1 - y*y)
		}
	case ReLU:
		reluVJP(yOrZ, dy, dz, T(1/(1-d.Rate)))
	case GELU:
		for i, z := range yOrZ {
			z := float64(z)
			density := num.FlushExp(-z*z/2) / math.Sqrt(2*math.Pi)
			if density != 0 { // else z may be ±Inf, and Inf·0 NaN
				density *= z
			}
			dz[i] = T(float64(dy[i]) * (normalCDF(z) + density))
		}
	}
}

// reluVJP is vjp of ReLU, after a dropout that multiplied by factor.
func reluVJP[T float](y, dy, dz []T, factor T) {
	if y, ok := any(y).([]float32); ok {
		elementwise.ReLUVJP(y, any(dy).([]float32), any(dz).([]float32), float32(factor))
		return
	}
	for i, v := range y {
		switch {
		case v > 0:
			dz[i] = dy[i] * factor
		case v != v:
			dz[i] = v
		default:
			dz[i] = 0
		}
	}
}
