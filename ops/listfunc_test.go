package ops_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/ops"
)

// The differentiable functions on lists, of a vector x of all rows.
var listFuncs = map[string]func(l ops.Lists, gains, groups *G.Node) (*G.Node, error){
	"SumOverDocuments": func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return ops.SumOverDocuments(l, l.Scores) },
	"SpreadOverDocuments": func(l ops.Lists, _, _ *G.Node) (*G.Node, error) {
		return ops.SpreadOverDocuments(l, G.Must(ops.SumOverDocuments(l, l.Scores)))
	},
	"SumOverGroups": func(l ops.Lists, _, groups *G.Node) (*G.Node, error) { return ops.SumOverGroups(l, groups, l.Scores) },
	"Reciprocal": func(l ops.Lists, _, _ *G.Node) (*G.Node, error) {
		return ops.Reciprocal(G.Must(G.Exp(l.Scores)))
	},
	"LogSoftmax":     func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return ops.LogSoftmax(l) },
	"ApproxRanks":    func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return ops.ApproxRanks(l, .7) },
	"RankBounds":     func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return ops.RankBounds(l) },
	"ScoreDistances": func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return ops.ScoreDistances(l) },
	"LogisticPairs": func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) {
		return ops.LogisticPairs(l, gains, ops.PairWeights{Each: .3, Swap: []float64{1, .5}, Distance: []float64{.2, .1, .4}})
	},
}

// Every function of [listFuncs] by finite differences in some direction, on both
// machines, in float32 near to float64.
func TestListFuncs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBatch(t)
		groups, direction := make([]int, len(b.scores)), make([]float64, len(b.scores))
		// Scores a tenth apart at least: no ranks change within h.
		for place, d := range order(b.scores) {
			b.scores[d] = .3*float64(place-len(b.scores)/2) + .1*math.Sin(b.gains[d])
			direction[d] = math.Cos(float64(7 * d))
			groups[d] = d%3 - 1
		}
		for d := range b.gains {
			b.gains[d] = math.Round(b.gains[d])
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(listFuncs))).Draw(t, "name")
		f := listFuncs[name]
		evaluate := func(run machine, dt tensor.Dtype, step float64) (float64, []float64) {
			scores := slices.Clone(b.scores)
			for d := range scores {
				scores[d] += step * direction[d]
			}
			g := G.NewGraph()
			l := ops.Lists{Scores: vector(g, "scores", dt, scores), Offsets: ints(g, "offsets", b.offsets, len(b.offsets))}
			y, err := f(l, vector(g, "gains", dt, b.gains), ints(g, "groups", groups, len(groups)))
			if err != nil {
				t.Fatal(err)
			}
			weights := make([]float64, y.Shape()[0])
			for i := range weights {
				weights[i] = math.Sin(float64(i + 1))
			}
			value, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(vector(g, "w", dt, weights), y)))), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			return value[0], gradient
		}
		const h = 1e-5
		_, gradient := evaluate(tape, tensor.Float64, 0)
		_, other := evaluate(lispOf, tensor.Float64, 0)
		_, narrow := evaluate(tape, tensor.Float32, 0)
		up, _ := evaluate(tape, tensor.Float64, h)
		down, _ := evaluate(tape, tensor.Float64, -h)
		slope, size := 0.0, 1.0
		for d, x := range gradient {
			slope += x * direction[d]
			size += math.Abs(x)
			if other[d] != x || math.Abs(narrow[d]-x) > 1e-5*(1+math.Abs(x)) {
				t.Fatalf("%s: d/dx_%d = %v by tape, %v by Lisp, %v in float32", name, d, x, other[d], narrow[d])
			}
		}
		if want := (up - down) / (2 * h); math.Abs(slope-want) > 1e-8*size {
			t.Fatalf("%s: slope %v, by differences %v", name, slope, want)
		}
	})
}

// lispOf is lisp on the part of a graph that the loss needs: to that machine all
// others are losses, too.
func lispOf(loss, wrt *G.Node) ([]float64, []float64, error) {
	vm := G.NewLispMachine(loss.Graph().SubgraphRoots(loss))
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return nil, nil, err
	}
	gradient, err := wrt.Grad()
	if err != nil {
		return nil, nil, err
	}
	return numbers(loss.Value()), numbers(gradient), nil
}

