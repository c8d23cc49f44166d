package metrics

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustParse(t interface{ Fatal(...any) }, name string) Measure {
	m, err := ParseMeasure(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// One query, ranked 2 0 4 1 3 with the labels 0 2 1 0 3 in that order, and every metric
// of it written out.
func TestMetricsAreTheirFormulas(t *testing.T) {
	l := Input{
		Scores: []float64{2, 0.5, 3, -1, 1},
		Labels: []float32{2, 0, 0, 3, 1},
	}
	log3, log5, log6 := math.Log2(3), math.Log2(5), math.Log2(6)
	for name, want := range map[string]float64{
		"dcg":   3/log3 + 1/2. + 7/log6,
		"dcg@3": 3/log3 + 1/2.,
		"dcg@9": 3/log3 + 1/2. + 7/log6,
		"ndcg":  (3/log3 + 1/2. + 7/log6) / (7 + 3/log3 + 1/2.),
		// the best ranking is cut at 2 as well
		"ndcg@2":      (3 / log3) / (7 + 3/log3),
		"precision":   3. / 5,
		"precision@2": 1. / 2,
		"precision@8": 3. / 8,
		"recall":      1,
		"recall@3":    2. / 3,
		"map":         (1/2. + 2/3. + 3/5.) / 3,
		"map@2":       (1 / 2.) / 2,
		"map@4":       (1/2. + 2/3.) / 3,
		"mrr":         1. / 2,
		"mrr@1":       0,
		// R = 3/16, 1/16, 7/16 at ranks 2, 3, 5
		"err(max=4)":   3/16./2 + 13/16.*1/16./3 + 13/16.*15/16.*7/16./5,
		"err(max=4)@3": 3/16./2 + 13/16.*1/16./3,
		"err(3)":       3/8./2 + 5/8.*1/8./3 + 5/8.*7/8.*7/8./5,
		"err":          3/8./2 + 5/8.*1/8./3 + 5/8.*7/8.*7/8./5, // of the highest grade, 3
		"rbp":          0.2 * (0.8 + 0.64 + 0.4096),
		"rbp(p=.5)":    1/4. + 1/8. + 1/32.,
		"rbp@3":        0.2 * (0.8 + 0.64),
		"hits":         1,
		"success@1":    0,
		"hits@2":       1,
		// ranked 0 2 1 0 3: of 9 pairs of different labels, those of 2 and 1, 2 and 0, and
		// 1 and 0 behind it, are right; at 2, those of 0 in front and of 2, and half of the others
		"pair-accuracy":    3. / 9,
		"pair-accuracy@2":  (2 + 3/2.) / 9,
		"pair-accuracy@1":  (6 / 2.) / 9,
		"graded-rbp":       0.2 * (3*0.8 + 1*0.64 + 7*0.4096) / 7,
		"graded-rbp(.5)@3": (3/4. + 1/8.) / 7,
		"arp":              (2*2 + 1*3 + 3*5) / 6.,
		"arp@3":            (2*2 + 1*3 + 3*4) / 6.,
		"arp@9":            (2*2 + 1*3 + 3*5) / 6.,
		// θ = 1, 1, 1/log2(3), 1/2, 1/log2(5); the best gains are 7, 3, 1
		"letor4-ndcg":       (3 + 1/log3 + 7/log5) / (7 + 3 + 1/log3),
		"letor4-ndcg@2":     3. / (7 + 3),
		"letor4-ndcg@5":     (3 + 1/log3 + 7/log5) / (7 + 3 + 1/log3),
		"letor4-ndcg@6":     0,
		"letor4-meanndcg":   (3./10 + 2*(3+1/log3)/(10+1/log3) + (3+1/log3+7/log5)/(10+1/log3)) / 5,
		"letor4-meanndcg@3": (3./10 + (3+1/log3)/(10+1/log3)) / 3,
	} {
		got, err := mustParse(t, name).PerQuery(l)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !near(got[0], want, 1e-14) {
			t.Errorf("%s is %v, want %v", name, got[0], want)
		}
	}
	l.Gain = LinearGain
	got, err := mustParse(t, "dcg@3").PerQuery(l)
	if want := 2/log3 + 1/2.; err != nil || !near(got[0], want, 1e-14) {
		t.Errorf("dcg@3 of linear gains is %v, %v; want %v", got, err, want)
	}
	// Of binary gains, only which documents are relevant matters, and NDCG is
	// relative to the best ranking of those.
	fine := Input{Scores: []float64{4, 3, 2, 1}, Labels: []float32{0.5, 3, 0, 1}, Gain: BinaryGain}
	got, err = mustParse(t, "ndcg").PerQuery(fine)
	if want := (1/log3 + 1/log5) / (1 + 1/log3); err != nil || !near(got[0], want, 1e-14) {
		t.Errorf("ndcg of binary gains is %v, %v; want %v", got, err, want)
	}
}

func TestTiesInOrderGoByRow(t *testing.T) {
	l := Input{Scores: []float64{1, 1, 1}, Labels: []float32{0, 1, 0}, Ties: TiesOrder}
	got, err := mustParse(t, "mrr").PerQuery(l)
	if err != nil || got[0] != 0.5 {
		t.Errorf("reciprocal rank %v, %v; want 0.5", got, err)
	}
}

// allMetrics are every metric, without and with cutoffs.
func allMetrics(t interface{ Fatal(...any) }) []Measure {
	var all []Measure
	for _, name := range Names() {
		all = append(all, mustParse(t, name), mustParse(t, name+"@1"), mustParse(t, name+"@3"), mustParse(t, name+"@100"))
	}
	return all
}

// Metrics relative to the relevant documents are not defined without any; absolute ones are
// 0; a metric in neither list may be either.
var (
	relative = []string{"ndcg", "recall", "map", "mrr", "arp", "letor4-ndcg", "letor4-meanndcg", "hits", "pair-accuracy"}
	absolute = []string{"dcg", "precision", "err", "rbp", "graded-rbp"}
)

func TestMetricsWithoutRelevantDocumentsAreUndefinedOrZero(t *testing.T) {
	// label-free, empty, one relevant document, one irrelevant; two rows of padding
	l := Input{
		Scores:  []float64{1, 2, 3, 7, 7, 0, 0},
		Labels:  []float32{0, 0, 0, 1, 0, 3, 3},
		Offsets: []int{0, 3, 3, 4, 5},
	}
	for _, m := range allMetrics(t) {
		perQuery, err := m.PerQuery(l)
		if err != nil {
			t.Fatal(err)
		}
		l.Policy.Samples = 3
		expected, err := m.Expected().Estimate(l)
		if err != nil {
			t.Fatal(err)
		}
		name := m.metric.family.name
		for _, q := range []int{0, 1, 3} {
			for _, v := range []float64{perQuery[q], expected.PerQuery[q]} {
				undefined := math.IsNaN(v)
				if !undefined && v != 0 || slices.Contains(relative, name) && !undefined || slices.Contains(absolute, name) && undefined {
					t.Errorf("%v of query %d is %v", m, q, v)
				}
			}
		}
		if name == "pair-accuracy" { // there is no pair
			if !math.IsNaN(perQuery[2]) || !math.IsNaN(expected.PerQuery[2]) {
				t.Errorf("%v of one document is %v, expected %v", m, perQuery[2], expected.PerQuery[2])
			}
			continue
		}
		beyond := name == "letor4-ndcg" && m.metric.cutoff > 1
		if v, w := perQuery[2], expected.PerQuery[2]; v > 0 == beyond || !near(v, w, 1e-15) || expected.StdErr[2] > 1e-15 {
			t.Errorf("%v of one relevant document is %v, expected %v ± %v", m, v, w, expected.StdErr[2])
		}
	}
}

func TestLabelFreeQueriesCountInMeansAsSet(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		perQuery        []float64
		zero, one, skip float64
	}{
		{[]float64{0.5, nan, 0.25, nan}, 0.1875, 0.6875, 0.375},
		{[]float64{0.5}, 0.5, 0.5, 0.5},
		{[]float64{nan}, 0, 1, nan},
		{nil, nan, nan, nan},
	} {
		for labelFree, want := range map[LabelFree]float64{LabelFreeZero: c.zero, LabelFreeOne: c.one, LabelFreeSkip: c.skip, LETOR4: c.zero} {
			got := Mean(c.perQuery, labelFree)
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("the mean of %v, %v, is %v, want %v", c.perQuery, labelFree, got, want)
			}
		}
	}
}

