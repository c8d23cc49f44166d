package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// An estimator is an op for an expected metric.
type estimator func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error)

var estimatorOps = map[plackett.Estimator]estimator{
	plackett.PLRank1:  ops.PLRank1,
	plackett.PLRank2:  ops.PLRank2,
	plackett.PLRankRB: ops.PLRankRB,
}

// TestEstimatorsHaveTheGoldenGradients runs the independent test vectors through the ops.
func TestEstimatorsHaveTheGoldenGradients(t *testing.T) {
	byName := map[string]estimator{"plrank1": ops.PLRank1, "plrank2": ops.PLRank2, "plrank_rb": ops.PLRankRB}
	var file struct {
		Cases []struct {
			Name                  string
			D, K, N               int
			Dtype                 string
			Theta, Labels, Scores []float64
			Rankings              [][]int
			Scale                 float64
			Truth                 map[string][]float64
		}
	}
	testkit.Golden(t, "estimators.json", &file)
	for _, c := range file.Cases {
		dt, tolerance := tensor.Float64, 1e-13
		if c.Dtype == "float32" {
			dt, tolerance = tensor.Float32, 2e-6
		}
		k := min(c.K, c.D)
		var places []int
		for _, y := range c.Rankings {
			places = append(places, y[:k]...)
		}
		for name, op := range byName {
			for machineName, run := range optest.Machines {
				g := G.NewGraph()
				l := ops.Lists{Scores: optest.Vector(g, "scores", dt, c.Scores)}
				perQuery, err := op(l, optest.Vector(g, "gains", dt, c.Labels), optest.Ints(g, "rankings", places, 1, c.N, k), c.Theta)
				if err != nil {
					t.Fatalf("%s: %s: %v", c.Name, name, err)
				}
				_, lambda, err := run(G.Must(G.Sum(perQuery)), l.Scores)
				if err != nil {
					t.Fatalf("%s: %s: %s machine: %v", c.Name, name, machineName, err)
				}
				for d, want := range c.Truth[name] {
					if diff := math.Abs(lambda[d]-want) / c.Scale; !(diff <= tolerance) {
						t.Errorf("%s: %s: %s machine: λ[%d] = %v, want %v: off by %.2g of scale", c.Name, name, machineName, d, lambda[d], want, diff)
					}
				}
			}
		}
	}
}

// TestEstimatorsEqualPackagePlackett compares packed batches, with empty queries, padding and absent
// samples, with the kernel on each query alone: metric, λ, exposure.
func TestEstimatorsEqualPackagePlackett(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := optest.DrawBatch(t)
		weights := make([]float64, b.Queries())
		for q := range weights {
			weights[q] = float64(q) - 1.5
		}
		for e, op := range estimatorOps {
			for name, run := range optest.Machines {
				g := G.NewGraph()
				l, gains, rankings := b.Nodes(g, tensor.Float64)
				perQuery, err := op(l, gains, rankings, b.Discounts)
				if err != nil {
					t.Fatal(err)
				}
				loss := G.Must(G.Sum(G.Must(G.HadamardProd(perQuery, optest.Vector(g, "weights", tensor.Float64, weights)))))
				value, lambda, err := run(loss, l.Scores)
				if err != nil {
					t.Fatal(err)
				}
				wantValue, want := 0.0, make([]float64, len(b.Scores))
				for q, weight := range weights {
					var k plackett.Kernel
					from, to := b.Offsets[q], b.Offsets[q+1]
					size := b.Samples * b.Cutoff
					r := plackett.Rankings{Documents: b.Places[q*size : (q+1)*size], Cutoff: b.Cutoff, Base: from}
					m, err := k.Gradient(e, b.Scores[from:to], b.Gains[from:to], b.Discounts, r, want[from:to])
					if err != nil {
						t.Fatal(err)
					}
					wantValue += weight * m
					for d := from; d < to; d++ {
						want[d] *= weight
					}
				}
				if math.Abs(value[0]-wantValue) > 1e-12 {
					t.Errorf("%s, %s machine: value %v, want %v", e, name, value, wantValue)
				}
				for d := range want {
					if lambda[d] != want[d] {
						t.Errorf("%s, %s machine: λ[%d] = %v, want %v", e, name, d, lambda[d], want[d])
					}
				}
			}
		}
	})
}

