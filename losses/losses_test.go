package losses_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/plackett"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
)

func dense(dt tensor.Dtype, x []float64) *tensor.Dense {
	if dt == tensor.Float64 {
		return tensor.New(tensor.WithShape(len(x)), tensor.WithBacking(append([]float64{}, x...)))
	}
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return tensor.New(tensor.WithShape(len(x)), tensor.WithBacking(y))
}

func vector(g *G.ExprGraph, name string, dt tensor.Dtype, x []float64) *G.Node {
	return G.NewVector(g, dt, G.WithName(name), G.WithShape(len(x)), G.WithValue(dense(dt, x)))
}

func ints(g *G.ExprGraph, name string, x []int, shape ...int) *G.Node {
	t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(append([]int{}, x...)))
	return G.NewTensor(g, tensor.Int, len(shape), G.WithName(name), G.WithShape(shape...), G.WithValue(t))
}

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

// differentiate runs a graph on the tape machine.
func differentiate(t *testing.T, loss, scores *G.Node) (float64, []float64) {
	t.Helper()
	grads, err := G.Grad(loss, scores)
	if err != nil {
		t.Fatal(err)
	}
	var value, gradient G.Value
	G.Read(loss, &value)
	G.Read(grads[0], &gradient)
	vm := G.NewTapeMachine(loss.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	return numbers(value)[0], numbers(gradient)
}

// lispGradient is the gradient by the Lisp machine.
func lispGradient(t *testing.T, loss, scores *G.Node) []float64 {
	t.Helper()
	vm := G.NewLispMachine(loss.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	gradient, err := scores.Grad()
	if err != nil {
		t.Fatal(err)
	}
	return numbers(gradient)
}

func flat(rows [][]float64) (x []float64) {
	for _, r := range rows {
		x = append(x, r...)
	}
	return x
}

// TestGolden runs the independent test vectors: every loss on given rankings, and
// LambdaLoss on given noise.
func TestGolden(t *testing.T) {
	data, err := os.ReadFile("../../shared/golden/estimators.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the independent vectors shared/golden are not beside this project; TestLambdaLossDefinition and the tests of ops cover the same ground")
	}
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name                  string
			D, K, N               int
			Dtype                 string
			Theta, Labels, Scores []float64
			Rankings              [][]int
			Scale                 float64
			Truth                 map[string][]float64
			Gumbel                [][]float64
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	type build func(ops.Lists, *G.Node, *G.Node, []float64) (*G.Node, error)
	onRankings := map[string]build{
		"plrank1": losses.PLRank1, "plrank2": losses.PLRank2, "plrank_rb": losses.PLRankRB,
		"policy_gradient": losses.PolicyGradient, "placement": losses.PlacementPolicyGradient,
	}
	for _, c := range file.Cases {
		dt, tolerance := tensor.Float64, 1e-13
		if c.Dtype == "float32" {
			dt, tolerance = tensor.Float32, 2e-6
		}
		c.Truth["placement"] = c.Truth["plrank1"]
		check := func(name string, gradient []float64) {
			for d, want := range c.Truth[name] {
				// The truth is the direction of ascent.
				if diff := math.Abs(-gradient[d]-want) / c.Scale; !(diff <= tolerance) {
					t.Errorf("%s: %s: −gradient[%d] = %v, want %v: off by %.2g of scale", c.Name, name, d, -gradient[d], want, diff)
				}
			}
		}
		for name, f := range onRankings {
			g := G.NewGraph()
			l := ops.Lists{Scores: vector(g, "scores", dt, c.Scores)}
			loss, err := f(l, vector(g, "gains", dt, c.Labels), ints(g, "rankings", slices.Concat(c.Rankings...), 1, c.N, c.D), c.Theta)
			if err != nil {
				t.Fatal(err)
			}
			_, gradient := differentiate(t, loss, l.Scores)
			check(name, gradient)
		}
		if c.Gumbel == nil {
			continue
		}
		g := G.NewGraph()
		l := ops.Lists{Scores: vector(g, "scores", dt, c.Scores)}
		loss, err := losses.LambdaLoss(l, vector(g, "gains", dt, c.Labels), vector(g, "noise", dt, flat(c.Gumbel)), c.Theta)
		if err != nil {
			t.Fatal(err)
		}
		_, gradient := differentiate(t, loss, l.Scores)
		check("lambdaloss", gradient)
	}
}

// lambdaLoss is the loss of one query from its definition, over all pairs.
func lambdaLoss(scores, gains, discounts []float64, noise [][]float64) float64 {
	theta := func(k int) float64 { // ranks from 1
		if k <= len(discounts) {
			return discounts[k-1]
		}
		return 0
	}
	sum := 0.0
	for _, z := range noise {
		hat := make([]float64, len(scores))
		rank := make([]int, len(scores))
		for d := range scores {
			hat[d] = scores[d] + z[d]
		}
		for i := range hat {
			for j := range hat {
				if hat[j] > hat[i] || hat[j] == hat[i] && j < i {
					rank[i]++
				}
			}
		}
		for i := range hat {
			for j := range hat {
				if gains[i] > gains[j] {
					delta := rank[i] - rank[j]
					if delta < 0 {
						delta = -delta
					}
					sum += (theta(delta) - theta(delta+1)) * (gains[i] - gains[j]) * math.Log2(1+math.Exp(hat[j]-hat[i]))
				}
			}
		}
	}
	return sum / float64(len(noise))
}

// A packed batch with an empty query, a query of one document, padding, and a
// sample that is absent, against the definition and by finite differences.
func TestLambdaLossDefinition(t *testing.T) {
	offsets := []int{0, 7, 7, 8, 19}
	const rows, samples = 21, 3
	rng := rand.New(rand.NewPCG(2, 2))
	scores, gains := make([]float64, rows), make([]float64, rows)
	for d := range scores {
		scores[d] = rng.NormFloat64()
		gains[d] = float64(rng.IntN(4))
	}
	noise := make([]float64, (samples+1)*rows)
	for i := range noise {
		noise[i] = 3 * rng.NormFloat64()
		if i >= samples*rows {
			noise[i] = math.NaN() // absent
		}
	}
	discounts := []float64{1, .63, .5, .43}
	graph := func() (loss, s *G.Node) {
		g := G.NewGraph()
		l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, scores), Offsets: ints(g, "offsets", offsets, len(offsets))}
		loss, err := losses.LambdaLoss(l, vector(g, "gains", tensor.Float64, gains), vector(g, "noise", tensor.Float64, noise), discounts)
		if err != nil {
			t.Fatal(err)
		}
		return loss, l.Scores
	}
	definition := func() float64 {
		sum := 0.0
		for q := range len(offsets) - 1 {
			from, to := offsets[q], offsets[q+1]
			var z [][]float64
			for i := range samples {
				z = append(z, noise[i*rows+from:i*rows+to])
			}
			sum += lambdaLoss(scores[from:to], gains[from:to], discounts, z)
		}
		return sum / 3 // queries with documents
	}
	loss, s := graph()
	value, gradient := differentiate(t, loss, s)
	if want := definition(); math.Abs(value-want) > 1e-12*want {
		t.Errorf("loss %v, the definition gives %v", value, want)
	}
	loss, s = graph()
	other := lispGradient(t, loss, s)
	for d := range scores {
		const h = 1e-6 // no rank changes within that
		m := scores[d]
		scores[d] = m + h
		up := definition()
		scores[d] = m - h
		down := definition()
		scores[d] = m
		if want := (up - down) / (2 * h); math.Abs(gradient[d]-want) > 1e-7 || math.Abs(gradient[d]-other[d]) > 1e-12 {
			t.Errorf("gradient[%d] = %v by tape, %v by Lisp, %v by differences", d, gradient[d], other[d], want)
		}
	}
}

