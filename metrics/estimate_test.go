package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/plackett"
)

// Every metric's expectation over all rankings of a small query, weighted by their probabilities.
func TestExpectationsAgreeWithEnumeration(t *testing.T) {
	for _, scores := range [][]float64{
		{0.3, -0.6, 1.1, 0, 0.4, -0.2},
		{12, -0.6, 1.1, 0, 7, 12}, // peaked
		{2, 2, 2, 2, 2, 2},
		{1e16, 1e16, 1e16, 1e16, 1e16, 1e16}, // beyond what log 2 can be added to
	} {
		labels := []float32{2, 0, 0, 3, 1, 0}
		in := Queries{Scores: scores, Labels: labels, Intents: intentsOf(labels)}
		for _, m := range allMetrics(t) {
			exact := 0.0
			j := evaluator{metric: m.metric, highestGrade: 3}
			if _, err := j.prepare(query{labels: labels, intents: intentsOf(labels)}); err != nil {
				t.Fatal(err)
			}
			err := testkit.Enumerate(scores, j.depth(), func(documents []int, probability float64) {
				exact += probability * j.evaluate(&ranking{documents: documents})
			})
			if err != nil {
				t.Fatal(err)
			}
			expected := m.Expected()
			values, err := expected.PerQuery(in)
			if err != nil {
				t.Fatal(err)
			}
			value := Mean(values, LabelFreeZero)
			if !near(value, exact, 1e-9*max(1, math.Abs(exact))) {
				t.Errorf("%v of %v is %v, by enumeration %v", expected, scores, value, exact)
			}
		}
	}
}

// Over whole lists expectations that are sums over ranks cost O(D). They equal the expectations of the same
// documents and one more, which is last and of no relevance, where the others' ranks count.
func TestWholeListsTakeGeometricSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	for _, name := range []string{"dcg", "ndcg", "rbp(0.9)", "graded-rbp", "precision", "recall", "mrr", "hits", "letor4-ndcg", "arp", "ee-d", "map", "err", "alpha-ndcg", "err-ia"} {
		for _, documents := range []int{100, 150} {
			in := Queries{HighestGrade: 2, Discounts: Discounts(documents)}
			for range documents {
				in.Scores, in.Labels = append(in.Scores, 2*rng.NormFloat64()), append(in.Labels, float32(max(0, rng.IntN(4)-1)))
			}
			in.Intents = intentsOf(in.Labels)
			m, cut := mustParse(t, name), mustParse(t, name)
			if !m.ofExposure() {
				m, cut = m.Expected(), mustParse(t, fmt.Sprintf("expected-%s@%d", name, documents))
			}
			w := newWorker(in)
			value, err := m.computation(w)(query{scores: in.Scores, labels: in.Labels, intents: in.Intents})
			if err != nil {
				t.Fatal(err)
			}
			for weighting, x := range w.weights {
				if x.Terms() == 0 {
					t.Errorf("%v of %d documents: sweeps for %s", m, documents, weighting)
				}
			}
			in.Scores, in.Labels, in.Intents = append(in.Scores, -1e4), append(in.Labels, 0), append(in.Intents, 0)
			w = newWorker(in)
			want, err := cut.computation(w)(query{scores: in.Scores, labels: in.Labels, intents: in.Intents})
			if err != nil || !near(value, want, 1e-8) {
				t.Errorf("%v of %d documents is %v, by sweeps %v: %v", m, documents, value, want, err)
			}
		}
	}
}

// overRankings returns the moments of a metric over rankings of a query's documents, which are numbered from 0.
func overRankings(t *testing.T, m Measure, in Queries, rankings [][]int) (all moments) {
	t.Helper()
	e := newEvaluator(m.metric, in)
	defined, err := e.prepare(query{labels: in.Labels, intents: in.Intents, groups: in.Groups})
	if err != nil {
		t.Fatal(err)
	}
	for _, documents := range rankings {
		if defined {
			all.add(e.evaluate(&ranking{documents: documents[:e.depth()]}))
		}
	}
	return all
}

// Within five standard errors of the means over drawn rankings.
func TestExactExpectationsAgreeWithDrawnRankings(t *testing.T) {
	const queries, documents, samples = 30, 40, 200
	l := benchmarkLists(queries, documents)
	l.Intents = intentsOf(l.Labels)
	var sampler plackett.Sampler
	places, all := plackett.NewRankings(samples, documents), allMetrics(t)
	difference, variance := make([]float64, len(all)), make([]float64, len(all)) // summed over queries
	for q := range queries {
		first, end := documents*q, documents*(q+1)
		one := Queries{Scores: l.Scores[first:end], Labels: l.Labels[first:end], Intents: l.Intents[first:end], HighestGrade: float64(slices.Max(l.Labels))}
		if err := sampler.Draw(one.Scores, plackett.Stream{Seed: 5, Query: uint64(q)}, places); err != nil {
			t.Fatal(err)
		}
		rankings := slices.Collect(slices.Chunk(places.Documents, documents))
		for i, m := range all {
			exact, err := m.Expected().PerQuery(one)
			if err != nil {
				t.Fatal(err)
			}
			if over := overRankings(t, m, one, rankings); over.count > 0 {
				difference[i] += exact[0] - over.mean
				variance[i] += over.stdErr() * over.stdErr()
			}
		}
	}
	for i, m := range all {
		if stdErr := math.Sqrt(variance[i]); !(math.Abs(difference[i]) <= 5*stdErr+1e-6) {
			t.Errorf("%v differs by %v from the mean over rankings, whose standard error is %v", m.Expected(), difference[i], stdErr)
		}
	}
}