// Exposure's backward pass is PL-Rank-RB with the incoming gradient as gains, on
// the rankings meant for it.
func TestExposureHasTheGradientOfPLRankRB(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := optest.DrawBatch(t)
		other := b
		other.Places = nil
		for i := range b.Places { // the samples in another order
			size := b.Samples * b.Cutoff
			q, rest := i/size, i%size
			other.Places = append(other.Places, b.Places[q*size+(rest+b.Cutoff)%size])
		}
		for name, run := range optest.Machines {
			g := G.NewGraph()
			l, gains, rankings := b.Nodes(g, tensor.Float64)
			gradRankings := optest.Ints(g, "other rankings", other.Places, b.Queries(), b.Samples, b.Cutoff)
			exposure, err := ops.Exposure(l, rankings, gradRankings, b.Discounts)
			if err != nil {
				t.Fatal(err)
			}
			value, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(exposure, gains)))), l.Scores)
			if err != nil {
				t.Fatal(err)
			}

			g = G.NewGraph()
			l, gains, rankings = other.Nodes(g, tensor.Float64)
			metric, err := ops.PLRankRB(l, gains, rankings, b.Discounts)
			if err != nil {
				t.Fatal(err)
			}
			wantValue, want, err := run(G.Must(G.Sum(metric)), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			// Σ ρ_d E_d is the metric: with the low-variance exposure, PL-Rank-RB's.
			// (The other order of the samples does not matter for a mean.)
			if math.Abs(value[0]-wantValue[0]) > 1e-12*(1+math.Abs(wantValue[0])) {
				t.Errorf("%s: Σ ρE = %v, the metric is %v", name, value, wantValue)
			}
			for d := range want {
				if math.Abs(gradient[d]-want[d]) > 1e-12*float64(1+b.Cutoff) {
					t.Errorf("%s: gradient[%d] = %v, PL-Rank-RB gives %v", name, d, gradient[d], want[d])
				}
			}
		}
	})
}

// LogProbs is differentiable as any op: checked by finite differences.
func TestLogProbsGradientsAreFiniteDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := optest.DrawBatch(t)
		for d := range b.Scores {
			b.Scores[d] = 3 * math.Tanh(b.Scores[d])
		}
		weights := make([]float64, len(b.Places))
		for i := range weights {
			weights[i] = math.Sin(float64(i))
		}
		evaluate := func(run optest.Machine) (float64, []float64) {
			g := G.NewGraph()
			l := ops.Lists{Scores: optest.Vector(g, "scores", tensor.Float64, b.Scores), Offsets: optest.Ints(g, "offsets", b.Offsets, len(b.Offsets))}
			rankings := optest.Ints(g, "rankings", b.Places, b.Queries(), b.Samples, b.Cutoff)
			logs, err := ops.LogProbs(l, rankings)
			if err != nil {
				t.Fatal(err)
			}
			w := G.NewTensor(g, tensor.Float64, 3, G.WithName("w"), G.WithShape(b.Queries(), b.Samples, b.Cutoff),
				G.WithValue(optest.Dense(tensor.Float64, weights, b.Queries(), b.Samples, b.Cutoff)))
			value, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(w, logs)))), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			return value[0], gradient
		}
		_, gradient := evaluate(optest.Tape)
		_, other := evaluate(optest.Lisp)
		if !slices.Equal(gradient, other) {
			t.Fatalf("%v by tape, %v by Lisp", gradient, other)
		}
		const h = 1e-5
		at, slope := slices.Clone(b.Scores), 0.0
		moved := func(step float64) float64 {
			for d, m := range at {
				b.Scores[d] = m + step*math.Cos(float64(7*d))
			}
			value, _ := evaluate(optest.Tape)
			return value
		}
		for d, x := range gradient {
			slope += x * math.Cos(float64(7*d))
		}
		if want := (moved(h) - moved(-h)) / (2 * h); math.Abs(slope-want) > 1e-7 {
			t.Fatalf("slope %v, %v by differences", slope, want)
		}
	})
}

