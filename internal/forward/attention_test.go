package forward

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// attentionResults are y and dqkv for random inputs.
func attentionResults(a Attention[float32], offsets []int) (y, dqkv []float32) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := offsets[len(offsets)-1]
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return x
	}
	qkv, dy := random(rows*3*a.Width), random(rows*a.Width)
	y, dqkv = make([]float32, rows*a.Width), make([]float32, rows*3*a.Width)
	a.Run(qkv, y, offsets)
	a.VJP(qkv, y, dy, dqkv, offsets)
	return y, dqkv
}

// The same bits on any number of cores and by RunQuery; where a query is worked on in
// several pieces, the same numbers up to rounding.
func TestAttentionInPiecesIsTheSame(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	a, offsets := Attention[float32]{Width: 6, Heads: 2}, []int{0, 30, 30, 350, 351, 450}
	whole, wholeSlope := attentionResults(a, offsets)
	a.stripe = 64
	var want, wantSlope []float32
	for _, cores := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cores)
		y, dqkv := attentionResults(a, offsets)
		if want == nil {
			want, wantSlope = y, dqkv
		}
		if !slices.Equal(y, want) || !slices.Equal(dqkv, wantSlope) {
			t.Errorf("other bits on %d cores", cores)
		}
	}
	if !slices.Equal(want, whole) {
		t.Error("pieces change results")
	}
	for i, v := range wantSlope {
		if math.Abs(float64(v-wholeSlope[i])) > 1e-4 {
			t.Fatalf("derivative %d is %v in pieces, %v as a whole", i, v, wholeSlope[i])
		}
	}
}

// RunQuery gives the bits of Run.
func TestAttentionOfOneQueryEqualsAttentionOfAll(t *testing.T) {
	a, n := Attention[float32]{Width: 6, Heads: 2}, 300
	want, _ := attentionResults(a, []int{0, n})
	rng := rand.New(rand.NewPCG(1, 2))
	qkv, y := make([]float32, 3*n*a.Width), make([]float32, n*a.Width)
	for i := range qkv {
		qkv[i] = float32(rng.NormFloat64())
	}
	if err := a.RunQuery(t.Context(), new(AttentionSpace[float32]), qkv, y); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(y, want) {
		t.Error("other bits than Run")
	}
}