func TestMeasuresComputedTogetherEqualThoseAlone(t *testing.T) {
	l := benchmarkLists(7, 20)
	l.Discounts, l.Groups = Discounts(4), make([]int, 140)
	for row := range l.Groups {
		l.Groups[row] = row % 3
		if row < 40 {
			l.Labels[row] = 0 // two queries without a relevant document
		}
	}
	l.QueryWeights, l.Intents = []float32{1, 2, 3, 4, 0, 6, 7}, intentsOf(l.Labels)
	var all []Measure
	for _, m := range allMetrics(t) {
		all = append(all, m.Expected(), m)
	}
	for _, name := range FairnessNames() {
		all = append(all, mustParse(t, name))
	}
	for _, l.LabelFree = range []LabelFree{LabelFreeSkip, LabelFreeOne, LETOR4} {
		means, err := Means(l, all)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range all {
			alone, err := Means(l, []Measure{m})
			if err != nil || !same(alone, means[i:i+1]) {
				t.Errorf("%v is %v, alone %v, %v", m, means[i], alone, err)
			}
		}
	}
}

func TestQueryWeightsEnterTheMean(t *testing.T) {
	in := Queries{Scores: []float64{2, 1, 1, 2, 3, 1, 0}, Labels: []float32{1, 0, 1, 0, 0, 0, 2}, Offsets: []int{0, 2, 4, 5, 7}}
	ndcg := []Measure{mustParse(t, "ndcg")}
	log3 := math.Log2(3)
	in.QueryWeights = []float32{3, 1, 7, 0.5}
	for c, label := range map[LabelFree]float64{LabelFreeSkip: math.NaN(), LabelFreeOne: 1, LabelFreeZero: 0} {
		in.LabelFree = c
		means, err := Means(in, ndcg)
		if err != nil {
			t.Fatal(err)
		}
		want, all := 3+1/log3+0.5/log3, 4.5
		if !math.IsNaN(label) {
			want, all = want+7*label, all+7
		}
		if !near(means[0], want/all, 1e-14) {
			t.Errorf("%v: %v, want %v", c, means[0], want/all)
		}
	}
	for want, weights := range map[string][]float32{
		"2 query weights for 4 queries": {1, 2},
		"query 1: weight -1":            {1, -1, 1, 1},
		"query 3: weight NaN":           {1, 1, 1, float32(math.NaN())},
	} {
		in.QueryWeights = weights
		if _, err := Means(in, ndcg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error with %q", err, want)
		}
	}
}

// Whatever rounding and the quadrature leave: the curve of a peaked policy would rise
// above 1.
func TestExpectationsAreWithinTheRangeOfTheMetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var exact []Measure
	for _, m := range allMetrics(t) {
		if !m.NeedsIntents() && !m.NeedsVectors() {
			exact = append(exact, m.Expected())
		}
	}
	beyond := func(m Measure, v float64, in Queries) {
		j := evaluator{metric: m.metric, highestGrade: 3}
		if defined, err := j.prepare(query{labels: in.Labels, intents: in.Intents}); err != nil || !defined {
			return
		}
		best, worst := make([]float64, len(j.values)), make([]float64, len(j.values))
		for d, v := range j.values {
			best[d], worst[d] = v, -v
		}
		var r ranking
		r.rank(best, j.depth(), TiesOrder)
		a := j.evaluate(&r)
		r.rank(worst, j.depth(), TiesOrder)
		b := j.evaluate(&r)
		if v < min(a, b) || v > max(a, b) {
			t.Errorf("%v of labels %v, scores %v is %v, rankings have %v to %v", m, in.Labels, in.Scores, v, min(a, b), max(a, b))
		}
	}
	for range 200 {
		in := Queries{Offsets: []int{0, 2 + rng.IntN(8)}, HighestGrade: 3}
		sign := 1 - 2*float64(rng.IntN(2))
		gap := []float64{10, 20, 40, 100}[rng.IntN(4)]
		for range in.Offsets[1] {
			label := float64(rng.IntN(4))
			in.Labels = append(in.Labels, float32(label))
			in.Scores = append(in.Scores, sign*gap*label+rng.Float64())
		}
		in.Intents = intentsOf(in.Labels)
		all, err := PerQuery(in, exact)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range exact {
			beyond(m, all[i][0], in)
		}
	}
}

// moments accumulates the mean and the spread of values.
type moments struct{ count, mean, squares float64 } // squares: Σ (value − mean)²

func (m *moments) add(value float64) {
	m.count++
	change := value - m.mean
	m.mean += change / m.count
	m.squares += change * (value - m.mean)
}

// stdErr returns the standard error of the mean, +Inf for a single value.
func (m *moments) stdErr() float64 {
	if m.count < 2 {
		return math.Inf(1)
	}
	return math.Sqrt(m.squares / (m.count - 1) / m.count)
}
