package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

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
			err := plackett.Enumerate(scores, j.depth(), func(documents []int, probability float64) {
				exact += probability * j.evaluate(&ranking{documents: documents})
			})
			if err != nil {
				t.Fatal(err)
			}
			expected := m.Expected()
			e, err := expected.Estimate(in)
			if err != nil {
				t.Fatal(err)
			}
			value := e.Mean(LabelFreeZero).Mean
			if !near(value, exact, 1e-9*max(1, math.Abs(exact))) || e.StdErr[0] > 0 {
				t.Errorf("%v of %v is %v ± %v, by enumeration %v", expected, scores, value, e.StdErr[0], exact)
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
			value, _, err := m.computation(w)(query{scores: in.Scores, labels: in.Labels, intents: in.Intents})
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
			want, _, err := cut.computation(w)(query{scores: in.Scores, labels: in.Labels, intents: in.Intents})
			if err != nil || !near(value, want, 1e-8) {
				t.Errorf("%v of %d documents is %v, by sweeps %v: %v", m, documents, value, want, err)
			}
		}
	}
}

// Within the standard errors of the latter.
func TestExactExpectationsAgreeWithDrawnRankings(t *testing.T) {
	l := benchmarkLists(30, 40)
	var sampler plackett.Sampler
	places := plackett.NewRankings(200, 40)
	r := DrawnRankings{Samples: 200, Cutoff: 40}
	for q := range 30 {
		if err := sampler.Draw(l.Scores[40*q:40*(q+1)], plackett.Stream{Seed: 5, Query: uint64(q)}, places); err != nil {
			t.Fatal(err)
		}
		for _, d := range places.Documents {
			r.Rows = append(r.Rows, 40*q+d)
		}
	}
	l.Intents = intentsOf(l.Labels)
	over := l
	over.Rankings = &r
	for _, m := range allMetrics(t) {
		exact, err1 := m.Expected().Estimate(l)
		plain, err2 := m.Expected().Estimate(over)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		mean := exact.Mean(LabelFreeSkip).Mean
		over := plain.Mean(LabelFreeSkip)
		want, stdErr := over.Mean, over.StdErr
		if math.Abs(mean-want) > 5*stdErr+1e-6 && !(math.IsNaN(mean) && math.IsNaN(want)) {
			t.Errorf("%v is %v, the mean over rankings %v ± %v", m.Expected(), mean, want, stdErr)
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
			if err != nil || !same([]float64{alone[0].Mean}, []float64{means[i].Mean}) || alone[0].StdErr != means[i].StdErr && !math.IsNaN(means[i].StdErr) {
				t.Errorf("%v is %v, alone %v, %v", m, means[i], alone, err)
			}
		}
	}
}

func TestQueryWeightsEnterMeanAndStandardError(t *testing.T) {
	in := Queries{Scores: []float64{2, 1, 1, 2, 3, 1, 0}, Labels: []float32{1, 0, 1, 0, 0, 0, 2}, Offsets: []int{0, 2, 4, 5, 7}}
	ndcg := []Measure{mustParse(t, "ndcg"), mustParse(t, "expected-pair-accuracy@1")}
	log3 := math.Log2(3)
	in.QueryWeights = []float32{3, 1, 7, 0.5}
	in.Rankings = &DrawnRankings{Samples: 3, Cutoff: 1, Rows: []int{0, 1, 0, 2, 3, 3, 4, 4, 4, 5, 6, 6}}
	plain, err := ndcg[1].Estimate(in)
	if err != nil {
		t.Fatal(err)
	}
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
		if !near(means[0].Mean, want/all, 1e-14) || means[0].StdErr != 0 {
			t.Errorf("%v: %+v, want %v", c, means[0], want/all)
		}
		variance := 0.0
		for q, w := range in.QueryWeights {
			if s := plain.StdErr[q]; !math.IsNaN(s) {
				variance += square(float64(w) * s)
			}
		}
		if stdErr := math.Sqrt(variance) / all; !near(means[1].StdErr, stdErr, 1e-14) || stdErr == 0 {
			t.Errorf("%v: a standard error of %v, want %v", c, means[1].StdErr, stdErr)
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

func TestExpectationsOverGivenRankingsAreTheirMean(t *testing.T) {
	l := Queries{
		Scores:  []float64{9, 9, 9, 9, 9},
		Labels:  []float32{0, 1, 0, 3, 0},
		Offsets: []int{0, 3, 5},
	}
	m := mustParse(t, "expected-dcg@3")
	log3 := math.Log2(3)
	r := DrawnRankings{Samples: 3, Cutoff: 3, Rows: []int{
		1, 0, 2, 0, 1, 2, 0, 2, 1,
		4, 3, -1, 3, 4, -1, -1, -1, -1, // the third is absent
	}}
	l.Rankings = &r
	e, err := m.Estimate(l)
	if err != nil {
		t.Fatal(err)
	}
	mean := (1 + 1/log3 + 0.5) / 3
	variance := (square(1-mean) + square(1/log3-mean) + square(0.5-mean)) / 2
	want := QueryValues{
		PerQuery: []float64{mean, 7 * (1/log3 + 1) / 2},
		StdErr:   []float64{math.Sqrt(variance / 3), 7 * (1 - 1/log3) / 2},
	}
	if !same(e.PerQuery, want.PerQuery) || !same(e.StdErr, want.StdErr) {
		t.Errorf("%+v, want %+v", e, want)
	}
	summary := e.Mean(LabelFreeZero)
	mean, stdErr := summary.Mean, summary.StdErr
	if wantErr := math.Hypot(want.StdErr[0], want.StdErr[1]) / 2; !near(mean, (want.PerQuery[0]+want.PerQuery[1])/2, 1e-14) || !near(stdErr, wantErr, 1e-14) {
		t.Errorf("mean %v ± %v, want ± %v", mean, stdErr, wantErr)
	}

	one := DrawnRankings{Samples: 1, Cutoff: 3, Rows: []int{1, 0, 2, 4, 3, -1}}
	l.Rankings = &one
	if e, err = m.Estimate(l); err != nil || !math.IsInf(e.StdErr[0], 1) {
		t.Errorf("one sample has a standard error of %v, %v", e.StdErr, err)
	}

	for want, bad := range map[string]DrawnRankings{
		"5 entries of rankings, want 2 queries × 1 samples × cutoff 3":      {Samples: 1, Cutoff: 3, Rows: make([]int, 5)},
		"query 0: 3 ranks of its 3 documents count":                         {Samples: 1, Cutoff: 2, Rows: make([]int, 4)},
		"query 0: sample 0, rank 2: row 3 is outside the rows of the query": {Samples: 1, Cutoff: 3, Rows: []int{0, 3, 1, 3, 4, -1}},
		"query 1: sample 0, rank 2: row 4 appears twice":                    {Samples: 1, Cutoff: 3, Rows: []int{0, 1, 2, 4, 4, -1}},
		"query 1: no ranking of it is present":                              {Samples: 1, Cutoff: 3, Rows: []int{0, 1, 2, -1, -1, -1}},
		"rank 3: row -1":                                                    {Samples: 1, Cutoff: 3, Rows: []int{0, 1, -1, 4, 3, -1}},
	} {
		l.Rankings = &bad
		if _, err := m.Estimate(l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error with %q", err, want)
		}
	}
}

func square(x float64) float64 { return x * x }

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
	beyond := func(m Measure, e QueryValues, in Queries) {
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
		if v := e.PerQuery[0]; v < min(a, b) || v > max(a, b) {
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
		all, err := Estimates(in, exact)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range exact {
			beyond(m, all[i], in)
		}
	}
}
