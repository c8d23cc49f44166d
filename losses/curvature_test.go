package losses_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
)

// The curvature is the second derivative by finite differences of the gradient, or a bound of it.
func TestCurvatureIsTheSecondDerivativeOrABound(t *testing.T) {
	bounds := []string{"plrank-exact", "query-rmse", "exact-err", "exact-mrr", "exact-success", "exact-map", "exact-alpha-ndcg"}
	unlike := []string{"lambdaloss"} // which has no noise in its curvature
	for _, weights := range [][]float64{nil, {1, 4, 2, 1}} {
		s := newSmall()
		slopes := func(name string, scores []float64) []float64 {
			moved := s
			moved.scores = scores
			b := moved.batch()
			if weights != nil {
				b.DocumentWeights = vector(b.Lists.Scores.Graph(), "weights", tensor.Float64, weights)
			}
			if name == "listmle" { // by gain
				b.Rankings, b.Sampler = nil, ops.NewSampler(1, 4, 1)
			}
			f, err := losses.Parse("0.5*" + name)
			if err != nil {
				t.Fatal(err)
			}
			loss, err := losses.Mean(f, b)
			if err != nil {
				t.Fatal(err)
			}
			_, gradient := differentiate(t, loss, b.Lists.Scores)
			return gradient
		}
		known := 0
		for _, name := range losses.EntryNames() {
			terms, err := losses.Terms("0.5*" + name)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, 4)
			q := &losses.Query{Scores: s.scores, Gains: s.gains, Labels: s.labels, Discounts: s.discounts, Weights: weights,
				Intents: fixture{scores: s.scores}.intents()}
			has, err := terms[0].Curvature(q, got)
			if err != nil || has != terms[0].HasCurvature() || !has && slices.Max(got) > 0 {
				t.Errorf("%s: %t, %v, error %v", name, has, got, err)
			}
			if !has || terms[0].Sampled && name != "xe-ndcg" || slices.Contains(unlike, name) {
				continue
			}
			known++
			const h = 1e-4
			for d := range got {
				up, down := slices.Clone(s.scores), slices.Clone(s.scores)
				up[d] += h
				down[d] -= h
				want := (slopes(name, up)[d] - slopes(name, down)[d]) / (2 * h)
				if slices.Contains(bounds, name) && got[d] >= math.Abs(want) && got[d] > 0 {
					continue
				}
				if math.Abs(got[d]-want) > 1e-5*(1+math.Abs(want)) {
					t.Errorf("%s, weights %v, document %d: %v, want %v", name, weights, d, got[d], want)
				}
			}
		}
		if known < 19 {
			t.Errorf("%d losses", known)
		}
	}
}

// curvatureOf is the curvature of a loss of a query.
func curvatureOf(t *testing.T, name string, q query) []float64 {
	t.Helper()
	terms, err := losses.Terms(name)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(q.scores))
	known, err := terms[0].Curvature(&losses.Query{Scores: q.scores, Labels: q.labels, Intents: q.intents, Discounts: q.discounts}, out)
	if err != nil || !known {
		t.Fatal(name, known, err)
	}
	return out
}

// slopes are the first two derivatives, by differences, of what a policy is worth by the score of a document.
func (q query) slopes(d int, worth func(q query) float64) (first, second float64) {
	const h = 1e-3
	at := func(shift float64) float64 {
		moved := q
		moved.scores = slices.Clone(q.scores)
		moved.scores[d] += shift
		return worth(moved)
	}
	return (at(h) - at(-h)) / (2 * h), (at(h) - 2*at(0) + at(-h)) / (h * h)
}

// Where every rank counts, the curvatures of cascades bound the second derivatives over all rankings, and the one of average
// precision has the size of the derivative twice, but for what a relevant document is worth alone.
func TestCurvatureOfCascadesBoundsTheSecondDerivative(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	of := cascadeLosses(t)
	for documents := 1; documents <= 6; documents++ {
		q := query{discounts: metrics.Discounts(documents)}
		for range documents {
			q.scores, q.labels = append(q.scores, 2*rng.NormFloat64()), append(q.labels, float64(rng.IntN(4)/2*rng.IntN(3)))
			q.intents = append(q.intents, rng.IntN(8))
		}
		all := 0.0
		for _, label := range q.labels {
			all += min(label, 1)
		}
		for _, name := range []string{"exact-mrr", "exact-map", "exact-err", "exact-success", "exact-alpha-ndcg"} {
			for d, c := range curvatureOf(t, name, q) {
				lambda, second := q.slopes(d, of[name])
				if !(math.Abs(second) <= c+1e-3) {
					t.Errorf("%s, %d documents: the second derivative by document %d is %v, but the curvature %v", name, documents, d, second, c)
				}
				if name != "exact-map" {
					continue
				}
				alone, _ := q.slopes(d, func(q query) float64 {
					return q.expected(t, func(y []int) (sum float64) {
						for k, d := range y {
							sum += min(q.labels[d], 1) / float64(k+1) / max(all, 1)
						}
						return sum
					})
				})
				if want := 2*math.Abs(lambda) - math.Abs(alone); math.Abs(c-want) > 1e-3 {
					t.Errorf("%s, %d documents: the curvature of document %d is %v, want %v", name, documents, d, c, want)
				}
			}
		}
	}
}

// Two documents of one intent are worth the same in any order; each loses what a swap would, and wins as much.
func TestCurvatureOfAlphaNDCGByHand(t *testing.T) {
	q := query{scores: []float64{.3, -.4}, labels: []float64{0, 0}, intents: []int{2, 2}, discounts: metrics.Discounts(2)}
	p := 1 / (1 + math.Exp(-.7))
	for name, alpha := range map[string]float64{"exact-alpha-ndcg": .5, "exact-alpha-ndcg(1)": 1, "exact-alpha-ndcg(.1)": .1} {
		second := (1 - alpha) / math.Log2(3)
		for d, c := range curvatureOf(t, name, q) {
			if want := 2 * (1 - second) / (1 + second) * p * (1 - p); math.Abs(c-want) > 1e-3 {
				t.Errorf("%s, document %d: %v, want %v", name, d, c, want)
			}
		}
	}
	q.intents = []int{0, 0}
	if c := curvatureOf(t, "exact-alpha-ndcg", q); c[0] != 0 || c[1] != 0 {
		t.Errorf("without intents: %v", c)
	}
}
