package ops_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// vector is a node of numbers in that dtype.
func vector(g *G.ExprGraph, name string, dt tensor.Dtype, x []float64) *G.Node {
	return G.NewVector(g, dt, G.WithName(name), G.WithShape(len(x)), G.WithValue(dense(dt, x, len(x))))
}

func dense(dt tensor.Dtype, x []float64, shape ...int) *tensor.Dense {
	if dt == tensor.Float64 {
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(append([]float64{}, x...)))
	}
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(y))
}

func ints(g *G.ExprGraph, name string, x []int, shape ...int) *G.Node {
	t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(append([]int{}, x...)))
	return G.NewTensor(g, tensor.Int, len(shape), G.WithName(name), G.WithShape(shape...), G.WithValue(t))
}

// numbers reads a value back.
func numbers(v G.Value) []float64 {
	switch x := v.Data().(type) {
	case []float64:
		return append([]float64{}, x...)
	case []float32:
		y := make([]float64, len(x))
		for i := range x {
			y[i] = float64(x[i])
		}
		return y
	case float64:
		return []float64{x}
	case float32:
		return []float64{float64(x)}
	}
	panic(fmt.Sprintf("no numbers: %T", v.Data()))
}

// A machine runs a graph and gives the derivative of a scalar node.
type machine func(loss, wrt *G.Node) (value, gradient []float64, err error)

func tape(loss, wrt *G.Node) ([]float64, []float64, error) {
	grads, err := G.Grad(loss, wrt)
	if err != nil {
		return nil, nil, err
	}
	var value, gradient G.Value
	G.Read(loss, &value)
	G.Read(grads[0], &gradient)
	vm := G.NewTapeMachine(loss.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return nil, nil, err
	}
	return numbers(value), numbers(gradient), nil
}

func lisp(loss, wrt *G.Node) ([]float64, []float64, error) {
	vm := G.NewLispMachine(loss.Graph())
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

var machines = map[string]machine{"tape": tape, "lisp": lisp}

type estimatorOp func(ops.Lists, *G.Node, *G.Node, []float64) (*G.Node, error)

var estimatorOps = map[plackett.Estimator]estimatorOp{
	plackett.PLRank1:  ops.PLRank1,
	plackett.PLRank2:  ops.PLRank2,
	plackett.PLRankRB: ops.PLRankRB,
}

// reinforce is Σ w·log π, whose gradient is an estimator's.
func reinforce(weights estimatorOp) estimatorOp {
	return func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
		w, err := weights(l, gains, rankings, discounts)
		if err != nil {
			return nil, err
		}
		logs, err := ops.LogProbs(l, rankings)
		if err != nil {
			return nil, err
		}
		return G.HadamardProd(w, logs)
	}
}