// The gradients of the losses for the expected metric have it as expectation: all
// rankings of a small list, weighted by their probability. The REINFORCE losses
// have no other meaning.
func TestUnbiased(t *testing.T) {
	scores, gains, theta := []float64{.3, -1, 1.2, 0}, []float64{3, 0, 1, 7}, []float64{1, .63, .5}
	exact, err := plackett.Exact(scores, gains, theta)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(ops.Lists, *G.Node, *G.Node, []float64) (*G.Node, error){
		"PLRank1": losses.PLRank1, "PLRank2": losses.PLRank2, "PLRankRB": losses.PLRankRB,
		"PolicyGradient": losses.PolicyGradient, "PlacementPolicyGradient": losses.PlacementPolicyGradient,
	} {
		mean := make([]float64, len(scores))
		err := plackett.Enumerate(scores, len(theta), func(y []int, p float64) {
			g := G.NewGraph()
			l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, scores)}
			loss, err := f(l, vector(g, "gains", tensor.Float64, gains), ints(g, "rankings", y, 1, 1, len(y)), theta)
			if err != nil {
				t.Fatal(err)
			}
			_, gradient := differentiate(t, loss, l.Scores)
			for d := range mean {
				mean[d] -= p * gradient[d]
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for d := range mean {
			if math.Abs(mean[d]-exact.Gradient[d]) > 1e-13 {
				t.Errorf("%s: E[−gradient][%d] = %v, want %v", name, d, mean[d], exact.Gradient[d])
			}
		}
	}
}

// Every loss of the registry, with its own samples, through everything that
// happens to a batch: empty queries, one document, D < K, all gains zero, ties,
// scores of ±500, padding. No NaN, no gradient for padding, and for the same
// seed the same numbers.
func TestAllLosses(t *testing.T) {
	offsets := []int{0, 3, 3, 4, 10, 20}
	const rows = 24
	rng := rand.New(rand.NewPCG(4, 4))
	for _, scores := range map[string]func(d int) float64{
		"normal": func(int) float64 { return rng.NormFloat64() },
		"ties":   func(int) float64 { return 2 },
		"huge":   func(d int) float64 { return 500 - 1000*float64(d%2) },
	} {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			m, gains := make([]float64, rows), make([]float64, rows)
			for d := range m {
				m[d] = scores(d)
				if d < 10 || d >= 20 { // all gains of the last query are zero
					gains[d] = float64(rng.IntN(3))
				}
			}
			for _, name := range losses.Names() {
				f, err := losses.ByName(name)
				if err != nil {
					t.Fatal(err)
				}
				var first []float64
				for range 2 {
					s := ops.NewSampler(8, 5, 1)
					if err := s.SetSamples(6); err != nil {
						t.Fatal(err)
					}
					g := G.NewGraph()
					l := ops.Lists{Scores: vector(g, "scores", dt, m), Offsets: ints(g, "offsets", offsets, len(offsets))}
					loss, err := f(losses.Batch{Lists: l, Gains: vector(g, "gains", dt, gains), Sampler: s, Discounts: []float64{1, .63, .5, .43, .39}})
					if err != nil {
						t.Fatal(err)
					}
					value, gradient := differentiate(t, loss, l.Scores)
					if math.IsNaN(value) || math.IsInf(value, 0) {
						t.Errorf("%s: loss %v", name, value)
					}
					for d, x := range gradient {
						if math.IsNaN(x) || math.IsInf(x, 0) || d >= 20 && x != 0 || d == 3 && math.Abs(x) > 1e-6 {
							t.Errorf("%s: gradient[%d] = %v (row 3 is alone in its query, rows from 20 on are padding)", name, d, x)
						}
					}
					if first == nil {
						first = gradient
					} else if !slices.Equal(first, gradient) {
						t.Errorf("%s: the same seed gives other gradients", name)
					}
				}
			}
		}
	}
}

