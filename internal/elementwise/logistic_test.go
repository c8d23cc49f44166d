package elementwise

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/cputime"
)

// Both functions are those of package math, relative to themselves; NaN stays NaN.
func TestLogisticIsByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := []float64{0, 1e-300, 1e-17, 1e-8, math.Ln2 / 32, math.Log(32), math.Log(31), 36, 699.99, 700}
	for range 100_000 {
		x = append(x, 40*rng.Float64(), rng.ExpFloat64()*100)
	}
	low, soft := make([]float64, len(x)), make([]float64, len(x))
	Logistic(x, low, soft)
	for i, v := range x {
		if v > 700 {
			v = 700
		}
		e := math.Exp(-v)
		if want := e / (1 + e); math.Abs(low[i]-want) > 4e-15*want {
			t.Fatalf("1/(1 + e^%v) is %v, want %v", v, low[i], want)
		}
		if want := math.Log1p(e); math.Abs(soft[i]-want) > 4e-15*want {
			t.Fatalf("log(1 + e^-%v) is %v, want %v", v, soft[i], want)
		}
	}
	x = []float64{math.Inf(1), 1, math.NaN(), 2, math.NaN(), 3, 4, 5, math.NaN()}
	Logistic(x, low[:len(x)], soft[:len(x)])
	for i, v := range x {
		if (v != v) != (low[i] != low[i]) || (v != v) != (soft[i] != soft[i]) || low[i] > .5 || soft[i] > math.Ln2 {
			t.Errorf("at %v: %v, %v", v, low[i], soft[i])
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
		}
		var got, want [2][]float64
		for i := range got {
			got[i], want[i] = make([]float64, n), make([]float64, n)
		}
		wide = has
		Logistic(x, got[0], got[1])
		wide = false
		Logistic(x, want[0], want[1])
		for i, v := range x {
			for f := range got {
				if a, b := got[f][i], want[f][i]; math.Float64bits(a) != math.Float64bits(b) && (a == a || b == b) {
					t.Fatalf("function %d at %v is %v, want %v", f, v, a, b)
				}
			}
		}
	}
}

func BenchmarkLogistic(b *testing.B) {
	x, low, soft := make([]float64, 1000), make([]float64, 1000), make([]float64, 1000)
	for i := range x {
		x[i] = float64(i) / 100
	}
	for b.Loop() {
		took := cputime.Shortest(50*time.Millisecond, func() { Logistic(x, low, soft) })
		b.ReportMetric(float64(took)/1000, "ns/number")
	}
}