func TestErrorsNameQueryAndRow(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	ndcg := mustParse(t, "ndcg@5")
	for _, c := range []struct {
		metric Measure
		lists  Input
		want   string
	}{
		{ndcg, Input{Scores: []float64{0, nan}, Labels: []float32{0, 1}}, "row 1: score NaN"},
		{ndcg, Input{Scores: []float64{0, 1, inf}, Labels: []float32{0, 1, 1}, Offsets: []int{0, 1, 3}}, "query 1, row 2: score +Inf"},
		{ndcg, Input{Scores: []float64{0, 1, 2}, Labels: []float32{0, 1, 40}, Offsets: []int{0, 1, 3}}, `query 1, row 2: label 40 is too high for a gain of 2^label − 1 (at most 31): use the gain "linear"`},
		{ndcg, Input{Scores: []float64{0}, Labels: []float32{-1}}, "label -1 is negative"},
		{mustParse(t, "map"), Input{Scores: []float64{0}, Labels: []float32{-1}}, "label -1 is negative"},
		{mustParse(t, "arp"), Input{Scores: []float64{0}, Labels: []float32{float32(nan)}}, "label NaN"},
		{mustParse(t, "precision"), Input{Scores: []float64{0}, Labels: []float32{float32(inf)}}, "label +Inf"},
		{mustParse(t, "err(max=4)@10"), Input{Scores: []float64{0}, Labels: []float32{5}}, "use err(max=5)@10"},
		{mustParse(t, "graded-rbp"), Input{Scores: []float64{0}, Labels: []float32{5}, HighestGrade: 4}, "row 0: label 5 is above 4, the highest grade"},
		{mustParse(t, "pair-accuracy"), Input{Scores: []float64{0}, Labels: []float32{-1}}, "label -1 is negative"},
		{ndcg, Input{Scores: []float64{0}, Labels: nil}, "1 scores but 0 labels"},
		{ndcg, Input{Scores: []float64{0}, Labels: []float32{0}, Offsets: []int{0, 2}}, "offset 1 is 2"},
		{ndcg, Input{Scores: []float64{0}, Labels: []float32{0}, Offsets: []int{1, 0}}, "offset 1 is 0"},
		{ndcg, Input{Scores: []float64{0}, Labels: []float32{0}, Offsets: []int{}}, "offsets are empty"},
		{Measure{}, Input{}, "no measure"},
	} {
		if _, err := c.metric.PerQuery(c.lists); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("PerQuery: %v; want an error with %q", err, c.want)
		}
		if _, err := c.metric.Expected().PerQuery(c.lists); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Expected: %v; want an error with %q", err, c.want)
		}
	}
	l := Input{Scores: []float64{0, 1, 2}, Labels: []float32{0, 1, 40}, Gain: LinearGain}
	if _, err := ndcg.PerQuery(l); err != nil {
		t.Errorf("a label of 40 with linear gain: %v", err)
	}
}

