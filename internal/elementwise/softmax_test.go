package elementwise

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Exponentials are right to the precision of their type, at any length.
func TestExponentialsAreAccurate(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testExponentials[float32](t, 2e-7) })
	t.Run("float64", func(t *testing.T) { testExponentials[float64](t, 1e-15) })
}

func testExponentials[T float32 | float64](t *testing.T, tolerance float64) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]float64{1, 30, 1000}).Draw(t, "size")
		var x []T
		for _, v := range rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 40).Draw(t, "x") {
			x = append(x, T(size*v))
		}
		highest := math.Inf(-1)
		for _, v := range x {
			highest = max(highest, float64(v))
		}
		got := append([]T{}, x...)
		scale := T(rapid.SampledFrom([]float64{1, .25}).Draw(t, "scale"))
		sum, want := float64(Exponentials(got, scale)), 0.0
		for i, v := range x {
			e := 0.0
			if v := float64(scale * (v - T(highest))); v >= least {
				e = math.Exp(v)
			}
			want += e
			if math.Abs(float64(got[i])-e) > tolerance*e {
				t.Fatalf("e^(%v − %v) = %v, want %v", v, highest, got[i], e)
			}
		}
		if math.Abs(sum-want) > tolerance*want*float64(len(x)) {
			t.Fatalf("sum %v, want %v", sum, want)
		}
	})
}

// What is not finite does not get lost.
func TestExponentialsKeepNonFiniteNumbers(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, n := range []int{1, 7, 8, 9, 16, 30} {
			for at := range n {
				x, y := make([]float32, n), make([]float64, n)
				x[at], y[at] = float32(bad), bad
				if sum := Exponentials(x, 1); sum == sum {
					t.Errorf("float32: sum %v with %v at %d of %d", sum, bad, at, n)
				}
				if sum := Exponentials(y, 1); sum == sum {
					t.Errorf("float64: sum %v with %v at %d of %d", sum, bad, at, n)
				}
			}
		}
	}
	x := []float32{float32(math.Inf(-1)), 0}
	if sum := Exponentials(x, 1); sum != 1 || x[0] != 0 {
		t.Errorf("%v, sum %v", x, sum)
	}
}

func BenchmarkExponentials(b *testing.B) {
	x := make([]float32, 128)
	for b.Loop() {
		for i := range x {
			x[i] = float32(-i)
		}
		Exponentials(x, 1)
	}
}
