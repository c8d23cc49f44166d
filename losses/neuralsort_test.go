package losses_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// neuralNDCG is the NDCG of NeuralSort's matrix after 50 rounds of Sinkhorn scaling, from
// its definition.
func neuralNDCG(q query, temperature float64) float64 {
	n, ideal := len(q.scores), q.ideal()
	if ideal == 0 {
		return 0
	}
	p := make([][]float64, n)
	for k := range p {
		p[k] = make([]float64, n)
		for d, m := range q.scores {
			p[k][d] = float64(n-1-2*k) * m / temperature
			for _, other := range q.scores {
				p[k][d] -= math.Abs(m-other) / temperature
			}
		}
		p[k] = softmax(p[k])
	}
	for range 50 {
		for d := range n {
			sum := 0.0
			for k := range n {
				sum += p[k][d]
			}
			for k := range n {
				p[k][d] /= sum
			}
		}
		for k := range n {
			sum := 0.0
			for d := range n {
				sum += p[k][d]
			}
			for d := range n {
				p[k][d] /= sum
			}
		}
	}
	dcg := 0.0
	for k := range n {
		for d := range n {
			dcg += q.theta(k+1) * p[k][d] * q.gains[d]
		}
	}
	return dcg / ideal
}

// At a low temperature NeuralNDCG is NDCG, for scores that are apart; with equal scores
// all documents have every rank with the same chance; it is never above 1, where it
// converges.
func TestNeuralNDCGIsNDCGAtALowTemperature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "documents")
		scores, labels := make([]float64, n), make([]float64, n)
		for d := range scores {
			labels[d] = float64(rapid.IntRange(0, 4).Draw(t, "label"))
		}
		labels[0] = max(labels[0], 1)
		for d, place := range rapid.Permutation(labels).Draw(t, "order") {
			scores[d] = float64(d) + place/10
		}
		f := one(scores, labels, rapid.IntRange(1, 10).Draw(t, "cutoff"))
		value := func(temperature float64) float64 {
			b := f.batch(tensor.Float64)
			v, _ := differentiate(t, build(t, fmt.Sprintf("neuralndcg(%v)", temperature), b), b.Lists.Scores)
			return -v
		}
		q := f.query(0)
		if got, want := value(.01), 1-q.missing(); math.Abs(got-want) > 1e-9 {
			t.Errorf("temperature .01: %v, NDCG is %v", got, want)
		}
		if got := value(10); got > 1+1e-9 {
			t.Errorf("temperature 10: %v", got)
		}
		for d := range scores {
			scores[d] = 3
		}
		sum, theta := 0.0, 0.0
		for d, gain := range f.gains {
			sum += gain
			theta += q.theta(d + 1)
		}
		if got, want := value(1), sum*theta/float64(n)/q.ideal(); math.Abs(got-want) > 1e-12 {
			t.Errorf("equal scores: %v, want %v", got, want)
		}
	})
}

// The derivative goes through all rounds of the scaling, also where scores that are symmetric about
// their mean have the right sums after a few.
func TestNeuralNDCGHasTheDerivativeOfAllRounds(t *testing.T) {
	slope := func(scores, gains []float64, temperature float64) []float64 {
		f := one(scores, gains, len(scores))
		f.gains = gains
		_, gradient := func() (float64, []float64) {
			b := f.batch(tensor.Float64)
			return differentiate(t, build(t, fmt.Sprintf("neuralndcg(%v)", temperature), b), b.Lists.Scores)
		}()
		return gradient
	}
	if got := slope([]float64{.39, .531, -.39, -.531}, []float64{1, 1, 0, 0}, .3); math.Abs(got[0]+.0128) > 5e-5 {
		t.Errorf("gradient %v, want -.0128 first", got)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 3, 4, 5, 6, 9, 12, 20} {
		for _, temperature := range []float64{.1, .3, 1, 4} {
			for range 3 {
				scores, gains := make([]float64, n), make([]float64, n)
				for d := range n {
					scores[d] = rng.NormFloat64()
					if d >= (n+1)/2 {
						scores[d] = -scores[n-1-d]
					} else if 2*d == n-1 {
						scores[d] = 0
					}
					gains[d] = float64(rng.IntN(4))
				}
				got := slope(scores, gains, temperature)
				q := one(scores, gains, n).query(0)
				q.gains = gains
				for d, m := range scores {
					// Richardson's extrapolation of central differences.
					central := func(h float64) float64 {
						q.scores = slices.Clone(scores)
						q.scores[d] = m + h
						up := neuralNDCG(q, temperature)
						q.scores[d] = m - h
						return (neuralNDCG(q, temperature) - up) / (2 * h)
					}
					h := 1e-4 * min(1, temperature)
					want := (4*central(h/2) - central(h)) / 3
					if math.Abs(got[d]-want) > 1e-8*(1+math.Abs(want)) {
						t.Errorf("%d documents, temperature %v, scores %v, gains %v: gradient[%d] is %v, by differences %v", n, temperature, scores, gains, d, got[d], want)
					}
				}
			}
		}
	}
}

// A run returns an error before it makes a matrix of all pairs that would not fit into memory.
func TestNeuralNDCGOfTooManyDocumentsIsAnError(t *testing.T) {
	f := one(make([]float64, 5001), make([]float64, 5001), 10)
	_, err := evaluated(build(t, "neuralndcg", f.batch(tensor.Float64)))
	if err == nil || !strings.Contains(err.Error(), "query 0: 5001 documents") || !strings.Contains(err.Error(), "use pirank") {
		t.Errorf("error %v", err)
	}
}