// drawLists makes queries of all sizes, with ties and labels of 0 to 4.
func drawLists(t *rapid.T) Input {
	l := Input{Offsets: []int{0}, HighestGrade: 4}
	for _, documents := range rapid.SliceOfN(rapid.IntRange(0, 12), 1, 6).Draw(t, "documents") {
		for range documents {
			l.Scores = append(l.Scores, float64(rapid.IntRange(-4, 4).Draw(t, "score")))
			l.Labels = append(l.Labels, float32(rapid.IntRange(0, 4).Draw(t, "label")))
		}
		l.Offsets = append(l.Offsets, len(l.Scores))
	}
	return l
}

func drawMetric(t *rapid.T) Measure { return rapid.SampledFrom(allMetrics(t)).Draw(t, "metric") }

func perQuery(t *rapid.T, m Measure, l Input) []float64 {
	v, err := m.PerQuery(l)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func same(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !near(a[i], b[i], 1e-12) && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return false
		}
	}
	return true
}

// Unless scores tie, in whatever way those are ranked.
func TestOrderOfDocumentsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, m := drawLists(t), drawMetric(t)
		for i := range l.Scores {
			l.Scores[i] += float64(i) / 1000 // no ties
		}
		shuffled := Input{Offsets: l.Offsets, HighestGrade: 4}
		for q, first := range l.Offsets[:len(l.Offsets)-1] {
			rows := make([]int, l.Offsets[q+1]-first)
			for i := range rows {
				rows[i] = first + i
			}
			if len(rows) > 0 {
				rows = rapid.Permutation(rows).Draw(t, "order")
			}
			for _, row := range rows {
				shuffled.Scores = append(shuffled.Scores, l.Scores[row])
				shuffled.Labels = append(shuffled.Labels, l.Labels[row])
			}
		}
		if a, b := perQuery(t, m, l), perQuery(t, m, shuffled); !same(a, b) {
			t.Errorf("%v is %v, after a shuffle of the documents %v", m, a, b)
		}
	})
}

