package forward

import (
	"math"
	"unsafe"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/normal"
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

// ActivationSlope sets dz = dy·a'(z), less what was dropped. It reads what a's derivative is
// cheapest in: the activation's output, less what was dropped, for all but GELU, which needs
// z itself.
func ActivationSlope[T float](a Activation, yOrZ, dy, dz []T, d Dropout) {
	Elementwise(len(dz), func(from, to int) {
		part := dz[from:to]
		slope(a, yOrZ[from:to], dy[from:to], part, T(1-d.Rate))
		if a == ReLU { // where y > 0, nothing was dropped
			if d.Rate > 0 {
				scale(part, T(1/(1-d.Rate)))
			}
			return
		}
		drop(d, part, from)
	})
}

// slope is ActivationSlope for outputs that kept/(1−rate) is left of, 1−rate being share.
func slope[T float](a Activation, yOrZ, dy, dz []T, share T) {
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
		reluSlope(yOrZ, dy, dz)
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

// reluSlope sets dz to dy where y > 0, to NaN where y is NaN, else to 0.
func reluSlope[T float](y, dy, dz []T) {
	switch y := any(y).(type) {
	case []float32:
		// Without branches, which a processor would guess wrong.
		const infinity = 0x7f800000
		bits := func(x []T) []uint32 {
			return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
		}
		dy, dz := bits(dy), bits(dz)
		dy, dz = dy[:len(y)], dz[:len(y)]
		for i, v := range unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(y))), len(y)) {
			positive := ones(uint64(v-1), infinity)
			isNaN := ones(infinity, uint64(v&math.MaxInt32))
			dz[i] = dy[i]&positive | v&isNaN
		}
	case []float64:
		dy, dz := any(dy).([]float64), any(dz).([]float64)
		for i, v := range y {
			switch {
			case v > 0:
				dz[i] = dy[i]
			case v != v:
				dz[i] = v
			default:
				dz[i] = 0
			}
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
