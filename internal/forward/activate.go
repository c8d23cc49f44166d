package forward

import (
	"math"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/elementwise"
	"github.com/plrank/plrank/internal/normal"
)

// Activate applies a to z in place.
func Activate[T float](a Activation, z []T) {
	switch a {
	case Sigmoid:
		switch z := any(z).(type) {
		case []float32:
			elementwise.Sigmoid(z)
		case []float64:
			for i, v := range z {
				z[i] = 1 / (1 + math.Exp(-v))
			}
		}
	case Tanh:
		switch z := any(z).(type) {
		case []float32:
			elementwise.Tanh(z)
		case []float64:
			for i, v := range z {
				z[i] = math.Tanh(v)
			}
		}
	case ReLU:
		switch z := any(z).(type) {
		case []float32:
			vek32.MaximumNumber_Inplace(z, 0) // NaN stays
		case []float64:
			for i, v := range z {
				z[i] = max(v, 0)
			}
		}
	case GELU:
		for i, v := range z {
			v := float64(v)
			z[i] = T(v * normalCDF(v))
		}
	}
}

// ActivateInto sets y = a(z).
func ActivateInto[T float](a Activation, z, y []T) {
	Elementwise(len(z), func(from, to int) {
		copy(y[from:to], z[from:to])
		Activate(a, y[from:to])
	})
}

// ActivationVJP sets dz = dy·a'(z) where nothing was dropped, else 0. It reads a(z) after the
// dropout, from which the derivatives of all activations follow but that of GELU, which needs z.
func ActivationVJP[T float](a Activation, yOrZ, dy, dz []T, d Dropout) {
	Elementwise(len(dz), func(from, to int) {
		part := dz[from:to]
		vjp(a, yOrZ[from:to], dy[from:to], part, d)
		if a != ReLU { // where y > 0, nothing was dropped
			drop(d, part, from)
		}
	})
}

// reluVJP is ActivationVJP of ReLU, after a dropout that multiplied by factor.
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

// vjp is ActivationVJP without setting to 0 where the dropout did.
func vjp[T float](a Activation, yOrZ, dy, dz []T, d Dropout) {
	share := T(1 - d.Rate) // y·share is the output before the dropout
	switch a {
	case Identity:
		copy(dz, dy)
	case Sigmoid:
		if y, ok := any(yOrZ).([]float32); ok {
			elementwise.SigmoidVJP(y, any(dy).([]float32), any(dz).([]float32), float32(share))
			return
		}
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
			density := normal.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
			if density != 0 { // else z may be ±Inf, and Inf·0 NaN
				density *= z
			}
			dz[i] = T(float64(dy[i]) * (normalCDF(z) + density))
		}
	}
}

// normalCDF is Φ(z), without the cancellation of 1 + erf for negative z.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