// The value of a query depends neither on other queries nor on rows past the last offset.
func TestQueriesAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, m := drawLists(t), drawMetric(t)
		var alone []float64
		for q, first := range l.Offsets[:len(l.Offsets)-1] {
			end := l.Offsets[q+1]
			alone = append(alone, perQuery(t, m, Input{Scores: l.Scores[first:end], Labels: l.Labels[first:end], HighestGrade: 4})...)
		}
		padded := Input{
			HighestGrade: 4,
			Scores:       append(l.Scores[:len(l.Scores):len(l.Scores)], 9, math.NaN()),
			Labels:       append(l.Labels[:len(l.Labels):len(l.Labels)], 4, -1),
			Offsets:      l.Offsets,
		}
		if together := perQuery(t, m, padded); !same(together, alone) {
			t.Errorf("%v is %v, query by query %v", m, together, alone)
		}
	})
}

// It is 1 for the metrics that are relative to the best ranking. All values stay within
// their bounds.
func TestBestRankingHasTheBestValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, m := drawLists(t), drawMetric(t)
		ideal := Input{Labels: l.Labels, Offsets: l.Offsets, HighestGrade: 4}
		for _, label := range l.Labels {
			ideal.Scores = append(ideal.Scores, float64(label))
		}
		best := perQuery(t, m, ideal)
		for q, v := range perQuery(t, m, l) {
			if math.IsNaN(v) {
				continue
			}
			if d := (best[q] - v) * sign(m); d < -1e-12 {
				t.Errorf("%v is %v, of the best ranking %v", m, v, best[q])
			}
			name := m.metric.family.name
			switch name {
			case "ndcg", "map", "mrr", "letor4-ndcg", "letor4-meanndcg", "hits":
				beyond := name == "letor4-ndcg" && m.metric.cutoff > l.Offsets[q+1]-l.Offsets[q]
				if !beyond && !near(best[q], 1, 1e-12) {
					t.Errorf("%v of the best ranking is %v", m, best[q])
				}
			}
			if name == "pair-accuracy" && m.metric.cutoff == 0 && !near(best[q], 1, 1e-12) {
				t.Errorf("%v of the best ranking is %v", m, best[q])
			}
			documents := float64(l.Offsets[q+1] - l.Offsets[q])
			low, high := 0.0, 1.0
			switch {
			case name == "dcg":
				high = 15 * documents
			case name == "arp":
				low, high = 1, documents
				if m.metric.cutoff > 0 {
					high = float64(m.metric.cutoff + 1)
				}
			case !slices.Contains(relative, name) && !slices.Contains(absolute, name):
				continue // its test has the bounds
			}
			if v < low-1e-12 || v > high+1e-12 {
				t.Errorf("%v is %v, out of [%v, %v]", m, v, low, high)
			}
		}
	})
}

