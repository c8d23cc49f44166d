package piecewise

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/blas"
)

// encoded is the layer by its formula, in float64: y = e·w + b, and dw = eᵀ·dz. Columns behind those with
// bins are as they are.
func encoded[T Float](bins []int, in, out int, x, w, b, dz []T) (y, dw []float64) {
	y, dw = make([]float64, len(dz)), make([]float64, len(w))
	for r := range len(dz) / out {
		row := 0
		weigh := func(e float64) {
			for u := range out {
				y[r*out+u] += e * float64(w[row*out+u])
				dw[row*out+u] += e * float64(dz[r*out+u])
			}
			row++
		}
		for f, p := range x[r*in:][:in] {
			if f >= len(bins) {
				weigh(float64(p))
				continue
			}
			p := math.RoundToEven(float64(p)*Steps) / Steps
			for k := range bins[f] {
				weigh(min(max(p-float64(k), 0), 1))
			}
		}
		for u := range out {
			y[r*out+u] += float64(b[u])
		}
	}
	return y, dw
}

// allWeightsVJP has the rows of the dense layer, too.
func allWeightsVJP[T Float](c Columns, out int, x, dz, dw []T) {
	WeightsVJP(c, out, x, dz, dw)
	dense := make([]T, len(c.straight)*out)
	blas.Multiply(blas.RowMajor(dense, len(c.straight), out), Straight(c, x).T(), blas.RowMajor(dz, len(dz)/out, out))
	for i, row := range c.StraightRows() {
		copy(dw[row*out:][:out], dense[i*out:])
	}
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
	rows, out := rapid.OneOf(rapid.IntRange(1, 30), rapid.IntRange(backwardRows-9, backwardRows+9)).Draw(t, "rows"), rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(1, 140)).Draw(t, "out")
	in := len(bins) + rapid.IntRange(0, 2).Draw(t, "more columns")
	relu := rapid.Bool().Draw(t, "relu")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	uniform := func(n int) []T {
		v := make([]T, n)
		for i := range v {
			v[i] = T(2*r.Float64() - 1)
		}
		return v
	}
	c := NewColumns(bins, in)
	x, w, b, y, dz := uniform(rows*in), uniform((Rows(bins)+in-len(bins))*out), uniform(out), uniform(rows*out), uniform(rows*out)
	for i := range x {
		f := i % in
		if f >= len(bins) {
			continue
		}
		n := T(bins[f])
		x[i] = []T{0, n, -3, n + 2, T(math.Inf(1)), T(math.Inf(-1)), n / 2, T(r.IntN(bins[f] + 1))}[r.IntN(8)]
		if r.IntN(2) == 0 {
			x[i] = n * T(r.Float64())
		}
	}
	sum, slope := encoded(bins, in, out, x, w, b, dz)
	dw := uniform(len(w))
	allWeightsVJP(c, out, x, dz, dw)
	NewLayer(c, out, w, blas.End[T]{Bias: b, ReLU: relu}).Run(x, in, y)
	if relu {
		for i, v := range sum {
			sum[i] = max(v, 0)
		}
	}
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
	const n = 48
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
			copy(part, x)
			k.split(part, bins, first, at)
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
	c, x := NewColumns([]int{3, 1}, 3), []float32{1.5, 1, 0, float32(math.NaN()), 1, 0, 1, float32(math.NaN()), 0, 0, 0, float32(math.NaN())}
	w, y := make([]float32, 5*out), make([]float32, 4*out)
	NewLayer(c, out, w, blas.End[float32]{Bias: w[:out]}).Run(x, 3, y)
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
	c := NewColumns(bins, len(bins))
	x, w, dz := uniform(rows*len(bins)), uniform(Rows(bins)*out), uniform(rows*out)
	var ys, dws [][]float32
	for _, cores := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(cores)
		y, dw := make([]float32, rows*out), make([]float32, len(w))
		NewLayer(c, out, w, blas.End[float32]{Bias: w[:out]}).Run(x, len(bins), y)
		allWeightsVJP(c, out, x, dz, dw)
		ys, dws = append(ys, y), append(dws, dw)
	}
	alone := make([]float32, out) // a document by itself
	NewLayer(c, out, w, blas.End[float32]{Bias: w[:out]}).Run(x[700*len(bins):701*len(bins)], len(bins), alone)
	for i := range ys {
		if !slices.Equal(ys[0], ys[i]) || !slices.Equal(dws[0], dws[i]) || !slices.Equal(alone, ys[i][700*out:701*out]) {
			t.Fatal("other numbers on other cores, or alone")
		}
	}
}
