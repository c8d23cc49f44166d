package forward

import (
	"math"

	"github.com/viterin/vek/vek32"
)

// Activate applies a to z in place.
func Activate[T float](a Activation, z []T) {
	switch a {
	case Sigmoid:
		switch z := any(z).(type) {
		case []float32:
			sigmoid32(z)
		case []float64:
			for i, v := range z {
				z[i] = 1 / (1 + math.Exp(-v))
			}
		}
	case Tanh:
		switch z := any(z).(type) {
		case []float32:
			tanh32(z)
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

// ActivationSlope sets dz = dy·a'(z). It reads what a's derivative is cheapest in: the
// activation's output for all but GELU, which needs z itself.
func ActivationSlope[T float](a Activation, yOrZ, dy, dz []T) {
	Elementwise(len(dz), func(from, to int) {
		slope(a, yOrZ[from:to], dy[from:to], dz[from:to])
	})
}

func slope[T float](a Activation, yOrZ, dy, dz []T) {
	switch a {
	case Identity:
		copy(dz, dy)
	case Sigmoid:
		for i, y := range yOrZ {
			dz[i] = dy[i] * y * (1 - y)
		}
	case Tanh:
		for i, y := range yOrZ {
			dz[i] = dy[i] * (1 - y*y)
		}
	case ReLU:
		for i, y := range yOrZ {
			switch {
			case y > 0:
				dz[i] = dy[i]
			case y != y: // NaN, as z was: let it through
				dz[i] = y
			default:
				dz[i] = 0
			}
		}
	case GELU:
		for i, z := range yOrZ {
			z := float64(z)
			density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
			if density != 0 { // else z may be ±Inf, and Inf·0 NaN
				density *= z
			}
			dz[i] = T(float64(dy[i]) * (normalCDF(z) + density))
		}
	}
}

// normalCDF is Φ(z), without the cancellation of 1 + erf for negative z.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// The float32 functions work in float64 and round once. e^x = 2^(k/32)·(1+p)
// with k the nearest integer to 32·x/ln 2 and p a short series in the rest, as
// in ARM's optimized-routines (expf.c): relative error below 2^-33.
const (
	expSteps   = 32
	stepsPerX  = expSteps / math.Ln2
	roundShift = 0x1.8p52 // adding it leaves the nearest integer in the low bits
	lnStep     = math.Ln2 / expSteps
	expC1      = lnStep
	expC2      = lnStep * lnStep / 2
	expC3      = lnStep * lnStep * lnStep / 6
	expC4      = lnStep * lnStep * lnStep * lnStep / 24
)

// expTable[i] holds the bits of 2^(i/32) less those that adding k<<47 puts back.
var expTable = func() (t [expSteps]uint64) {
	for i := range t {
		t[i] = math.Float64bits(math.Exp2(float64(i)/expSteps)) - uint64(i)<<47
	}
	return t
}()

// expParts splits e^x = s·(1+p) for |x| < 700. e^x − 1 = (s−1) + s·p keeps its
// precision near zero, where s is exactly 1.
func expParts(x float64) (s, p float64) {
	z := x * stepsPerX
	shifted := z + roundShift
	k := math.Float64bits(shifted)
	r := z - (shifted - roundShift)
	s = math.Float64frombits(expTable[k%expSteps] + k<<47)
	p = r * (expC1 + r*(expC2+r*(expC3+r*expC4)))
	return s, p
}

func sigmoid32(x []float32) {
	for i, x0 := range x {
		v := -float64(x0)
		switch {
		case v > 200: // far below the smallest float32
			x[i] = 0
		case v < -200:
			x[i] = 1
		default:
			s, p := expParts(v)
			x[i] = float32(1 / (1 + s + s*p))
		}
	}
}

func tanh32(x []float32) {
	for i, x0 := range x {
		v := 2 * float64(x0)
		switch {
		case v > 40:
			x[i] = 1
		case v < -40:
			x[i] = -1
		case v != 0: // leaves −0 alone
			s, p := expParts(v)
			em1 := (s - 1) + s*p
			x[i] = float32(em1 / (em1 + 2))
		}
	}
}