// float32 nodes give the float64 numbers, rounded.
func TestFloat32IsFloat64Rounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := optest.DrawBatch(t)
		for i := range b.Scores {
			b.Scores[i], b.Gains[i] = float64(float32(b.Scores[i])), float64(float32(b.Gains[i]))
		}
		for e, op := range estimatorOps {
			var results [2][]float64
			for i, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
				g := G.NewGraph()
				l, gains, rankings := b.Nodes(g, dt)
				perQuery, err := op(l, gains, rankings, b.Discounts)
				if err != nil {
					t.Fatal(err)
				}
				if _, results[i], err = optest.Tape(G.Must(G.Sum(perQuery)), l.Scores); err != nil {
					t.Fatal(err)
				}
			}
			for d := range results[0] {
				if results[0][d] != float64(float32(results[1][d])) {
					t.Errorf("%s: λ[%d] = %v in float32, %v in float64", e, d, results[0][d], results[1][d])
				}
			}
		}
	})
}

// The same bits for any number of cores, from sampling to λ.
func TestOpsGiveTheSameForAnyGOMAXPROCS(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := optest.Batch{Offsets: []int{0}}
	for q := range 40 {
		b.Offsets = append(b.Offsets, b.Offsets[q]+rng.IntN(60))
	}
	for range b.Offsets[40] {
		b.Scores = append(b.Scores, rng.NormFloat64())
		b.Gains = append(b.Gains, rng.Float64())
	}
	var first []float64
	for _, procs := range []int{1, 2, 4} {
		before := runtime.GOMAXPROCS(procs)
		g := G.NewGraph()
		l := ops.Lists{Scores: optest.Vector(g, "scores", tensor.Float32, b.Scores), Offsets: optest.Ints(g, "offsets", b.Offsets, 41)}
		rankings, err := ops.Rankings(l, ops.NewSampler(50, 5, 3))
		if err != nil {
			t.Fatal(err)
		}
		perQuery, err := ops.PLRankRB(l, optest.Vector(g, "gains", tensor.Float32, b.Gains), rankings, []float64{1, .6, .5, .4, .3})
		if err != nil {
			t.Fatal(err)
		}
		mean, err := ops.MeanOverQueries(l, perQuery)
		if err != nil {
			t.Fatal(err)
		}
		value, lambda, err := optest.Tape(mean, l.Scores)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		result := append(lambda, value...)
		if first == nil {
			first = result
		}
		for i := range result {
			if result[i] != first[i] {
				t.Fatalf("with GOMAXPROCS=%d number %d is %v, with 1 it is %v", procs, i, result[i], first[i])
			}
		}
	}
}

func TestMeanOverQueriesLeavesOutEmptyOnes(t *testing.T) {
	for name, run := range optest.Machines {
		for _, c := range []struct {
			offsets []int
			want    float64
			slope   []float64
		}{
			{[]int{0, 2, 2, 5, 5}, (1 + 4) / 2., []float64{.5, 0, .5, 0}},
			{[]int{0, 0, 0, 0, 0}, 0, []float64{0, 0, 0, 0}},
			{[]int{0, 1, 2, 3, 4}, 15 / 4., []float64{.25, .25, .25, .25}},
		} {
			g := G.NewGraph()
			l := ops.Lists{Scores: optest.Vector(g, "scores", tensor.Float64, make([]float64, 6)), Offsets: optest.Ints(g, "offsets", c.offsets, 5)}
			values := optest.Vector(g, "values", tensor.Float64, []float64{1, 2, 4, 8})
			mean, err := ops.MeanOverQueries(l, values)
			if err != nil {
				t.Fatal(err)
			}
			got, slope, err := run(mean, values)
			if err != nil {
				t.Fatal(err)
			}
			if got[0] != c.want || fmt.Sprint(slope) != fmt.Sprint(c.slope) {
				t.Errorf("%s, offsets %v: %v with gradient %v, want %v with %v", name, c.offsets, got, slope, c.want, c.slope)
			}
		}
	}
}

