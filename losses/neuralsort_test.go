package losses_test

import (
	"fmt"
	"math"
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
