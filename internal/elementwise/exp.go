package elementwise

import "math"

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

// Sigmoid replaces every x by 1/(1 + e^−x).
func Sigmoid(x []float32) {
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

// Tanh replaces every x by its hyperbolic tangent.
func Tanh(x []float32) {
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
