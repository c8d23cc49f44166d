package fusion

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

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
	if ranks := ranks([]float64{1, 5, missing, 1, 7}); !slices.Equal(ranks, []int{3, 2, 0, 4, 1}) {
		t.Errorf("ranks %v", ranks)
	}
}

// All forms are the same for scores times a power of two, also where squares of scores overflow or vanish.
func TestFormsDoNotDependOnTheScale(t *testing.T) {
	scores := []float64{-1.75, 0.5, math.NaN(), 1.25}
	for _, f := range Forms {
		want := f.Features(scores, 60)
		for _, exponent := range []int{-1000, 1, 1023} {
			scaled := make([]float64, len(scores))
			for d, s := range scores {
				scaled[d] = math.Ldexp(s, exponent)
			}
			if got := f.Features(scaled, 60); !slices.Equal(got, want) {
				t.Errorf("%s times 2^%d: %v, want %v", f, exponent, got, want)
			}
		}
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

// The gradient agrees with central differences, for every form, and so in k, the temperature and the draw to other weights.
func TestGradientIsTheSlope(t *testing.T) {
	queries := collection(4, 12, 1, 0.5, 0)
	byKind := newObjective(context.Background(), Weights{Form: Reciprocal, K: 7, Runs: []float64{0.7, 0.3, 0}, Inverse: 90}, 0.3, queries, metrics.Discounts(5))
	objectives := []*objective{byKind}
	for _, form := range Forms {
		objectives = append(objectives, newShared(context.Background(), form, 0.3, queries, metrics.Discounts(5)))
	}
	for _, o := range objectives {
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
				t.Errorf("%s: parameter %d has the gradient %v, want %v", o.from.Form, i, grad[i], slope)
			}
		}
	}
}

// A fit ends where the slope is 0, and at the start if no score makes a difference.
func TestFitEndsAtTheTop(t *testing.T) {
	queries := collection(20, 12, 1, 0.5)
	o := newShared(context.Background(), MinMax, 0.1, queries, metrics.Discounts(5))
	w, err := o.fit()
	if err != nil {
		t.Fatal(err)
	}
	top := newObjective(context.Background(), w, 0, queries, metrics.Discounts(5))
	top.runsOnly = false
	u := top.start()
	grad := make([]float64, len(u))
	if _, err := o.value(u, grad); err != nil || floats.Norm(grad, 2) > 2e-3 {
		t.Errorf("at the end, %+v, the gradient is %v, %v", w, grad, err)
	}
	for _, q := range queries {
		q.Gains = make([]float64, len(q.Gains))
	}
	if w, err := o.fit(); err != nil || math.Abs(w.Runs[0]-0.5) > 1e-12 || math.Abs(w.Inverse-10) > 1e-12 {
		t.Errorf("without gains: %+v, %v", w, err)
	}
}

// Where the first run knows about long queries and the second about short ones, each kind has its own weights, which are better on
// queries held out; a kind that says nothing has none, and a kind of one query stays near the others.
func TestKindsHaveWeightsOfTheirOwn(t *testing.T) {
	queries := append(collection(30, 12, 1.5, 0), collection(30, 12, 0, 1.5)...)
	for q := range queries {
		queries[q].Kind = []string{"long", "short"}[q/30]
	}
	shuffle := rand.New(rand.NewPCG(1, 2))
	shuffle.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
	queries[7].Kind = "odd"
	learn := func() *Model {
		m, err := Learn(context.Background(), queries, metrics.Discounts(10), 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := learn()
	if m.Kinds == nil || m.Kinds["long"].Runs[0] < 0.7 || m.Kinds["short"].Runs[0] > 0.3 || math.Abs(m.Kinds["odd"].Runs[0]-m.Runs[0]) > 0.2 {
		t.Errorf("the weights are %+v, by kind %+v", m.Weights, m.Kinds)
	}
	for fold, kinds := range m.HeldKinds {
		if kinds["long"].Runs[0] < 0.7 || kinds["short"].Runs[0] > 0.3 {
			t.Errorf("without fold %d: %+v", fold, kinds)
		}
	}
	for q := range queries {
		queries[q].Kind = []string{"a", "b"}[shuffle.IntN(2)]
	}
	if m := learn(); m.Kinds != nil {
		t.Errorf("by random kinds: %+v", m.Kinds)
	}
}

// Of two runs with the same signal and one of noise, the noise gets almost no weight, and the others similar ones. No weight is negative,
// also where a run ranks relevant documents last.
func TestNoiseGetsNoWeight(t *testing.T) {
	for _, c := range []struct {
		signal []float64
		most   float64
	}{{[]float64{1.5, 1.5, 0}, 0.1}, {[]float64{1.5, 1.5, -1}, 0.01}} {
		m, err := Learn(context.Background(), collection(40, 20, c.signal...), metrics.Discounts(10), 4, nil)
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
		m, err := Learn(context.Background(), queries, metrics.Discounts(10), 3, nil)
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
	if _, err := Learn(ended, collection(9, 5, 1, 1), metrics.Discounts(10), 3, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	for _, c := range []struct {
		queries []*Query
		folds   int
	}{{collection(2, 5, 1, 1), 3}, {collection(9, 5, 1, 1), 2}, {collection(9, 5, 1), 3}} {
		if _, err := Learn(context.Background(), c.queries, metrics.Discounts(10), c.folds, nil); err == nil {
			t.Errorf("%d folds of %d queries: no error", c.folds, len(c.queries))
		}
	}
}