// Errors say what, where, and what would be right.
func TestNodesThatDoNotFitAreErrors(t *testing.T) {
	g := G.NewGraph()
	f64, f32 := tensor.Float64, tensor.Float32
	scores := optest.Vector(g, "s", f64, make([]float64, 4))
	gains := optest.Vector(g, "g", f64, make([]float64, 4))
	rankings := optest.Ints(g, "r", make([]int, 6), 1, 3, 2)
	theta := []float64{1, .5}
	for _, c := range []struct {
		l               ops.Lists
		gains, rankings *G.Node
		theta           []float64
		want            string
	}{
		{ops.Lists{}, gains, rankings, theta, "no scores"},
		{ops.Lists{Scores: rankings}, gains, rankings, theta, "want 1 dimensions"},
		{ops.Lists{Scores: scores, Offsets: gains}, gains, rankings, theta, "want [int]"},
		{ops.Lists{Scores: scores, Offsets: optest.Ints(g, "o", []int{0}, 1)}, gains, rankings, theta, "queries+1"},
		{ops.Lists{Scores: scores}, nil, rankings, theta, "no gains"},
		{ops.Lists{Scores: scores}, optest.Vector(g, "g5", f64, make([]float64, 5)), rankings, theta, "gains have 5 rows, scores have 4"},
		{ops.Lists{Scores: scores}, optest.Vector(g, "g32", f32, make([]float64, 4)), rankings, theta, "want [float64]"},
		{ops.Lists{Scores: scores}, gains, nil, theta, "no rankings"},
		{ops.Lists{Scores: scores}, gains, optest.Ints(g, "r2", make([]int, 6), 2, 3, 1), theta, "the lists have 1"},
		{ops.Lists{Scores: scores}, gains, rankings, nil, "no discounts"},
		{ops.Lists{Scores: scores}, gains, rankings, []float64{1, math.NaN()}, "discount 1 is NaN"},
	} {
		for e, op := range estimatorOps {
			if _, err := op(c.l, c.gains, c.rankings, c.theta); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want one with %q", e, err, c.want)
			}
		}
	}
	if _, err := ops.ExpectedMetric(ops.Lists{Scores: scores}, optest.Vector(G.NewGraph(), "g", f64, make([]float64, 4)), theta); err == nil {
		t.Error("no error for nodes of two graphs")
	}
	if _, err := ops.PLRankBy(plackett.Estimator{Credit: 99}, ops.Lists{Scores: scores}, gains, rankings, theta); err == nil {
		t.Error("no error for an estimator that is none")
	}
	if _, err := ops.Rankings(ops.Lists{Scores: scores}, nil); err == nil {
		t.Error("no error for a nil sampler")
	}
	if _, err := ops.Rankings(ops.Lists{Scores: scores}, ops.NewSampler(0, 5, 1)); err == nil {
		t.Error("no error for no samples")
	}
	if err := ops.NewSampler(10, 5, 1).SetSamples(11); err == nil {
		t.Error("no error for more samples than there is room for")
	}
}