// TestGoldenEstimators runs the independent test vectors through the ops.
func TestGoldenEstimators(t *testing.T) {
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
	readGolden(t, "estimators.json", &file)
	byName := map[string]estimatorOp{
		"plrank1":         ops.PLRank1,
		"plrank2":         ops.PLRank2,
		"plrank_rb":       ops.PLRankRB,
		"policy_gradient": reinforce(ops.Rewards),
		"placement":       reinforce(ops.RewardsToGo),
	}
	for _, c := range file.Cases {
		dt, tolerance := tensor.Float64, 1e-13
		if c.Dtype == "float32" {
			dt, tolerance = tensor.Float32, 2e-6
		}
		c.Truth["placement"] = c.Truth["plrank1"]
		k := min(c.K, c.D)
		var places []int
		for _, y := range c.Rankings {
			places = append(places, y[:k]...)
		}
		for name, op := range byName {
			for machineName, run := range machines {
				g := G.NewGraph()
				l := ops.Lists{Scores: vector(g, "scores", dt, c.Scores)}
				perQuery, err := op(l, vector(g, "gains", dt, c.Labels), ints(g, "rankings", places, 1, c.N, k), c.Theta)
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

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("../../shared/golden/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the independent vectors shared/golden/%s are not beside this project; TestAgainstKernel covers the same ground", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// batch is a random packed batch.
type batch struct {
	scores, gains, discounts []float64
	offsets, places          []int
	samples, cutoff          int
}

func drawBatch(t *rapid.T) batch {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	b := batch{
		samples: rapid.IntRange(1, 5).Draw(t, "samples"),
		cutoff:  rapid.IntRange(1, 6).Draw(t, "cutoff"),
		offsets: []int{rapid.IntRange(0, 2).Draw(t, "first row")},
	}
	for range rapid.IntRange(1, 5).Draw(t, "queries") {
		b.offsets = append(b.offsets, b.offsets[len(b.offsets)-1]+rapid.IntRange(0, 9).Draw(t, "documents"))
	}
	rows := b.offsets[len(b.offsets)-1] + rapid.IntRange(1, 3).Draw(t, "padding")
	spread := rapid.SampledFrom([]float64{0.5, 3, 300}).Draw(t, "spread")
	for range rows {
		b.scores = append(b.scores, spread*rng.NormFloat64())
		b.gains = append(b.gains, rng.NormFloat64())
	}
	for range b.cutoff {
		b.discounts = append(b.discounts, rng.Float64())
	}
	for q := range len(b.offsets) - 1 {
		for i := range b.samples {
			y := rng.Perm(b.offsets[q+1] - b.offsets[q])
			for k := range b.cutoff {
				// Every query leaves out one of its samples.
				if k < len(y) && (b.samples == 1 || i != q%b.samples) {
					b.places = append(b.places, b.offsets[q]+y[k])
				} else {
					b.places = append(b.places, -1)
				}
			}
		}
	}
	return b
}

func (b batch) queries() int { return len(b.offsets) - 1 }

// nodes puts the batch into a graph.
func (b batch) nodes(g *G.ExprGraph, dt tensor.Dtype) (l ops.Lists, gains, rankings *G.Node) {
	l = ops.Lists{Scores: vector(g, "scores", dt, b.scores), Offsets: ints(g, "offsets", b.offsets, len(b.offsets))}
	return l, vector(g, "gains", dt, b.gains), ints(g, "rankings", b.places, b.queries(), b.samples, b.cutoff)
}

// TestAgainstKernel compares packed batches, with empty queries, padding and absent
// samples, with the kernel on each query alone: metric, λ, exposure.
func TestAgainstKernel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBatch(t)
		weights := make([]float64, b.queries())
		for q := range weights {
			weights[q] = float64(q) - 1.5
		}
		for e, op := range estimatorOps {
			for name, run := range machines {
				g := G.NewGraph()
				l, gains, rankings := b.nodes(g, tensor.Float64)
				perQuery, err := op(l, gains, rankings, b.discounts)
				if err != nil {
					t.Fatal(err)
				}
				loss := G.Must(G.Sum(G.Must(G.HadamardProd(perQuery, vector(g, "weights", tensor.Float64, weights)))))
				value, lambda, err := run(loss, l.Scores)
				if err != nil {
					t.Fatal(err)
				}
				wantValue, want := 0.0, make([]float64, len(b.scores))
				for q, weight := range weights {
					var k plackett.Kernel
					from, to := b.offsets[q], b.offsets[q+1]
					size := b.samples * b.cutoff
					r := plackett.Rankings{Documents: b.places[q*size : (q+1)*size], Cutoff: b.cutoff, Base: from}
					m, err := k.Gradient(e, b.scores[from:to], b.gains[from:to], b.discounts, r, want[from:to])
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
func TestExposure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBatch(t)
		other := b
		other.places = nil
		for i := range b.places { // the samples in another order
			size := b.samples * b.cutoff
			q, rest := i/size, i%size
			other.places = append(other.places, b.places[q*size+(rest+b.cutoff)%size])
		}
		for name, run := range machines {
			g := G.NewGraph()
			l, gains, rankings := b.nodes(g, tensor.Float64)
			gradRankings := ints(g, "other rankings", other.places, b.queries(), b.samples, b.cutoff)
			exposure, err := ops.Exposure(l, rankings, gradRankings, b.discounts)
			if err != nil {
				t.Fatal(err)
			}
			value, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(exposure, gains)))), l.Scores)
			if err != nil {
				t.Fatal(err)
			}

			g = G.NewGraph()
			l, gains, rankings = other.nodes(g, tensor.Float64)
			metric, err := ops.PLRankRB(l, gains, rankings, b.discounts)
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
				if math.Abs(gradient[d]-want[d]) > 1e-12*float64(1+b.cutoff) {
					t.Errorf("%s: gradient[%d] = %v, PL-Rank-RB gives %v", name, d, gradient[d], want[d])
				}
			}
		}
	})
}

