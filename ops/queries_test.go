package ops_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

// The differentiable functions of a vector x of all rows.
var listFuncs = map[string]optest.ListFunc{
	"SumOverDocuments": func(l optest.Lists, _, _ *G.Node) (*G.Node, error) { return ops.SumOverDocuments(l, l.Scores) },
	"SpreadOverDocuments": func(l optest.Lists, _, _ *G.Node) (*G.Node, error) {
		return op.SpreadOverDocuments(l, G.Must(ops.SumOverDocuments(l, l.Scores)))
	},
	"LogSoftmax": func(l optest.Lists, _, _ *G.Node) (*G.Node, error) { return ops.LogSoftmax(l) },
}

func TestVJPsAreFiniteDifferences(t *testing.T) { optest.CheckVJPs(t, listFuncs) }

func TestOpsHaveTheirValues(t *testing.T) {
	e := math.E
	optest.CheckValue(t, "SumOverDocuments", listFuncs["SumOverDocuments"], 7, 0, 1)
	optest.CheckValue(t, "LogSoftmax", listFuncs["LogSoftmax"], 0, 1-math.Log(e+2*e*e*e), 3-math.Log(e+2*e*e*e), 3-math.Log(e+2*e*e*e),
		-1-math.Log(1/e+1+e*e), -math.Log(1/e+1+e*e), 2-math.Log(1/e+1+e*e), 0)
	optest.CheckValue(t, "SpreadOverDocuments", func(l optest.Lists, _, _ *G.Node) (*G.Node, error) {
		return op.SpreadOverDocuments(l, optest.Vector(l.Scores.Graph(), "v", l.Scores.Dtype(), []float64{4, 5, 6}))
	}, 0, 4, 4, 4, 6, 6, 6, 0)
	optest.CheckValue(t, "Ranks", func(l optest.Lists, _, _ *G.Node) (*G.Node, error) { return ops.Ranks(l) }, 0, 2, 0, 1, 2, 1, 0, 0)
}

func TestNumbersThatAreNotFiniteAreErrors(t *testing.T) {
	optest.CheckFault(t, "ops: LogSoftmax: query 0, row 2: the score is NaN: scores must be finite", []float64{0, 0, math.NaN()}, nil, func(l optest.Lists, _ *G.Node) (*G.Node, error) { return ops.LogSoftmax(l) })
	optest.CheckFault(t, "ops: Ranks: query 0, row 1: the score is +Inf", []float64{0, math.Inf(1), 0}, nil, func(l optest.Lists, _ *G.Node) (*G.Node, error) { return ops.Ranks(l) })
	optest.CheckFault(t, "row 2: the gain is +Inf", nil, []float64{0, 0, math.Inf(1)}, func(l optest.Lists, g *G.Node) (*G.Node, error) { return ops.IdealRankings(l, g, nil) })
	optest.CheckFault(t, "values of shape (3) for 1 queries", nil, nil, func(l optest.Lists, g *G.Node) (*G.Node, error) { return op.SpreadOverDocuments(l, g) })
	optest.CheckFault(t, "x have 1 rows, scores have 3", nil, nil, func(l optest.Lists, g *G.Node) (*G.Node, error) {
		return ops.SumOverDocuments(l, optest.Vector(l.Scores.Graph(), "x", tensor.Float64, []float64{1}))
	})
}

// Ideal rankings are in descending order of gain; ties stand by row without a sampler,
// and with one in every order equally often, drawn anew by every run.
func TestIdealRankingsBreakTiesByChance(t *testing.T) {
	gains := []float64{9, 1, 1, 3, 1, 0, 5}
	g := G.NewGraph()
	l := ops.Lists{Scores: optest.Vector(g, "scores", tensor.Float64, make([]float64, 7)), Offsets: optest.Ints(g, "offsets", []int{1, 5, 5, 6}, 4)}
	byRow, err := ops.IdealRankings(l, optest.Vector(g, "gains", tensor.Float64, gains), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := optest.Run(t, byRow).Data().([]int)
	want := []int{3, 1, 2, 4, -1, -1, -1 /**/, -1, -1, -1, -1, -1, -1, -1 /**/, 5, -1, -1, -1, -1, -1, -1}
	if !slices.Equal(got, want) {
		t.Errorf("rankings %v, want %v", got, want)
	}

	g = G.NewGraph()
	l = ops.Lists{Scores: optest.Vector(g, "scores", tensor.Float64, make([]float64, 7)), Offsets: optest.Ints(g, "offsets", []int{1, 5, 5, 6}, 4)}
	drawn, err := ops.IdealRankings(l, optest.Vector(g, "gains", tensor.Float64, gains), ops.NewSampler(1, 1, 3))
	if err != nil {
		t.Fatal(err)
	}
	var value G.Value
	G.Read(drawn, &value)
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	const runs = 3000
	orders := map[string]int{}
	for range runs {
		vm.Reset()
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		y := value.Data().([]int)
		if y[0] != 3 || y[4] != -1 {
			t.Fatalf("ranking %v does not begin with row 3, or does not end after 4 documents", y[:7])
		}
		orders[fmt.Sprint(y[1:4])]++
	}
	for order, n := range orders {
		// Five standard deviations of a binomial with p = 1/6.
		if len(orders) != 6 || math.Abs(float64(n)-runs/6) > 5*math.Sqrt(runs*5./36) {
			t.Errorf("order %v came %d times in %d, of %d orders", order, n, runs, len(orders))
		}
	}
}
