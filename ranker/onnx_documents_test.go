//go:build onnxruntime

package ranker

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Scores of ONNX Runtime and of this package, both float32, differ by more of their size the
// more documents a model with attention sums over, and the narrower it is: where a layer
// normalisation gets four numbers that are nearly equal, few digits are left. The log has the
// table of docs/serving.md.
func TestONNXByDocumentsDiffersByRounding(t *testing.T) {
	name := python(t)
	dir := t.TempDir()
	// worst is the largest difference between scores of some networks with random weights.
	worst := func(documents, width, blocks int) (worst float64) {
		d := hardRows(46, []int{documents})
		for seed := range uint64(2) {
			rng := rand.New(rand.NewPCG(seed, 1))
			f := network(t, "quantile", "float32", d, 1, width)
			if blocks > 0 {
				f = attending(t, "quantile", "float32", d, 1, blocks, 2, width)
			}
			for i, a := range f.Arrays {
				for j := range a.Values {
					f.Arrays[i].Values[j] = float64(float32(2 * rng.NormFloat64() / math.Sqrt(float64(a.Shape[0]))))
				}
			}
			m := reopen(t, f)
			got, _, err := runtimeScores(name, dir, m, d, []int{documents})
			if err != nil {
				t.Fatal(err)
			}
			want, err := m.Score(nil, d.Features)
			if err != nil {
				t.Fatal(err)
			}
			size, apart := 0.0, 0.0
			for i, s := range want {
				size, apart = max(size, math.Abs(s)), max(apart, math.Abs(got[i]-s))
			}
			worst = max(worst, apart/size)
		}
		return worst
	}
	for _, documents := range []int{10, 100, 1000, 5000} {
		plain, wide, narrow := worst(documents, 64, 0), worst(documents, 64, 1), worst(documents, 4, 2)
		t.Logf("%d documents: mlp %.0e, attention of width 64 %.0e, attention of width 4 %.0e", documents, plain, wide, narrow)
		if !(plain <= 1e-5 && wide <= 1e-5*max(1, float64(documents)/100) && narrow <= 1e-2) {
			t.Errorf("%d documents: scores differ by %v, %v and %v of their size", documents, plain, wide, narrow)
		}
	}
}