// LogProbs is differentiable as any op: checked by finite differences.
func TestLogProbsByFiniteDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBatch(t)
		for d := range b.scores {
			b.scores[d] = 3 * math.Tanh(b.scores[d])
		}
		weights := make([]float64, len(b.places))
		for i := range weights {
			weights[i] = math.Sin(float64(i))
		}
		evaluate := func(run machine) (float64, []float64) {
			g := G.NewGraph()
			l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, b.scores), Offsets: ints(g, "offsets", b.offsets, len(b.offsets))}
			rankings := ints(g, "rankings", b.places, b.queries(), b.samples, b.cutoff)
			logs, err := ops.LogProbs(l, rankings)
			if err != nil {
				t.Fatal(err)
			}
			w := G.NewTensor(g, tensor.Float64, 3, G.WithName("w"), G.WithShape(b.queries(), b.samples, b.cutoff),
				G.WithValue(dense(tensor.Float64, weights, b.queries(), b.samples, b.cutoff)))
			value, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(w, logs)))), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			return value[0], gradient
		}
		_, gradient := evaluate(tape)
		_, other := evaluate(lisp)
		for d := range b.scores {
			const h = 1e-5
			m := b.scores[d]
			b.scores[d] = m + h
			up, _ := evaluate(tape)
			b.scores[d] = m - h
			down, _ := evaluate(tape)
			b.scores[d] = m
			if want := (up - down) / (2 * h); math.Abs(gradient[d]-want) > 1e-7 || gradient[d] != other[d] {
				t.Fatalf("d/dm_%d = %v by tape, %v by Lisp, %v by differences", d, gradient[d], other[d], want)
			}
		}
	})
}

