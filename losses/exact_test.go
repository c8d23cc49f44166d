package losses_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// exactLosses are those without samples, with what the loss of a query is at its
// expectations by enumeration.
func exactLosses() map[string]func(q exactQuery) float64 {
	exact := map[string]func(q exactQuery) float64{
		"plrank-exact": func(q exactQuery) float64 { return -q.Reward },
	}
	for name, measure := range fairness {
		exact[name] = func(q exactQuery) float64 { return measure(q.query, q.Exposure) }
	}
	return exact
}

// The exact losses have value and gradient of the expectations over all rankings,
// the gradient by finite differences of them.
func TestExactLossesAreExpectationsOverAllRankings(t *testing.T) {
	for name, lossOf := range exactLosses() {
		f := newFixture(normal)
		f.discounts = f.discounts[:3]
		value := func() float64 {
			sum := 0.0
			for _, q := range []int{0, 2, 3, 4} {
				sum += lossOf(f.exact(t, q)) / 4
			}
			return sum
		}
		want := value()
		for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-6, tensor.Float32: 1e-5} {
			b := f.batch(dt)
			got, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
			if math.Abs(got-want) > tolerance*(1+math.Abs(want)) {
				t.Errorf("%s, %v: %v, by enumeration %v", name, dt, got, want)
			}
			size := 1.0
			for _, x := range gradient {
				size = max(size, math.Abs(x))
			}
			for d := range f.offsets[4] {
				const h = 1e-4
				m := f.scores[d]
				f.scores[d] = m + h
				up := value()
				f.scores[d] = m - h
				down := value()
				f.scores[d] = m
				if slope := (up - down) / (2 * h); math.Abs(gradient[d]-slope) > 2*tolerance*size {
					t.Errorf("%s, %v: gradient[%d] is %v, by enumeration %v", name, dt, d, gradient[d], slope)
				}
			}
		}
	}
}

// Where every rank counts, the exact losses and their gradients follow from exposures rank by rank,
// which take sweeps where the losses take products.
func TestExactLossesWhereEveryRankCounts(t *testing.T) {
	const documents = 40
	rng := rand.New(rand.NewPCG(6, 6))
	f := fixture{offsets: []int{0, documents}, discounts: metrics.Discounts(documents)}
	for d := range documents {
		label := float64(rng.IntN(4))
		f.scores, f.labels, f.gains = append(f.scores, rng.NormFloat64()), append(f.labels, label), append(f.gains, math.Exp2(label)-1)
		f.groups = append(f.groups, d%3)
	}
	e := plackett.Expectation{Tolerance: 1e-12}
	placements := make([]float64, documents*documents)
	value := func(lossOf func(q exactQuery) float64) float64 {
		if err := e.Placements(f.scores, documents, placements); err != nil || e.Terms() > 0 {
			t.Fatalf("%d terms, %v", e.Terms(), err)
		}
		q := exactQuery{query: f.query(0)}
		for d := range documents {
			q.Exposure = append(q.Exposure, floats.Dot(f.discounts, placements[d*documents:(d+1)*documents]))
		}
		q.Reward = floats.Dot(f.gains, q.Exposure)
		return lossOf(q)
	}
	for name, lossOf := range exactLosses() {
		want := value(lossOf)
		b := f.batch(tensor.Float64)
		got, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
		if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("%s: %v, by placements %v", name, got, want)
		}
		for _, d := range []int{0, 17} {
			const h = 1e-3
			m := f.scores[d]
			f.scores[d] = m + h
			up := value(lossOf)
			f.scores[d] = m - h
			down := value(lossOf)
			f.scores[d] = m
			if slope := (up - down) / (2 * h); math.Abs(gradient[d]-slope) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s: gradient[%d] is %v, by placements %v", name, d, gradient[d], slope)
			}
		}
	}
}
