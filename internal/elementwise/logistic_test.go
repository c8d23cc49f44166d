package elementwise

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/cputime"
)

// All functions are those of package math, relative to themselves; NaN stays NaN.
func TestLogisticIsByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := []float64{0, 1e-300, 1e-17, 1e-8, math.Ln2 / 32, math.Log(32), math.Log(31), 36, 699.99, 700, math.Inf(1)}
	for range 100_000 {
		x = append(x, 40*rng.Float64(), rng.ExpFloat64()*100)
	}
	for _, v := range x {
		x = append(x, -v)
	}
	value, slope, curvature := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	Logistic(x, value, slope, curvature)
	for i, v := range x {
		e := math.Exp(-min(math.Abs(v), 700))
		want := [3]float64{max(v, 0) + math.Log1p(e), 1 / (1 + e), e / (1 + e) / (1 + e)}
		if v <= 0 {
			want[1] = e / (1 + e)
		}
		for f, got := range []float64{value[i], slope[i], curvature[i]} {
			if want := want[f]; got != want && math.Abs(got-want) > 5e-15*want {
				t.Fatalf("derivative %d at %v is %v, want %v", f, v, got, want)
			}
		}
	}
	x = []float64{math.Inf(1), 1, math.NaN(), 2, math.NaN(), -3, 4, 5, math.NaN()}
	Logistic(x, value, slope, curvature)
	for i, v := range x {
		for f, got := range []float64{value[i], slope[i], curvature[i]} {
			if (v != v) != (got != got) {
				t.Errorf("derivative %d at %v is %v", f, v, got)
			}
		}
	}
}

// For any numbers and lengths. On a machine without the instructions it compares nothing.
func TestVectorInstructionsOfLogisticGiveTheBitsOfPlainGo(t *testing.T) {
	has := wide
	defer func() { wide = has }()
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		x := make([]float64, n)
		for i := range x {
			x[i] = []float64{rng.ExpFloat64(), 800 * rng.Float64(), math.Exp(-40 * rng.Float64()), 0, math.Inf(1), math.NaN()}[rng.IntN(40)%6]
			if rng.IntN(2) == 0 {
				x[i] = -x[i]
			}
		}
		var got, want [3][]float64
		for i := range got {
			got[i], want[i] = make([]float64, n), make([]float64, n)
		}
		wide = has
		Logistic(x, got[0], got[1], got[2])
		wide = false
		Logistic(x, want[0], want[1], want[2])
		for i, v := range x {
			for f := range got {
				if a, b := got[f][i], want[f][i]; math.Float64bits(a) != math.Float64bits(b) && (a == a || b == b) {
					t.Fatalf("derivative %d at %v is %v, want %v", f, v, a, b)
				}
			}
		}
	}
}

func BenchmarkLogistic(b *testing.B) {
	x, value, slope, curvature := make([]float64, 1000), make([]float64, 1000), make([]float64, 1000), make([]float64, 1000)
	for i := range x {
		x[i] = float64(i) / 100
	}
	for b.Loop() {
		took := cputime.Shortest(50*time.Millisecond, func() { Logistic(x, value, slope, curvature) })
		b.ReportMetric(float64(took)/1000, "ns/number")
	}
}