// Errors of a run name the query and the row.
func TestRunErrorsNameQueryAndRow(t *testing.T) {
	good := optest.Batch{
		Scores: make([]float64, 6), Gains: make([]float64, 6), Discounts: []float64{1, .5},
		Offsets: []int{0, 3, 6}, Samples: 1, Cutoff: 2, Places: []int{0, 1, 3, 4},
	}
	for _, c := range []struct {
		change func(*optest.Batch)
		want   string
	}{
		{func(b *optest.Batch) { b.Scores[4] = math.NaN() }, "query 1, row 4: the score is NaN"},
		{func(b *optest.Batch) { b.Scores[0] = math.Inf(1) }, "query 0, row 0: the score is +Inf"},
		{func(b *optest.Batch) { b.Offsets[1] = 9 }, "offsets[1] = 9 is outside of the 6 rows"},
		{func(b *optest.Batch) { b.Offsets[2] = 2 }, "offsets[2] = 2 is below offsets[1] = 3"},
		{func(b *optest.Batch) { b.Places[2] = 1 }, "query 1: ranking 0, place 0: entry 1 is outside the list, which has rows 3 to 5"},
		{func(b *optest.Batch) { b.Places[1] = 0 }, "query 0: ranking 0, place 1: entry 0 is placed twice"},
		{func(b *optest.Batch) { b.Discounts = []float64{1, 1, 1} }, "draw rankings with a cutoff of 3"},
		{func(b *optest.Batch) { b.Places[3] = -1 }, "query 1: ranking 0 ends (-1) after 1 ranks, of 3 documents with 2 discounts: want 2 ranks"},
		{func(b *optest.Batch) { b.Gains[4] = math.NaN() }, "query 1, row 4: the gain is NaN"},
	} {
		b := good
		b.Scores = append([]float64{}, good.Scores...)
		b.Offsets = append([]int{}, good.Offsets...)
		b.Places = append([]int{}, good.Places...)
		c.change(&b)
		g := G.NewGraph()
		l, gains, rankings := b.Nodes(g, tensor.Float64)
		perQuery, err := ops.PLRank2(l, gains, rankings, b.Discounts)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = optest.Tape(G.Must(G.Sum(perQuery)), l.Scores); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// Nodes of other settings are not merged, nodes of the same settings are.
func TestSettingsTellNodesApart(t *testing.T) {
	g := G.NewGraph()
	b := optest.Batch{
		Scores: make([]float64, 4), Gains: make([]float64, 4), Offsets: []int{0, 2, 4},
		Places: []int{0, 1, 2, 3}, Samples: 1, Cutoff: 2,
	}
	l, gains, rankings := b.Nodes(g, tensor.Float64)
	x := G.NewMatrix(g, tensor.Float64, G.WithShape(4, 1), G.WithName("x"))
	inner := G.Must(G.Tanh(x))
	w, bias := optest.Vector(g, "w", tensor.Float64, make([]float64, 1)), optest.Vector(g, "bias", tensor.Float64, make([]float64, 1))
	wide := G.NewMatrix(g, tensor.Float64, G.WithShape(1, 1), G.WithName("wide"))
	sampler, other := ops.NewSampler(2, 2, 1), ops.NewSampler(2, 2, 1)
	dropouts := make([]*ops.Dropout, 2)
	for i := range dropouts {
		var err error
		if dropouts[i], err = ops.NewDropout(.5, uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[*G.Node]string{}
	add := func(name string, n *G.Node, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if was, ok := seen[n]; ok {
			t.Errorf("%s and %s are one node", was, name)
		}
		seen[n] = name
	}
	for _, theta := range [][]float64{{1, .5}, {1, .25}, {1}} {
		for e, f := range estimatorOps {
			n, err := f(l, gains, rankings, theta)
			add(fmt.Sprint(e, theta), n, err)
		}
		n, err := ops.ExpectedMetric(l, gains, theta)
		add(fmt.Sprint("ExpectedMetric", theta), n, err)
		n, err = ops.ExpectedCascade(l, gains, gains, theta)
		add(fmt.Sprint("ExpectedCascade", theta), n, err)
		n, err = ops.ExpectedCascadeExposure(l, gains, theta)
		add(fmt.Sprint("ExpectedCascadeExposure", theta), n, err)
		n, err = ops.ExpectedAveragePrecision(l, gains, len(theta)+int(4*theta[len(theta)-1]))
		add(fmt.Sprint("ExpectedAveragePrecision", theta), n, err)
		n, err = ops.ExpectedSimilarity(l, x, theta)
		add(fmt.Sprint("ExpectedSimilarity", theta), n, err)
		n, err = ops.Exposure(l, rankings, nil, theta)
		add(fmt.Sprint("Exposure", theta), n, err)
		n, err = ops.ExpectedExposure(l, theta)
		add(fmt.Sprint("ExpectedExposure", theta), n, err)
	}
	for i, s := range []*ops.Sampler{sampler, sampler, other} {
		n, err := ops.Rankings(l, s)
		add(fmt.Sprint("Rankings ", i), n, err)
		n, err = ops.IdealRankings(l, gains, s)
		add(fmt.Sprint("IdealRankings ", i), n, err)
		n, err = ops.Gumbel(l, s)
		add(fmt.Sprint("Gumbel ", i), n, err)
	}
	n, err := ops.IdealRankings(l, gains, nil)
	add("IdealRankings by row", n, err)
	for i, d := range dropouts {
		for layer := range 2 {
			n, err := ops.Drop(inner, d, layer)
			add(fmt.Sprint("Drop ", i, layer), n, err)
		}
	}
	for act := range ops.SwiGLU {
		for name, in := range map[string]*G.Node{"leaf": x, "inner": inner} {
			n, err := ops.Dense(in, w, bias, act)
			add(fmt.Sprint("Dense of a vector ", act, name), n, err)
			n, err = ops.Dense(in, wide, bias, act)
			add(fmt.Sprint("Dense ", act, name), n, err)
		}
	}
	same, err := ops.ExpectedExposure(l, []float64{1, .5})
	if err != nil || seen[same] == "" {
		t.Error("the same exposure is computed twice")
	}
}
