package forward

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Dropping in pieces, which begin at even and odd entries, is dropping at once, the same in
// both dtypes; and the fused VJP equals an activation's with a dropout after it.
func TestDropoutInPiecesIsTheSame(t *testing.T) {
	const n = 1001
	rng := rand.New(rand.NewPCG(1, 2))
	d := Dropout{Rate: .3, Key: 7}
	whole, wide := make([]float32, n), make([]float64, n)
	for i := range whole {
		whole[i] = float32(rng.NormFloat64())
		wide[i] = float64(whole[i])
	}
	pieces := slices.Clone(whole)
	drop(d, whole, 0)
	drop(d, wide, 0)
	for from := 0; from < n; {
		to := min(n, from+rng.IntN(6))
		drop(d, pieces[from:to], from)
		from = to
	}
	dropped := 0
	for i, v := range whole {
		if v != pieces[i] || (v == 0) != (wide[i] == 0) || math.Abs(float64(v)-wide[i]) > 1e-6 {
			t.Fatalf("entry %d: %v at once, %v in pieces, %v in float64", i, v, pieces[i], wide[i])
		}
		if v == 0 {
			dropped++
		}
	}
	// Five standard deviations of a binomial, and the key is fixed.
	if math.Abs(float64(dropped)-n*d.Rate) > 5*math.Sqrt(n*d.Rate*(1-d.Rate)) {
		t.Errorf("%d of %d dropped", dropped, n)
	}
}

// What is not finite is not hidden.
func TestDropoutKeepsNonFiniteNumbers(t *testing.T) {
	x, wide := slices.Repeat([]float32{float32(math.NaN()), float32(math.Inf(1))}, 50), slices.Repeat([]float64{math.NaN(), math.Inf(-1)}, 50)
	drop(Dropout{Rate: .5, Key: 1}, x, 0)
	drop(Dropout{Rate: .5, Key: 1}, wide, 0)
	for i := range x {
		if x[i]-x[i] == 0 || wide[i]-wide[i] == 0 {
			t.Errorf("entry %d is %v in float32, %v in float64", i, x[i], wide[i])
		}
	}
}

func TestFusedVJPEqualsActivationAndDropout(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testVJPOfDropout[float32](t, 1e-5) })
	t.Run("float64", func(t *testing.T) { testVJPOfDropout[float64](t, 1e-13) })
}

func testVJPOfDropout[T float](t *testing.T, tolerance float64) {
	const n = 301
	rng := rand.New(rand.NewPCG(3, 4))
	d := Dropout{Rate: .5, Key: 11}
	z, dy := make([]T, n), make([]T, n)
	for i := range z {
		z[i], dy[i] = T(rng.NormFloat64()), T(rng.NormFloat64())
	}
	z[0], z[1] = 0, 0 // an output of 0 that was not dropped, maybe
	for _, a := range []Activation{Identity, Sigmoid, Tanh, ReLU} {
		y, left, want, got := slices.Clone(z), make([]T, n), make([]T, n), make([]T, n)
		Activate(a, y)
		DropInto(d, y, left)
		DropInto(d, dy, want) // the gradient of y
		ActivationVJP(a, y, want, want, Dropout{})
		ActivationVJP(a, left, dy, got, d)
		for i := range want {
			if math.Abs(float64(got[i]-want[i])) > tolerance {
				t.Errorf("%v: entry %d is %v, want %v", a, i, got[i], want[i])
			}
		}
	}
}

func BenchmarkDropout(b *testing.B) {
	x := slices.Repeat([]float32{1}, 4096)
	for b.Loop() {
		drop(Dropout{Rate: .1, Key: 3}, x, 0)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(x)), "ns/value")
}

func BenchmarkReLUVJP(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	y, dz := make([]float32, 4096), make([]float32, 4096)
	for i := range y {
		y[i] = max(0, float32(rng.NormFloat64()))
	}
	for b.Loop() {
		reluVJP(y, y, dz, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(y)), "ns/value")
}