// Gradient descent on each loss raises the exact expected metric.
func TestDescent(t *testing.T) {
	gains, theta := []float64{0, 3, 1, 0, 7}, []float64{1, .63, .5}
	for _, name := range losses.Names() {
		f, err := losses.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		scores := make([]float64, len(gains))
		before, err := plackett.Exact(scores, gains, theta)
		if err != nil {
			t.Fatal(err)
		}
		s := ops.NewSampler(20, 3, 1)
		for range 60 {
			g := G.NewGraph()
			l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, scores)}
			loss, err := f(losses.Batch{Lists: l, Gains: vector(g, "gains", tensor.Float64, gains), Sampler: s, Discounts: theta})
			if err != nil {
				t.Fatal(err)
			}
			_, gradient := differentiate(t, loss, l.Scores)
			for d := range scores {
				scores[d] -= .1 * gradient[d]
			}
		}
		after, err := plackett.Exact(scores, gains, theta)
		if err != nil {
			t.Fatal(err)
		}
		ideal := 7*1 + 3*.63 + 1*.5
		if after.Reward < before.Reward+.6*(ideal-before.Reward) {
			t.Errorf("%s: expected metric %v after descent, from %v; the ideal is %v", name, after.Reward, before.Reward, ideal)
		}
	}
}

func TestByName(t *testing.T) {
	if _, err := losses.ByName("plrank3"); err == nil || !strings.Contains(err.Error(), "plrank-rb") {
		t.Errorf("error %v, want one that lists the names", err)
	}
	want := []string{"lambdaloss", "placement-policy-gradient", "plrank-rb", "plrank1", "plrank2", "policy-gradient"}
	if got := losses.Names(); !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
}

// Documents that tie, without noise, are pulled apart: the slope of log2(1 + e^z) at
// 0 is 1/(2 ln 2).
func TestLambdaLossTies(t *testing.T) {
	g := G.NewGraph()
	l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, []float64{2, 2})}
	loss, err := losses.LambdaLoss(l, vector(g, "gains", tensor.Float64, []float64{0, 1}), vector(g, "noise", tensor.Float64, []float64{0, 0}), []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	_, gradient := differentiate(t, loss, l.Scores)
	if want := 1 / (2 * math.Ln2); math.Abs(gradient[0]-want) > 1e-15 || math.Abs(gradient[1]+want) > 1e-15 {
		t.Errorf("gradient %v, want %v and its negative", gradient, want)
	}
}
