package fusion

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plrank/plrank/metrics"
)

var missing = math.NaN()

// All numbers by hand: scores 6, 2, 4, of three of four documents, have the mean 4, the standard deviation 2, and the norm √56.
func TestFormsByHand(t *testing.T) {
	scores := []float64{6, missing, 2, 4}
	for form, want := range map[Form][]float64{
		MinMax: {1, 0, 0, 0.5}, L2: {6 / math.Sqrt(56), 0, 2 / math.Sqrt(56), 4 / math.Sqrt(56)}, ZScore: {1, 0, 0.001, 0.001},
		DBSF: {4. / 6, 0, 2. / 6, 0.5}, Reciprocal: {1. / 61, 0, 1. / 63, 1. / 62},
	} {
		got := form.Features(scores, 60)
		for d := range want {
			if math.Abs(got[d]-want[d]) > 1e-15 {
				t.Errorf("%s: %v, want %v", form, got, want)
			}
		}
		if got := form.Features([]float64{missing, missing}, 60); !slices.Equal(got, []float64{0, 0}) {
			t.Errorf("%s of nothing: %v", form, got)
		}
		for _, equal := range [][]float64{{3, missing, 3}, {0, missing, 0}, {-2, missing, missing}} {
			for d, x := range form.Features(equal, 60) {
				if math.IsNaN(x) || math.IsInf(x, 0) || math.IsNaN(equal[d]) != (x == 0) {
					t.Errorf("%s of %v: document %d has %v", form, equal, d, x)
				}
			}
		}
	}
	if ranks := Ranks([]float64{1, 5, missing, 1, 7}); !slices.Equal(ranks, []int{3, 2, 0, 4, 1}) {
		t.Errorf("ranks %v", ranks)
	}
}

// The sum of reciprocal ranks by hand: a is first and third, b second and first, c third in one run.
func TestRRFByHand(t *testing.T) {
	q := &Query{Scores: [][]float64{{9, 8, 7, missing}, {1, 3, missing, 2}}, Gains: make([]float64, 4)}
	got := Weights{Form: Reciprocal, K: 60, Runs: []float64{0.5, 0.5}}.Scores(q)
	for d, want := range []float64{1./61 + 1./63, 1./62 + 1./61, 1. / 63, 1. / 62} {
		if math.Abs(2*got[d]-want) > 1e-15 {
			t.Errorf("document %d has %v, want %v", d, 2*got[d], want)
		}
	}
}

// collection makes queries with a relevant document in five. Run r scores it higher by signal[r] standard deviations of noise, and
// lacks a document in ten.
func collection(queries, documents int, signal ...float64) (list []*Query) {
	rng := rand.New(rand.NewPCG(3, 4))
	discounts := metrics.Discounts(10)
	for range queries {
		q := &Query{ID: "q"}
		for range documents {
			q.Gains = append(q.Gains, float64(rng.IntN(5)/4))
		}
		q.Gains[0] = 1
		for r, s := range signal {
			run := make([]float64, documents)
			for d := range run {
				if run[d] = float64(10*r) + s*q.Gains[d] + rng.NormFloat64(); rng.IntN(10) == 0 {
					run[d] = missing
				}
			}
			q.Scores = append(q.Scores, run)
		}
		best := metrics.IdealDCG(q.Gains, discounts)
		for d := range q.Gains {
			q.Gains[d] /= best
		}
		list = append(list, q)
	}
	return list
}

// The gradient agrees with central differences, for every form, and so in k, the temperature and the draw to equal weights.
func TestGradientIsTheSlope(t *testing.T) {
	queries := collection(4, 12, 1, 0.5, 0)
	for _, form := range Forms {
		o := newObjective(context.Background(), form, 0.3, queries, metrics.Discounts(5))
		o.expected.Tolerance = 1e-12
		u := o.start()
		for i := range u {
			u[i] += 0.2 * float64(i%3)
		}
		grad := make([]float64, len(u))
		if _, err := o.value(u, grad); err != nil {
			t.Fatal(err)
		}
		for i := range u {
			const h = 1e-4
			var ends [2]float64
			for e, sign := range []float64{-1, 1} {
				at := slices.Clone(u)
				at[i] += sign * h
				ends[e], _ = o.value(at, nil)
			}
			if slope := (ends[1] - ends[0]) / (2 * h); math.Abs(slope-grad[i]) > 1e-7 {
				t.Errorf("%s: parameter %d has the gradient %v, want %v", form, i, grad[i], slope)
			}
		}
	}
}

// maximise finds the top of a quadratic function, (−1, 2), with the value 5.
func TestMaximiseFindsTheTop(t *testing.T) {
	u, err := maximise([]float64{3, 3}, func(u, grad []float64) (float64, error) {
		x, y := u[0]+1, u[1]-2
		grad[0], grad[1] = -2*x-y, -x-4*y
		return 5 - x*x - x*y - 2*y*y, nil
	})
	if err != nil || math.Abs(u[0]+1) > 0.01 || math.Abs(u[1]-2) > 0.01 {
		t.Errorf("%v, %v", u, err)
	}
}

// Of two runs with the same signal and one of noise, the noise gets almost no weight, and the others similar ones. No weight is negative,
// also where a run ranks relevant documents last.
func TestNoiseGetsNoWeight(t *testing.T) {
	for _, c := range []struct {
		signal []float64
		most   float64
	}{{[]float64{1.5, 1.5, 0}, 0.1}, {[]float64{1.5, 1.5, -1}, 0.01}} {
		m, err := Learn(context.Background(), collection(60, 25, c.signal...), metrics.Discounts(10), 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range append(m.Forms, m.Held...) {
			sum := 0.0
			for _, weight := range w.Runs {
				if sum += weight; !(weight >= 0) {
					t.Errorf("%v: the weights are %v", c.signal, w.Runs)
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("%v: the weights have the sum %v", c.signal, sum)
			}
		}
		if w := m.Runs; w[2] > c.most || math.Abs(w[0]-w[1]) > 0.3 {
			t.Errorf("%v: the weights are %v by %s", c.signal, w, m.Form)
		}
	}
}

// The weights for a fold do not depend on its queries.
func TestHeldOutQueriesDoNotCount(t *testing.T) {
	queries := collection(12, 10, 1, 0.5)
	learn := func() *Model {
		m, err := Learn(context.Background(), queries, metrics.Discounts(10), 3)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	before := learn()
	for q, fold := range before.Fold {
		if fold == 1 {
			slices.Reverse(queries[q].Gains)
		}
	}
	after := learn()
	for fold := range 3 {
		if same := slices.Equal(before.Held[fold].Runs, after.Held[fold].Runs) && before.Held[fold].Form == after.Held[fold].Form; same != (fold == 1) {
			t.Errorf("fold %d: %+v, with other gains in fold 1 %+v", fold, before.Held[fold], after.Held[fold])
		}
	}
}

func TestLearnRefusesTooLittle(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := Learn(ended, collection(9, 5, 1, 1), metrics.Discounts(10), 3); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	for _, c := range []struct {
		queries []*Query
		folds   int
	}{{collection(2, 5, 1, 1), 3}, {collection(9, 5, 1, 1), 2}, {collection(9, 5, 1), 3}} {
		if _, err := Learn(context.Background(), c.queries, metrics.Discounts(10), c.folds); err == nil {
			t.Errorf("%d folds of %d queries: no error", c.folds, len(c.queries))
		}
	}
}
