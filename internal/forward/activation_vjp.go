package forward

import (
	"math"

	"github.com/plrank/plrank/internal/elementwise"
	"github.com/plrank/plrank/internal/normal"
)

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
			density := normal.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
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
