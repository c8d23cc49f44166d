package forward

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/plrank/plrank/internal/elementwise"
)

// ulps is the distance of got from want in units of want's last float32 place.
func ulps(got float32, want float64) float64 {
	w := float32(want)
	unit := float64(math.Nextafter32(float32(math.Abs(float64(w))), math.MaxFloat32)) - math.Abs(float64(w))
	return math.Abs(float64(got)-want) / unit
}

func one(f func([]float32), x float32) float32 {
	v := slices.Repeat([]float32{x}, 9) // as many as registers hold, and one by itself
	f(v)
	if y := math.Float32bits(v[8]); y != math.Float32bits(v[0]) && x == x {
		panic(fmt.Sprintf("of %v: %v and %v", x, v[0], v[8]))
	}
	return v[0]
}

func TestFloat32FunctionsAreAccurate(t *testing.T) {
	for _, f := range []struct {
		name string
		got  func([]float32)
		want func(float64) float64
	}{
		{"sigmoid", elementwise.Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
		{"tanh", elementwise.Tanh, math.Tanh},
	} {
		worst := 0.
		check := func(x float32) {
			if u := ulps(one(f.got, x), f.want(float64(x))); u > worst {
				worst = u
				if u > 0.6 {
					t.Errorf("%s(%v) = %v, want %v: %.2f ulp", f.name, x, one(f.got, x), f.want(float64(x)), u)
				}
			}
		}
		// All magnitudes, both signs; 4099 is prime, so mantissas vary.
		for bits := uint32(0); bits < math.Float32bits(300); bits += 4099 {
			check(math.Float32frombits(bits))
			check(-math.Float32frombits(bits))
		}
		t.Logf("%s: worst error %.3f ulp", f.name, worst)
	}
}

func TestFloat32FunctionsAreExactAtTheEdges(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct{ got, want float32 }{
		{one(elementwise.Sigmoid, inf), 1}, {one(elementwise.Sigmoid, -inf), 0}, {one(elementwise.Sigmoid, 0), 0.5}, {one(elementwise.Sigmoid, math.MaxFloat32), 1}, {one(elementwise.Sigmoid, -math.MaxFloat32), 0},
		{one(elementwise.Tanh, inf), 1}, {one(elementwise.Tanh, -inf), -1}, {one(elementwise.Tanh, 0), 0}, {one(elementwise.Tanh, math.MaxFloat32), 1},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if v := one(elementwise.Sigmoid, nan); v == v {
		t.Errorf("sigmoid(NaN) = %v", v)
	}
	if v := one(elementwise.Tanh, nan); v == v {
		t.Errorf("tanh(NaN) = %v", v)
	}
	if !math.Signbit(float64(one(elementwise.Tanh, float32(math.Copysign(0, -1))))) {
		t.Error("tanh(−0) is not −0")
	}
}

// NaN and ±Inf pass through every activation and its derivative without
// turning into ordinary numbers or panics.
func TestActivationsKeepNonFiniteNumbers(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for a := Identity; a < SwiGLU; a++ {
		z := []float64{nan, inf}
		Activate(a, z)
		if z[0] == z[0] {
			t.Errorf("%v(NaN) = %v", a, z[0])
		}
		if want := map[Activation]float64{Identity: inf, Sigmoid: 1, Tanh: 1, ReLU: inf, GELU: inf}[a]; z[1] != want {
			t.Errorf("%v(Inf) = %v, want %v", a, z[1], want)
		}
		dz := make([]float64, 1)
		vjp(a, []float64{nan}, []float64{1}, dz, Dropout{})
		if a != Identity && dz[0] == dz[0] {
			t.Errorf("derivative of %v at NaN = %v", a, dz[0])
		}
	}
	dz := make([]float64, 2)
	vjp(GELU, []float64{inf, -inf}, []float64{1, 1}, dz, Dropout{})
	if dz[0] != 1 || dz[1] != 0 {
		t.Errorf("derivative of gelu at ±Inf = %v, want [1 0]", dz)
	}
}

// Either half of a gate that is NaN makes its output and derivatives NaN.
func TestGateKeepsNonFiniteNumbers(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, z := range [][]float64{{nan, 1}, {1, nan}, {nan, nan}} {
		y, dz := make([]float64, 1), make([]float64, 2)
		Gate(1, z, y)
		GateVJP(1, z, []float64{1}, dz)
		if y[0] == y[0] || dz[0] == dz[0] {
			t.Errorf("swiglu of %v is %v, and its derivatives %v", z, y, dz)
		}
	}
	for _, z := range [][]float64{{inf, 1}, {1, inf}} {
		y := make([]float64, 1)
		if Gate(1, z, y); y[0] != inf {
			t.Errorf("swiglu of %v is %v", z, y)
		}
	}
}

func TestGELUIsItsDefinition(t *testing.T) {
	// x·Φ(x) by the definition; Φ(1) and Φ(2) as in tables of the normal
	// distribution, and a far tail where 1 + erf would cancel to zero:
	// Φ(−10) = 7.619853024160527e−24.
	for x, want := range map[float64]float64{0: 0, 1: 0.8413447460685429, 2: 2 * 0.9772498680518208, -10: -10 * 7.619853024160527e-24} {
		z := []float64{x}
		Activate(GELU, z)
		if math.Abs(z[0]-want) > 1e-13*math.Abs(want) {
			t.Errorf("gelu(%v) = %v, want %v", x, z[0], want)
		}
	}
}

func BenchmarkSigmoid32(b *testing.B) {
	z := make([]float32, 4096)
	for b.Loop() {
		for i := range z {
			z[i] = float32(i-2048) / 256
		}
		elementwise.Sigmoid(z)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(z)), "ns/value")
}