// order is the rows in ascending order of x.
func order(x []float64) []int {
	o := make([]int, len(x))
	for d := range o {
		o[d] = d
	}
	slices.SortFunc(o, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	return o
}

// What the functions give for two queries of three documents, an empty one between
// them, and padding at both ends.
func TestListFuncValues(t *testing.T) {
	scores := []float64{9, 1, 3, 3, -1, 0, 2, 9}
	gains := []float64{9, 0, 3, 3, 1, 0, 7, 9}
	groups := []int{2, 2, 5, 2, -1, 0, 0, 2}
	offsets := []int{1, 4, 4, 7}
	e := math.E
	for name, c := range map[string]struct {
		f    func(l ops.Lists, gains, groups *G.Node) (*G.Node, error)
		want []float64
	}{
		"SumOverDocuments": {listFuncs["SumOverDocuments"], []float64{7, 0, 1}},
		"SumOverGroups":    {listFuncs["SumOverGroups"], []float64{0, 4, 3, 4, 0, 2, 2, 0}},
		"Reciprocal":       {func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return ops.Reciprocal(l.Scores) }, []float64{1. / 9, 1, 1. / 3, 1. / 3, -1, 0, .5, 1. / 9}},
		"LogSoftmax": {listFuncs["LogSoftmax"], []float64{
			0, 1 - math.Log(e+2*e*e*e), 3 - math.Log(e+2*e*e*e), 3 - math.Log(e+2*e*e*e),
			-1 - math.Log(1/e+1+e*e), -math.Log(1/e + 1 + e*e), 2 - math.Log(1/e+1+e*e), 0,
		}},
		"ScoreDistances": {listFuncs["ScoreDistances"], []float64{0, 4, 2, 2, 4, 3, 5, 0}},
		"Documents":      {func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return ops.Documents(l) }, []float64{3, 0, 3}},
		"SpreadOverDocuments": {func(l ops.Lists, _, _ *G.Node) (*G.Node, error) {
			return ops.SpreadOverDocuments(l, vector(l.Scores.Graph(), "v", l.Scores.Dtype(), []float64{4, 5, 6}))
		}, []float64{0, 4, 4, 4, 6, 6, 6, 0}},
		"Nonzero":       {func(_ ops.Lists, gains, _ *G.Node) (*G.Node, error) { return ops.Nonzero(gains) }, []float64{1, 0, 1, 1, 1, 0, 1, 1}},
		"Ranks":         {func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return ops.Ranks(l) }, []float64{0, 2, 0, 1, 2, 1, 0, 0}},
		"RankDiscounts": {func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return ops.RankDiscounts(l, []float64{8, 4}, .5) }, []float64{0, .5, 8, 4, .5, 4, 8, 0}},
		"TargetExposure": {func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) {
			return ops.TargetExposure(l, gains, []float64{8, 4})
		},
			[]float64{0, 0, 6, 6, 4, 0, 8, 0}},
		"TargetExposure, first rank": {func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) {
			return ops.TargetExposure(l, gains, []float64{8})
		},
			[]float64{0, 0, 4, 4, 0, 0, 8, 0}},
		"GroupHeads": {func(l ops.Lists, _, groups *G.Node) (*G.Node, error) { return ops.GroupHeads(l, groups) }, []float64{0, 1, 1, 0, 0, 1, 0, 0}},
		"CountPairs": {func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) { return ops.CountPairs(l, gains) }, []float64{2, 0, 3}},
	} {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			g := G.NewGraph()
			l := ops.Lists{Scores: vector(g, "scores", dt, scores), Offsets: ints(g, "offsets", offsets, len(offsets))}
			y, err := c.f(l, vector(g, "gains", dt, gains), ints(g, "groups", groups, len(groups)))
			if err != nil {
				t.Fatal(err)
			}
			got := numbers(run(t, y))
			if len(got) != len(c.want) {
				t.Fatalf("%s: %v, want %v", name, got, c.want)
			}
			for i, want := range c.want {
				if math.Abs(got[i]-want) > 1e-6 {
					t.Errorf("%s: %v, want %v", name, got, c.want)
					break
				}
			}
		}
	}
}

// run is the value of a node.
func run(t *testing.T, n *G.Node) G.Value {
	t.Helper()
	var value G.Value
	G.Read(n, &value)
	vm := G.NewTapeMachine(n.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	return value
}

// Ideal rankings are in descending order of gain; ties stand by row without a sampler,
// and with one in every order equally often, drawn anew by every run.
func TestIdealRankings(t *testing.T) {
	gains := []float64{9, 1, 1, 3, 1, 0, 5}
	g := G.NewGraph()
	l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, make([]float64, 7)), Offsets: ints(g, "offsets", []int{1, 5, 5, 6}, 4)}
	byRow, err := ops.IdealRankings(l, vector(g, "gains", tensor.Float64, gains), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, byRow).Data().([]int)
	want := []int{3, 1, 2, 4, -1, -1, -1 /**/, -1, -1, -1, -1, -1, -1, -1 /**/, 5, -1, -1, -1, -1, -1, -1}
	if !slices.Equal(got, want) {
		t.Errorf("rankings %v, want %v", got, want)
	}

	g = G.NewGraph()
	l = ops.Lists{Scores: vector(g, "scores", tensor.Float64, make([]float64, 7)), Offsets: ints(g, "offsets", []int{1, 5, 5, 6}, 4)}
	drawn, err := ops.IdealRankings(l, vector(g, "gains", tensor.Float64, gains), ops.NewSampler(1, 1, 3))
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

