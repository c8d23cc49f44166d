package piecewise

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// encoded is the layer by its formula, in float64: y += e·w, and dw = eᵀ·dz if dw is not nil.
func encoded[T Float](bins []int, out int, x []T, stride int, w, y, dz, dw []T) (sum, slope []float64) {
	sum, slope = make([]float64, len(y)), make([]float64, len(dw))
	for i, v := range y {
		sum[i] = float64(v)
	}
	for r := range len(y) / out {
		row := 0
		for f, n := range bins {
			p := math.RoundToEven(float64(x[r*stride+f])*Steps) / Steps
			for k := range n {
				e := min(max(p-float64(k), 0), 1)
				for u := range out {
					sum[r*out+u] += e * float64(w[row*out+u])
					slope[row*out+u] += e * float64(dz[r*out+u])
				}
				row++
			}
		}
	}
	return sum, slope
}

func TestLayerIsItsFormula(t *testing.T) {
	defer func(was kernels[float32]) { inUse32 = was }(inUse32)
	for _, inUse32 = range available {
		t.Run(inUse32.name, func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { testFormula[float32](t, 1e-4) }) })
	}
	rapid.Check(t, func(t *rapid.T) { testFormula[float64](t, 1e-12) })
}

func testFormula[T Float](t *rapid.T, tolerance float64) {
	bins := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 3), rapid.IntRange(1, MostBins)), 1, 20).Draw(t, "bins")
	rows, out := rapid.OneOf(rapid.IntRange(1, 30), rapid.IntRange(backwardRows-9, backwardRows+9)).Draw(t, "rows"), rapid.IntRange(1, 70).Draw(t, "out")
	stride := len(bins) + rapid.IntRange(0, 2).Draw(t, "more columns")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	uniform := func(n int) []T {
		v := make([]T, n)
		for i := range v {
			v[i] = T(2*r.Float64() - 1)
		}
		return v
	}
	x, w, y, dz := uniform(rows*stride), uniform(Rows(bins)*out), uniform(rows*out), uniform(rows*out)
	for i := range x {
		f := i % stride
		if f >= len(bins) {
			x[i] = T(math.NaN()) // is not read
			continue
		}
		n := T(bins[f])
		x[i] = []T{0, n, -3, n + 2, T(math.Inf(1)), T(math.Inf(-1)), n / 2, T(r.IntN(bins[f] + 1))}[r.IntN(8)]
		if r.IntN(2) == 0 {
			x[i] = n * T(r.Float64())
		}
	}
	sum, slope := encoded(bins, out, x, stride, w, y, dz, w)
	dw := uniform(len(w))
	WeightsVJP(bins, out, x, stride, dz, dw)
	NewTable(bins, out, w).Add(x, stride, y)
	near := func(what string, got []T, want []float64) {
		for i, v := range want {
			if !(math.Abs(float64(got[i])-v) <= tolerance*(1+math.Sqrt(float64(Rows(bins)+rows)))) {
				t.Fatalf("%s[%d] is %v, want %v", what, i, got[i], v)
			}
		}
	}
	near("y", y, sum)
	near("dw", dw, slope)
}

// TestKernelsSplitAlike tells that positions are the same rows and parts with and without vector
// instructions, those that are not finite included.
func TestKernelsSplitAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 37
	x, bins, first := make([]float32, n), make([]float32, n), make([]uint32, n)
	for range 1000 {
		for f := range x {
			bins[f], first[f] = float32(1+r.IntN(MostBins)), r.Uint32N(1000)
			x[f] = (r.Float32()*1.2 - .1) * bins[f]
			if r.IntN(4) == 0 {
				x[f] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), bins[f], math.MaxFloat32, 0}[r.IntN(6)]
			}
		}
		var all [2][]uint32
		var parts [2][]uint32
		for i, k := range []kernels[float32]{available[0], inUse32} {
			at, part := make([]uint32, n), make([]float32, n)
			k.split(x, bins, first, at, part)
			for f := range x {
				parts[i] = append(parts[i], math.Float32bits(part[f]+0)&math.MaxInt32)
				if at[f] < first[f] || at[f] >= first[f]+uint32(bins[f]) || part[f] < 0 || part[f] > 1 {
					t.Fatalf("position %v of %v bins: row %d from %d on, part %v", x[f], bins[f], at[f], first[f], part[f])
				}
				if part[f] != part[f] {
					at[f], parts[i][f] = 0, 0
					if x[f] == x[f] {
						t.Fatalf("the part of position %v is NaN", x[f])
					}
				}
			}
			all[i] = at
		}
		if !slices.Equal(all[0], all[1]) || !slices.Equal(parts[0], parts[1]) {
			t.Fatal("other rows or parts")
		}
	}
}

func TestNaNStaysInItsRow(t *testing.T) {
	const out = 5
	bins, x := []int{3, 1}, []float32{1.5, 1, float32(math.NaN()), 1}
	w, y := make([]float32, 4*out), make([]float32, 2*out)
	NewTable(bins, out, w).Add(x, 2, y)
	for i, v := range y {
		if (v != v) != (i >= out) {
			t.Errorf("y[%d] is %v", i, v)
		}
	}
}

func TestAnyNumberOfCoresGivesTheSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	r := rand.New(rand.NewPCG(1, 2))
	const rows, out = 1500, 130
	bins := make([]int, 40)
	for f := range bins {
		bins[f] = 1 + r.IntN(20)
	}
	uniform := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = 20 * r.Float32()
		}
		return v
	}
	x, w, dz := uniform(rows*len(bins)), uniform(Rows(bins)*out), uniform(rows*out)
	var ys, dws [][]float32
	for _, cores := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(cores)
		y, dw := make([]float32, rows*out), make([]float32, len(w))
		NewTable(bins, out, w).Add(x, len(bins), y)
		WeightsVJP(bins, out, x, len(bins), dz, dw)
		ys, dws = append(ys, y), append(dws, dw)
	}
	alone := make([]float32, out) // a document by itself
	NewTable(bins, out, w).Add(x[700*len(bins):], len(bins), alone)
	for i := range ys {
		if !slices.Equal(ys[0], ys[i]) || !slices.Equal(dws[0], dws[i]) || !slices.Equal(alone, ys[i][700*out:701*out]) {
			t.Fatal("other numbers on other cores, or alone")
		}
	}
}