// float32 nodes give the float64 numbers, rounded.
func TestFloat32(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBatch(t)
		for i := range b.scores {
			b.scores[i], b.gains[i] = float64(float32(b.scores[i])), float64(float32(b.gains[i]))
		}
		for e, op := range estimatorOps {
			var results [2][]float64
			for i, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
				g := G.NewGraph()
				l, gains, rankings := b.nodes(g, dt)
				perQuery, err := op(l, gains, rankings, b.discounts)
				if err != nil {
					t.Fatal(err)
				}
				if _, results[i], err = tape(G.Must(G.Sum(perQuery)), l.Scores); err != nil {
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
func TestGOMAXPROCS(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := batch{offsets: []int{0}}
	for q := range 40 {
		b.offsets = append(b.offsets, b.offsets[q]+rng.IntN(60))
	}
	for range b.offsets[40] {
		b.scores = append(b.scores, rng.NormFloat64())
		b.gains = append(b.gains, rng.Float64())
	}
	var first []float64
	for _, procs := range []int{1, 2, 4} {
		before := runtime.GOMAXPROCS(procs)
		g := G.NewGraph()
		l := ops.Lists{Scores: vector(g, "scores", tensor.Float32, b.scores), Offsets: ints(g, "offsets", b.offsets, 41)}
		rankings, err := ops.Rankings(l, ops.NewSampler(50, 5, 3))
		if err != nil {
			t.Fatal(err)
		}
		perQuery, err := ops.PLRankRB(l, vector(g, "gains", tensor.Float32, b.gains), rankings, []float64{1, .6, .5, .4, .3})
		if err != nil {
			t.Fatal(err)
		}
		mean, err := ops.MeanOverQueries(l, perQuery)
		if err != nil {
			t.Fatal(err)
		}
		value, lambda, err := tape(mean, l.Scores)
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

func TestMeanOverQueries(t *testing.T) {
	for name, run := range machines {
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
			l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, make([]float64, 6)), Offsets: ints(g, "offsets", c.offsets, 5)}
			values := vector(g, "values", tensor.Float64, []float64{1, 2, 4, 8})
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
func TestErrors(t *testing.T) {
	g := G.NewGraph()
	f64, f32 := tensor.Float64, tensor.Float32
	scores := vector(g, "s", f64, make([]float64, 4))
	gains := vector(g, "g", f64, make([]float64, 4))
	rankings := ints(g, "r", make([]int, 6), 1, 3, 2)
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
		{ops.Lists{Scores: scores, Offsets: ints(g, "o", []int{0}, 1)}, gains, rankings, theta, "queries+1"},
		{ops.Lists{Scores: scores}, nil, rankings, theta, "no gains"},
		{ops.Lists{Scores: scores}, vector(g, "g5", f64, make([]float64, 5)), rankings, theta, "gains have 5 rows, scores have 4"},
		{ops.Lists{Scores: scores}, vector(g, "g32", f32, make([]float64, 4)), rankings, theta, "want [float64]"},
		{ops.Lists{Scores: scores}, gains, nil, theta, "no rankings"},
		{ops.Lists{Scores: scores}, gains, ints(g, "r2", make([]int, 6), 2, 3, 1), theta, "the lists have 1"},
		{ops.Lists{Scores: scores}, gains, rankings, nil, "no discounts"},
		{ops.Lists{Scores: scores}, gains, rankings, []float64{1, math.NaN()}, "discount 1 is NaN"},
	} {
		for e, op := range estimatorOps {
			if _, err := op(c.l, c.gains, c.rankings, c.theta); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want one with %q", e, err, c.want)
			}
		}
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
func TestRunErrors(t *testing.T) {
	good := batch{
		scores: make([]float64, 6), gains: make([]float64, 6), discounts: []float64{1, .5},
		offsets: []int{0, 3, 6}, samples: 1, cutoff: 2, places: []int{0, 1, 3, 4},
	}
	for _, c := range []struct {
		change func(*batch)
		want   string
	}{
		{func(b *batch) { b.scores[4] = math.NaN() }, "query 1, row 4: the score is NaN"},
		{func(b *batch) { b.scores[0] = math.Inf(1) }, "query 0, row 0: the score is +Inf"},
		{func(b *batch) { b.offsets[1] = 9 }, "offsets[1] = 9 is outside of the 6 rows"},
		{func(b *batch) { b.offsets[2] = 2 }, "offsets[2] = 2 is below offsets[1] = 3"},
		{func(b *batch) { b.places[2] = 1 }, "query 1: ranking 0, place 0: entry 1 is no document of the list, which has rows 3 to 5"},
		{func(b *batch) { b.places[1] = 0 }, "query 0: ranking 0, place 1: entry 0 is placed twice"},
		{func(b *batch) { b.discounts = []float64{1, 1, 1} }, "draw rankings with a cutoff of 3"},
	} {
		b := good
		b.scores = append([]float64{}, good.scores...)
		b.offsets = append([]int{}, good.offsets...)
		b.places = append([]int{}, good.places...)
		c.change(&b)
		g := G.NewGraph()
		l, gains, rankings := b.nodes(g, tensor.Float64)
		perQuery, err := ops.PLRank2(l, gains, rankings, b.discounts)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = tape(G.Must(G.Sum(perQuery)), l.Scores); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
