package losses_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
)

// gorgonia builds LambdaLoss of Gorgonia's own ops, the mean over samples of noise; without noise, the deterministic one.
func gorgonia(t fataler, scores *G.Node, m, gains, discounts []float64, noise [][]float64) *G.Node {
	t.Helper()
	var sum *G.Node
	for i := range max(1, len(noise)) {
		noisy, ranked := scores, m
		if noise != nil {
			ranked, _ = noisyRanks(m, noise[i])
			noisy = G.Must(G.Add(scores, vector(scores.Graph(), "noise"+string(rune('a'+i)), tensor.Float64, noise[i])))
		}
		loss, err := losses.GorgoniaLambdaLoss(noisy, losses.LambdaPairs(ranked, gains, discounts))
		if err != nil {
			t.Fatal(err)
		}
		if loss = G.Must(G.Mul(loss, G.NewConstant(1/float64(max(1, len(noise)))))); sum != nil {
			loss = G.Must(G.Add(sum, loss))
		}
		sum = loss
	}
	return sum
}

// The baseline of Gorgonia's own ops has value and gradient of the op, with ties of scores and gains, cutoffs and noise.
func TestGorgoniaLambdaLossIsTheOp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		documents, cutoff := rapid.IntRange(1, 12).Draw(t, "documents"), rapid.IntRange(1, 14).Draw(t, "cutoff")
		numbers := func(what string, from ...float64) []float64 {
			return rapid.SliceOfN(rapid.SampledFrom(from), documents, documents).Draw(t, what)
		}
		m := numbers("scores", -1, 0, .5, .5, 20, 45.25, -300) // gaps beyond 19, where the derivative of Softplus is wrong
		gains := numbers("gains", 0, 0, 1, 3, 7)
		var noise [][]float64
		for range rapid.IntRange(0, 3).Draw(t, "samples") {
			noise = append(noise, numbers("noise", -.75, 0, .125, .125, 2.5))
		}
		discounts := metrics.Discounts(cutoff)

		g := G.NewGraph()
		b := losses.Batch{Lists: ops.Lists{Scores: vector(g, "scores", tensor.Float64, m)}, Discounts: discounts}
		b.Gains = vector(g, "gains", tensor.Float64, gains)
		name := "lambdaloss-deterministic"
		if noise != nil {
			name, b.Noise = "lambdaloss", vector(g, "noise", tensor.Float64, flat(noise))
		}
		want, slopes := differentiate(t, build(t, name, b), b.Lists.Scores)

		scores := vector(G.NewGraph(), "scores", tensor.Float64, m)
		value, gradient := differentiate(t, gorgonia(t, scores, m, gains, discounts, noise), scores)
		if math.Abs(value-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("%s: %v, the op has %v", name, value, want)
		}
		for d, v := range gradient {
			if math.Abs(v-slopes[d]) > 1e-12*(1+math.Abs(slopes[d])) {
				t.Errorf("%s: gradient[%d] is %v, the op has %v", name, d, v, slopes[d])
			}
		}
	})
}

// No op of the graph, forward or backward, is of this module.
func TestGorgoniaLambdaLossHasGorgoniasOps(t *testing.T) {
	m := []float64{.3, -.2, 1.1}
	scores := vector(G.NewGraph(), "scores", tensor.Float64, m)
	if _, err := G.Grad(gorgonia(t, scores, m, []float64{3, 0, 1}, []float64{1, .63}, nil), scores); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, n := range scores.Graph().AllNodes() {
		if n.Op() == nil {
			continue
		}
		kind := reflect.TypeOf(n.Op())
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if count++; kind.PkgPath() != "gorgonia.org/gorgonia" {
			t.Errorf("%v is an op of %s", n.Op(), kind.PkgPath())
		}
	}
	if count < 15 {
		t.Errorf("%d ops", count)
	}
}

// float32 has the same numbers as far as it goes.
func TestGorgoniaLambdaLossInFloat32(t *testing.T) {
	m, gains, discounts := []float64{.25, -.5, 1.125, 1.125}, []float64{3, 0, 1, 7}, metrics.Discounts(3)
	scores := vector(G.NewGraph(), "scores", tensor.Float32, m)
	loss, err := losses.GorgoniaLambdaLoss(scores, losses.LambdaPairs(m, gains, discounts))
	if err != nil {
		t.Fatal(err)
	}
	got, gradient := differentiate(t, loss, scores)
	f := one(m, []float64{2, 0, 1, 3}, 3)
	want, slopes := f.run(t, "lambdaloss-deterministic", nil, nil)
	for d, v := range append(gradient, got) {
		if math.Abs(v-append(slopes, want)[d]) > 1e-6*want {
			t.Errorf("%d: %v, in float64 %v", d, v, append(slopes, want)[d])
		}
	}
}

func TestPairsThatDoNotFitAreErrors(t *testing.T) {
	for want, p := range map[string]losses.Pairs{
		"a pair has document 3: there are 3":     {Better: []int{3}, Worse: []int{0}, Weights: []float64{1}},
		"a pair has document -1":                 {Better: []int{0}, Worse: []int{-1}, Weights: []float64{1}},
		"1 better and 0 worse documents for 1 w": {Better: []int{0}, Weights: []float64{1}},
	} {
		_, err := losses.GorgoniaLambdaLoss(vector(G.NewGraph(), "scores", tensor.Float64, make([]float64, 3)), p)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := losses.GorgoniaLambdaLoss(nil, losses.Pairs{}); err == nil || !strings.Contains(err.Error(), "no scores") {
		t.Errorf("error %v without scores", err)
	}
}
