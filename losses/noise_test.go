package losses_test

import (
	"math"
	"math/rand/v2"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// The losses on noise from their definitions, for one query and its noise by sample.
var noisy = map[string]func(q query, noise [][]float64) float64{
	"lambdaloss": func(q query, noise [][]float64) float64 {
		return lambdaLoss(q.scores, q.gains, q.discounts, noise)
	},
	"xe-ndcg": func(q query, noise [][]float64) float64 {
		if q.ideal() == 0 {
			return 0
		}
		sum, p := 0.0, softmax(q.scores)
		for _, z := range noise {
			phi, all := make([]float64, len(z)), 0.0
			for d := range z {
				gamma := 1 - math.Exp(-math.Exp(-z[d]))
				phi[d] = math.Exp2(q.labels[d]) - gamma
				all += phi[d]
			}
			for d := range z {
				sum -= phi[d] / all * math.Log(p[d])
			}
		}
		return sum / float64(len(noise))
	},
	"gumbel-approxndcg": func(q query, noise [][]float64) float64 {
		sum := 0.0
		for _, z := range noise {
			hat := q
			hat.scores = make([]float64, len(z))
			for d := range z {
				hat.scores[d] = q.scores[d] + z[d]
			}
			sum += definitions["approxndcg"](hat)
		}
		return sum / float64(len(noise))
	},
}

// The losses on given noise, with one sample absent, against their definitions and by
// finite differences, on both machines.
func TestLossesOnNoiseHaveTheirDefinitions(t *testing.T) {
	const rows, samples = 24, 3
	rng := rand.New(rand.NewPCG(2, 2))
	noise := make([]float64, (samples+1)*rows)
	for i := range noise {
		noise[i] = 3 * rng.NormFloat64()
		if i >= samples*rows {
			noise[i] = math.NaN() // absent
		}
	}
	for name, lossOf := range noisy {
		f := newFixture(normal)
		graph := func() (loss, scores *G.Node) {
			b := f.batch(tensor.Float64)
			b.Noise = vector(b.Lists.Scores.Graph(), "noise", tensor.Float64, noise)
			return build(t, name, b), b.Lists.Scores
		}
		definition := func() float64 {
			sum := 0.0
			for q := range len(f.offsets) - 1 {
				from, to := f.offsets[q], f.offsets[q+1]
				if from == to {
					continue
				}
				var z [][]float64
				for i := range samples {
					z = append(z, noise[i*rows+from:i*rows+to])
				}
				sum += lossOf(f.query(q), z)
			}
			return sum / 4 // queries with documents
		}
		loss, scores := graph()
		value, gradient := differentiate(t, loss, scores)
		if want := definition(); math.Abs(value-want) > 1e-12*math.Abs(want) {
			t.Errorf("%s: %v, the definition gives %v", name, value, want)
		}
		loss, scores = graph()
		other := lispGradient(t, loss, scores)
		for d, m := range f.scores {
			const h = 1e-5 // no rank changes within that
			f.scores[d] = m + h
			up := definition()
			f.scores[d] = m - h
			down := definition()
			f.scores[d] = m
			if want := (up - down) / (2 * h); math.Abs(gradient[d]-want) > 1e-8 || math.Abs(gradient[d]-other[d]) > 1e-12 {
				t.Errorf("%s: gradient[%d] = %v by tape, %v by Lisp, %v by differences", name, d, gradient[d], other[d], want)
			}
		}
	}
}

// Without noise the stochastic losses are the deterministic ones.
func TestStochasticLossesWithoutNoiseAreTheDeterministicOnes(t *testing.T) {
	f := newFixture(normal)
	for stochastic, deterministic := range map[string]string{"lambdaloss": "lambdaloss-deterministic", "gumbel-approxndcg": "approxndcg"} {
		b := f.batch(tensor.Float64)
		b.Noise = vector(b.Lists.Scores.Graph(), "noise", tensor.Float64, make([]float64, 24))
		value, gradient := differentiate(t, build(t, stochastic, b), b.Lists.Scores)
		b = f.batch(tensor.Float64)
		want, slope := differentiate(t, build(t, deterministic, b), b.Lists.Scores)
		if !close12(value, want) {
			t.Errorf("%s: %v without noise, %s is %v", stochastic, value, deterministic, want)
		}
		for d := range slope {
			if !close12(gradient[d], slope[d]) {
				t.Errorf("%s: gradient[%d] = %v without noise, of %s %v", stochastic, d, gradient[d], deterministic, slope[d])
			}
		}
	}
}

// XE-NDCG bounds −log NDCG: it is not below that
// where there is no noise, γ = 1 (Bruch 2021: 1/log2(1+r) ≥ 1/r ≥ p, and Jensen's inequality).
func TestXENDCGBoundsMinusLogNDCG(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "documents")
		labels, scores, noise := make([]float64, n), make([]float64, n), make([]float64, n)
		for d := range labels {
			labels[d] = float64(rapid.IntRange(0, 4).Draw(t, "label"))
			scores[d] = rapid.Float64Range(-3, 3).Draw(t, "score")
			noise[d] = -10 // u = 0
		}
		labels[0] = max(labels[0], 1)
		f := one(scores, labels, n)
		b := f.batch(tensor.Float64)
		b.Noise = vector(b.Lists.Scores.Graph(), "noise", tensor.Float64, noise)
		value, _ := differentiate(t, build(t, "xe-ndcg", b), b.Lists.Scores)
		if q := f.query(0); value < -math.Log(1-q.missing())-1e-12 {
			t.Errorf("loss %v, NDCG %v", value, 1-q.missing())
		}
	})
}