func TestMovingABetterDocumentUpNeverMakesAMetricWorse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMetric(t)
		labels := rapid.SliceOfN(rapid.IntRange(0, 4), 2, 12).Draw(t, "labels")
		l := Input{HighestGrade: 4}
		for i, label := range labels {
			l.Labels = append(l.Labels, float32(label))
			l.Scores = append(l.Scores, -float64(i)) // ranked as they stand
		}
		upper := rapid.IntRange(0, len(labels)-2).Draw(t, "upper")
		lower := rapid.IntRange(upper+1, len(labels)-1).Draw(t, "lower")
		if l.Labels[upper] > l.Labels[lower] {
			upper, lower = lower, upper
		}
		before := perQuery(t, m, l)[0]
		l.Scores[upper], l.Scores[lower] = l.Scores[lower], l.Scores[upper]
		after := perQuery(t, m, l)[0]
		// upper now stands where lower stood: better if lower stood below.
		if lower < upper {
			before, after = after, before
		}
		if (after-before)*sign(m) < -1e-12 {
			t.Errorf("%v of %v falls from %v to %v with the swap of %d and %d", m, labels, before, after, upper, lower)
		}
	})
}

func sign(m Measure) float64 {
	if m.LowerIsBetter() {
		return -1
	}
	return 1
}

func TestTopIsTheBeginningOfRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var scores []float64
		for _, s := range rapid.SliceOfN(rapid.IntRange(-9, 9), 0, 80).Draw(t, "scores") {
			scores = append(scores, float64(s))
		}
		k := rapid.IntRange(0, len(scores)).Draw(t, "k")
		if got, want := top(nil, scores, k), Rank(scores)[:k]; !slices.Equal(got, want) {
			t.Errorf("the first %d of %v are %v, want %v", k, scores, got, want)
		}
	})
}

func TestRankGoesByScoreThenRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var scores []float64
		for _, s := range rapid.SliceOfN(rapid.IntRange(-3, 3), 0, 40).Draw(t, "scores") {
			scores = append(scores, float64(s))
		}
		ranking := Rank(scores)
		for k := 1; k < len(ranking); k++ {
			a, b := ranking[k-1], ranking[k]
			if scores[a] < scores[b] || scores[a] == scores[b] && a >= b {
				t.Errorf("%v are ranked %v", scores, ranking)
			}
		}
		if len(ranking) != len(scores) {
			t.Errorf("%v are ranked %v", scores, ranking)
		}
	})
}

func TestInvalidSettingsAreErrorsOfEveryMeasure(t *testing.T) {
	for want, change := range map[string]func(in *Input){
		"invalid Input.Gain: Gain(9)":           func(in *Input) { in.Gain = 9 },
		"invalid Input.Ties: Ties(-1)":          func(in *Input) { in.Ties = -1 },
		"invalid Input.LabelFree: LabelFree(4)": func(in *Input) { in.LabelFree = 4 },
		"the highest grade is NaN":              func(in *Input) { in.HighestGrade = math.NaN() },
		"the highest grade is -1":               func(in *Input) { in.HighestGrade = -1 },
		"the highest grade is +Inf":             func(in *Input) { in.HighestGrade = math.Inf(1) },
		"1 groups but 3 labels":                 func(in *Input) { in.Groups = []int{0} },
	} {
		in := Input{Scores: []float64{1, 2, 3}, Labels: []float32{0, 1, 2}, Discounts: []float64{1, .5}}
		change(&in)
		for _, name := range []string{"ndcg", "expected-err", "graded-rbp", "disparity", "ee-l"} {
			m, err := ParseMeasure(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.PerQuery(in); err == nil || !strings.HasPrefix(err.Error(), "metrics: "+want) {
				t.Errorf("%s: error %v, want %q", name, err, want)
			}
		}
	}
}