// What is wrong with scores, gains, settings or shapes is said.
func TestListFuncErrors(t *testing.T) {
	for _, c := range []struct {
		f             func(l ops.Lists, gains *G.Node) (*G.Node, error)
		scores, gains []float64
		want          string
	}{
		{func(l ops.Lists, _ *G.Node) (*G.Node, error) { return ops.LogSoftmax(l) }, []float64{0, 0, math.NaN()}, nil, "ops: LogSoftmax: query 0, row 2: the score is NaN: scores must be finite"},
		{func(l ops.Lists, _ *G.Node) (*G.Node, error) { return ops.Ranks(l) }, []float64{0, math.Inf(1), 0}, nil, "ops: Ranks: query 0, row 1: the score is +Inf"},
		{func(l ops.Lists, _ *G.Node) (*G.Node, error) { return ops.RankBounds(l) }, []float64{0, math.Inf(1), 0}, nil, "ops: RankBounds: query 0, row 1"},
		{func(l ops.Lists, _ *G.Node) (*G.Node, error) { return ops.ApproxRanks(l, 0) }, nil, nil, "the temperature is 0: want a number above 0"},
		{func(l ops.Lists, g *G.Node) (*G.Node, error) {
			return ops.LogisticPairs(l, g, ops.PairWeights{Each: 1})
		}, nil, []float64{0, math.NaN(), 0}, "row 1: the gain is NaN"},
		{func(l ops.Lists, g *G.Node) (*G.Node, error) {
			return ops.LogisticPairs(l, g, ops.PairWeights{Each: 1})
		}, []float64{math.NaN(), 0, 0}, nil, "row 0: the score is NaN"},
		{func(l ops.Lists, g *G.Node) (*G.Node, error) {
			return ops.LogisticPairs(l, g, ops.PairWeights{Swap: []float64{math.NaN()}})
		}, nil, nil, "a weight is NaN"},
		{func(l ops.Lists, g *G.Node) (*G.Node, error) { return ops.TargetExposure(l, g, []float64{1}) }, nil, []float64{math.NaN(), 0, 0}, "ops: TargetExposure: query 0: row 0: the gain is NaN"},
		{func(l ops.Lists, g *G.Node) (*G.Node, error) { return ops.TargetExposure(l, g, nil) }, nil, nil, "ops: TargetExposure: no discounts"},
		{func(l ops.Lists, g *G.Node) (*G.Node, error) { return ops.RankDiscounts(l, nil, 0) }, nil, nil, "ops: RankDiscounts: no discounts"},
		{func(l ops.Lists, g *G.Node) (*G.Node, error) { return ops.IdealRankings(l, g, nil) }, nil, []float64{0, 0, math.Inf(1)}, "row 2: the gain is +Inf"},
		{func(l ops.Lists, g *G.Node) (*G.Node, error) { return ops.CountPairs(l, nil) }, nil, nil, "ops: CountPairs: no gains"},
		{func(l ops.Lists, g *G.Node) (*G.Node, error) { return ops.SumOverGroups(l, g, g) }, nil, nil, "ops: SumOverGroups: groups are of dtype float64: want [int]"},
		{func(l ops.Lists, g *G.Node) (*G.Node, error) { return ops.SpreadOverDocuments(l, g) }, nil, nil, "values of shape (3) for 1 queries"},
		{func(l ops.Lists, g *G.Node) (*G.Node, error) {
			return ops.SumOverDocuments(l, vector(l.Scores.Graph(), "x", tensor.Float64, []float64{1}))
		}, nil, nil, "x have 1 rows, scores have 3"},
	} {
		g := G.NewGraph()
		if c.scores == nil {
			c.scores = make([]float64, 3)
		}
		if c.gains == nil {
			c.gains = []float64{0, 1, 2}
		}
		l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, c.scores)}
		_, err := c.f(l, vector(g, "gains", tensor.Float64, c.gains))
		if err == nil {
			vm := G.NewTapeMachine(g)
			err = vm.RunAll()
			vm.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
