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

// cascadeOps are the metrics, given numbers from 0 to 1, as ops and as calls of package plackett; of a
// function of exposures its gradient by package plackett.
var cascadeOps = map[string]struct {
	node func(l ops.Lists, shares, others *G.Node, theta []float64) (*G.Node, error)
	want func(e *plackett.Expectation, scores, shares, others, theta, lambda []float64) (float64, error)
}{
	"ExpectedCascade": {
		func(l ops.Lists, shares, others *G.Node, theta []float64) (*G.Node, error) {
			return ops.ExpectedCascade(l, others, shares, theta)
		},
		func(e *plackett.Expectation, scores, shares, others, theta, lambda []float64) (float64, error) {
			return e.Cascade(scores, others, shares, theta, lambda)
		},
	},
	"ExpectedAveragePrecision": {
		func(l ops.Lists, shares, _ *G.Node, theta []float64) (*G.Node, error) {
			return ops.ExpectedAveragePrecision(l, shares, len(theta))
		},
		func(e *plackett.Expectation, scores, shares, _, theta, lambda []float64) (float64, error) {
			return e.AveragePrecision(scores, shares, len(theta), lambda)
		},
	},
	"ExpectedCascadeExposure": {
		func(l ops.Lists, shares, others *G.Node, theta []float64) (*G.Node, error) {
			exposure, err := ops.ExpectedCascadeExposure(l, shares, theta)
			if err != nil {
				return nil, err
			}
			return ops.SumOverDocuments(l, G.Must(G.HadamardProd(others, G.Must(G.Square(exposure)))))
		},
		func(e *plackett.Expectation, scores, shares, others, theta, lambda []float64) (float64, error) {
			exposure := make([]float64, len(scores))
			if err := e.CascadeExposure(scores, shares, theta, exposure); err != nil {
				return 0, err
			}
			sum, incoming := 0.0, make([]float64, len(scores))
			for d, x := range exposure {
				sum += others[d] * x * x
				incoming[d] = 2 * others[d] * x
			}
			_, err := e.Cascade(scores, incoming, shares, theta, lambda)
			return sum, err
		},
	},
}

// Packed batches in both dtypes and on both machines against package plackett, query by query.
func TestCascadeOpsEqualPackagePlackett(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := optest.DrawBatch(t)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "shares"), 1))
		shares := make([]float64, len(b.Scores))
		for d := range shares {
			shares[d] = float64(rng.IntN(5)) / 4
		}
		for name, c := range cascadeOps {
			var e plackett.Expectation
			wantValue, want := 0.0, make([]float64, len(b.Scores))
			for q := range b.Queries() {
				from, to := b.Offsets[q], b.Offsets[q+1]
				value, err := c.want(&e, b.Scores[from:to], shares[from:to], b.Gains[from:to], b.Discounts, want[from:to])
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
			l, gains, _ := b.Nodes(g, dt)
			node, err := c.node(l, optest.Vector(g, "shares", dt, shares), gains, b.Discounts)
			if err != nil {
				t.Fatal(err)
			}
			value, lambda, err := run(G.Must(G.Sum(node)), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			if !(math.Abs(value[0]-wantValue) <= tolerance*(1+math.Abs(wantValue))) {
				t.Errorf("%s, %v: value %v, want %v", name, dt, value[0], wantValue)
			}
			for d, w := range want {
				if !(math.Abs(lambda[d]-w) <= tolerance*(1+math.Abs(w))) {
					t.Errorf("%s, %v: λ[%d] = %v, want %v", name, dt, d, lambda[d], w)
				}
			}
		}
	})
}

// A share out of range gives an error that says where.
func TestContinuationsOutOfRangeAreErrors(t *testing.T) {
	for _, share := range []float64{-.1, 1.1, math.NaN(), math.Inf(1)} {
		for name, c := range cascadeOps {
			g := G.NewGraph()
			vector := func(name string, x ...float64) *G.Node { return optest.Vector(g, name, tensor.Float64, x) }
			node, err := c.node(ops.Lists{Scores: vector("scores", 1, 2, 3)}, vector("shares", 0, share, 1), vector("others", 1, 2, 3), []float64{1, .5})
			if err != nil {
				t.Fatal(err)
			}
			vm := G.NewTapeMachine(node.Graph())
			if err := vm.RunAll(); err == nil || !strings.Contains(err.Error(), "query 0, row 1: the ") {
				t.Errorf("%s with %v: error %v", name, share, err)
			}
			vm.Close()
		}
	}
	scores := optest.Vector(G.NewGraph(), "scores", tensor.Float64, []float64{1})
	if _, err := ops.ExpectedAveragePrecision(ops.Lists{Scores: scores}, scores, -1); err == nil || !strings.Contains(err.Error(), "cutoff is -1") {
		t.Errorf("a negative cutoff: %v", err)
	}
}
