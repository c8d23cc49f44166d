package ops_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// Packed batches in both dtypes and on both machines against package plackett, query by query.
func TestExpectedSimilarityEqualsPackagePlackett(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, dimension := optest.DrawBatch(t), rapid.IntRange(1, 3).Draw(t, "dimension")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "vectors"), 1))
		vectors := make([]float64, len(b.Scores)*dimension)
		for i := range vectors {
			vectors[i] = float64(rng.IntN(9)-4) / 4
		}
		var e plackett.Expectation
		wantValue, want := 0.0, make([]float64, len(b.Scores))
		for q := range b.Queries() {
			from, to := b.Offsets[q], b.Offsets[q+1]
			value, err := e.Similarity(b.Scores[from:to], vectors[from*dimension:to*dimension], dimension, b.Discounts, want[from:to])
			if err != nil {
				t.Fatal(err)
			}
			wantValue += value
		}
		dt, tolerance := tensor.Float64, 1e-11
		if rapid.Bool().Draw(t, "float32") {
			dt, tolerance = tensor.Float32, 3e-5
		}
		run := optest.Machines[rapid.SampledFrom(slices.Sorted(maps.Keys(optest.Machines))).Draw(t, "machine")]
		g := G.NewGraph()
		l, _, _ := b.Nodes(g, dt)
		matrix := G.NewMatrix(g, dt, G.WithShape(len(b.Scores), dimension), G.WithName("vectors"), G.WithValue(optest.Dense(dt, vectors, len(b.Scores), dimension)))
		value, lambda, err := run(G.Must(G.Sum(G.Must(ops.ExpectedSimilarity(l, matrix, b.Discounts)))), l.Scores)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(value[0]-wantValue) <= tolerance*(1+math.Abs(wantValue))) {
			t.Errorf("%v: value %v, want %v", dt, value[0], wantValue)
		}
		for d, w := range want {
			if !(math.Abs(lambda[d]-w) <= tolerance*(1+math.Abs(w))) {
				t.Errorf("%v: λ[%d] = %v, want %v", dt, d, lambda[d], w)
			}
		}
	})
}

func TestExpectedSimilaritySaysWhatIsWrong(t *testing.T) {
	g := G.NewGraph()
	l := ops.Lists{Scores: optest.Vector(g, "scores", tensor.Float64, []float64{1, 2, 3})}
	matrix := func(name string, rows int, x ...float64) *G.Node {
		shape := tensor.Shape{rows, len(x) / rows}
		return G.NewMatrix(g, tensor.Float64, G.WithShape(shape...), G.WithName(name), G.WithValue(optest.Dense(tensor.Float64, x, shape...)))
	}
	for want, vectors := range map[string]*G.Node{
		"no vectors: the node is nil":               nil,
		"vectors have shape (3): want 2 dimensions": l.Scores,
		"vectors have 2 rows, scores have 3":        matrix("two", 2, 1, 2, 3, 4),
	} {
		if _, err := ops.ExpectedSimilarity(l, vectors, []float64{1, 1}); err == nil || err.Error() != "ops: ExpectedSimilarity: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	node := G.Must(ops.ExpectedSimilarity(l, matrix("NaN", 3, 1, 2, 3, 4, math.NaN(), 6), []float64{1, 1}))
	vm := G.NewTapeMachine(node.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err == nil || !strings.Contains(err.Error(), "query 0, row 2: the vector component is NaN") {
		t.Errorf("a vector with NaN: %v", err)
	}
}
