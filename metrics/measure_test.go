package metrics

import (
	"math"
	"slices"
	"strings"
	"testing"
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
	l := Queries{
		Scores:  []float64{2, 0.5, 3, -1, 1},
		Labels:  []float32{2, 0, 0, 3, 1},
		Intents: []int{0b011, 0b100, 0, 0b001, 0b001},
	}
	log3, log5, log6 := math.Log2(3), math.Log2(5), math.Log2(6)
	formulas := map[string]float64{
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
		"mrr@2":       1. / 2,
		// R = 3/16, 1/16, 7/16 at ranks 2, 3, 5
		"err(max=4)":   3/16./2 + 13/16.*1/16./3 + 13/16.*15/16.*7/16./5,
		"err(max=4)@3": 3/16./2 + 13/16.*1/16./3,
		"err(3)":       3/8./2 + 5/8.*1/8./3 + 5/8.*7/8.*7/8./5,
		"err":          3/8./2 + 5/8.*1/8./3 + 5/8.*7/8.*7/8./5, // of the highest grade, 3
		"err@2":        3 / 8. / 2,
		"rbp":          0.2 * (0.8 + 0.64 + 0.4096),
		"rbp(.5)@3":    1/4. + 1/8.,
		"rbp(p=.5)":    1/4. + 1/8. + 1/32.,
		"rbp@3":        0.2 * (0.8 + 0.64),
		"hits":         1,
		"success@1":    0,
		"hits@2":       1,
		// ranked 0 2 1 0 3: of 9 pairs of different labels, three are right: 2 1, 2 0 and 1 0; at 2,
		// the pairs with the first 0 are wrong, 2 1 and 2 0 are right, and three others count ½
		"pair-accuracy":    3. / 9,
		"pair-accuracy@2":  (2 + 3/2.) / 9,
		"pair-accuracy@1":  (6 / 2.) / 9,
		"graded-rbp":       0.2 * (3*0.8 + 1*0.64 + 7*0.4096) / 7,
		"graded-rbp@3":     0.2 * (3*0.8 + 1*0.64) / 7,
		"graded-rbp(.5)":   (3/4. + 1/8. + 7/32.) / 7,
		"graded-rbp(.5)@3": (3/4. + 1/8.) / 7,
		"arp":              (2*2 + 1*3 + 3*5) / 6.,
		"arp@3":            (2*2 + 1*3 + 3*4) / 6.,
		"arp@9":            (2*2 + 1*3 + 3*5) / 6.,
		// θ = 1, 1, 1/log2(3), 1/2, 1/log2(5); the best gains are 7, 3, 1
		"letor4-ndcg":   (3 + 1/log3 + 7/log5) / (7 + 3 + 1/log3),
		"letor4-ndcg@2": 3. / (7 + 3),
		"letor4-ndcg@5": (3 + 1/log3 + 7/log5) / (7 + 3 + 1/log3),
		"letor4-ndcg@6": 0,
		// the documents have the intents –, 0 1, 0, 2, 0; the greedy ranking is 0 1, 2, 0, 0
		"alpha-ndcg":       (2/log3 + .5/2 + 1/log5 + .25/log6) / (2 + 1/log3 + .5/2 + .25/log5),
		"alpha-ndcg@2":     (2 / log3) / (2 + 1/log3),
		"alpha-nDCG(.2)@3": (2/log3 + .8/2) / (2 + 1/log3 + .8/2),
		"err-ia":           (2/2. + .5/3 + 1/4. + .25/5) / (3 * (1 + .5/2 + .25/3 + .125/4 + .0625/5)),
		"ERR-IA@3":         (2/2. + .5/3) / (3 * (1 + .5/2 + .25/3)),
		"err-ia(1)@9":      (2/2. + 1/4.) / 3,
		// the cosines of 0 1 with 0 are 1/√2, of 0 with 0 they are 1, others 0
		"ils":   (2/math.Sqrt2 + 1) / 10,
		"ils@3": (1 / math.Sqrt2) / 3,
		"ild@3": 1 - (1/math.Sqrt2)/3,
		"ild":   1 - (2/math.Sqrt2+1)/10,
	}
	for _, name := range Names() {
		if _, has := formulas[name]; !has {
			t.Errorf("%s has no formula here", name)
		}
	}
	for name, want := range formulas {
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
	fine := Queries{Scores: []float64{4, 3, 2, 1}, Labels: []float32{0.5, 3, 0, 1}, Gain: BinaryGain}
	for name, want := range map[string]float64{"dcg": 1/log3 + 1/log5, "ndcg": (1/log3 + 1/log5) / (1 + 1/log3)} {
		if got, err = mustParse(t, name).PerQuery(fine); err != nil || !near(got[0], want, 1e-14) {
			t.Errorf("%s of binary gains is %v, %v; want %v", name, got, err, want)
		}
	}
}

// Three documents A, B, C of the labels 0, 2, 1 (gains 0, 3, 1) and the log-scores log 2, 0, 0: A is drawn
// first with probability 2/(2+1+1) = 1/2, before C after B with 2/(2+1) = 2/3, and so on. Of twelve draws,
// ABC and ACB come up three times each, BAC and CAB twice, BCA and CBA once. So A is at the ranks 1, 2, 3 with
// probabilities 6/12, 4/12, 2/12, and B, as C, with 3/12, 4/12, 5/12.
func TestExpectationsAreTheirFormulas(t *testing.T) {
	in := Queries{Scores: []float64{math.Ln2, 0, 0}, Labels: []float32{0, 2, 1}, Discounts: []float64{1, 0.5}, Groups: []int{1, 0, 1}, Intents: []int{0b01, 0b11, 0b10}}
	drawn := [][]int{
		{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {0, 2, 1}, {0, 2, 1}, {0, 2, 1}, {1, 0, 2}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 0, 1}, {2, 1, 0},
	}
	log3 := math.Log2(3)
	first, second, third := 3/12., 4/12., 5/12. // B and C
	formulas := map[string]float64{
		"dcg":         (3 + 1) * (first + second/log3 + third/2),
		"dcg@2":       (3 + 1) * (first + second/log3),
		"ndcg":        (3 + 1) * (first + second/log3 + third/2) / (3 + 1/log3),
		"ndcg@1":      (3 + 1) * first / 3,
		"precision":   2. / 3,
		"precision@2": 2 * (first + second) / 2,
		"precision@4": 2. / 4,
		"recall":      1,
		"recall@2":    2 * (first + second) / 2,
		// A B C and A C B; B A C and C A B; the others
		"map":   6/12.*(1/2.+2/3.)/2 + 4/12.*(1+2/3.)/2 + 2/12.,
		"map@2": 6/12.*(1/2.)/2 + 4/12.*1/2 + 2/12.,
		"mrr":   6/12.*1/2 + 6/12.,
		"mrr@1": 6 / 12.,
		// R of B is 3/4 and of C 1/4
		"err":              3/12.*(3./4/2+1/4.*1/4/3) + 3/12.*(1./4/2+3/4.*3/4/3) + 2/12.*(3./4+1/4.*1/4/3) + 1/12.*(3./4+1/4.*1/4/2) + 2/12.*(1./4+3/4.*3/4/3) + 1/12.*(1./4+3/4.*3/4/2),
		"err@1":            3/12.*3/4 + 3/12.*1/4,
		"err(max=3)":       3/12.*(3./8/2+5/8.*1/8/3) + 3/12.*(1./8/2+7/8.*3/8/3) + 2/12.*(3./8+5/8.*1/8/3) + 1/12.*(3./8+5/8.*1/8/2) + 2/12.*(1./8+7/8.*3/8/3) + 1/12.*(1./8+7/8.*3/8/2),
		"err(max=3)@1":     3/12.*3/8 + 3/12.*1/8,
		"rbp":              0.2 * 2 * (first + 0.8*second + 0.64*third),
		"rbp@2":            0.2 * 2 * (first + 0.8*second),
		"rbp(.5)":          0.5 * 2 * (first + 0.5*second + 0.25*third),
		"rbp(.5)@2":        0.5 * 2 * (first + 0.5*second),
		"graded-rbp":       0.2 * (3 + 1) * (first + 0.8*second + 0.64*third) / 3,
		"graded-rbp@2":     0.2 * (3 + 1) * (first + 0.8*second) / 3,
		"graded-rbp(.5)":   0.5 * (3 + 1) * (first + 0.5*second + 0.25*third) / 3,
		"graded-rbp(.5)@2": 0.5 * (3 + 1) * (first + 0.5*second) / 3,
		"arp":              (2 + 1) * (1*first + 2*second + 3*third) / 3,
		"arp@1":            (2 + 1) * (1*first + 2*(second+third)) / 3,
		// θ = 1, 1, 1/log2(3)
		"letor4-ndcg":   (3 + 1) * (first + second + third/log3) / (3 + 1),
		"letor4-ndcg@1": (3 + 1) * first / 3,
		"hits":          1,
		"hits@1":        6 / 12.,
		// new intents count 1, others ½, in A B C and C B A; A C B and C A B; B A C and B C A
		"alpha-ndcg":   (4/12.*(1+1.5/log3+.5/2) + 5/12.*(1+1/log3+1./2) + 3/12.*(2+.5/log3+.5/2)) / (2 + .5/log3 + .5/2),
		"alpha-ndcg@1": (4/12. + 5/12. + 3/12.*2) / 2,
		"err-ia":       (4/12.*(1+1.5/2+.5/3) + 5/12.*(1+1./2+1./3) + 3/12.*(2+.5/2+.5/3)) / (2 * (1 + .5/2 + .25/3)),
		"err-ia@2":     (4/12.*(1+1.5/2) + 5/12.*(1+1./2) + 3/12.*(2+.5/2)) / (2 * (1 + .5/2)),
		// A and C are of one group, so the third is B
		"ils":   1. / 3,
		"ils@2": third,
		"ild":   1 - 1./3,
		"ild@2": 1 - third,
		// B before A, B before C, C before A
		"pair-accuracy": (1/3. + 1/2. + 1/3.) / 3,
		// the first two are right if the better is at rank 1, half right if the third is
		"pair-accuracy@1": ((3/12. + 3/12./2) + (3/12. + 6/12./2) + (3/12. + 3/12./2)) / 3,
	}
	for _, name := range Names() {
		if _, has := formulas[name]; !has {
			t.Errorf("expected-%s has no formula here", name)
		}
	}
	for name, want := range formulas {
		m := mustParse(t, expectedPrefix+name)
		if over := overRankings(t, m, in, drawn).mean; !near(over, want, 1e-14) {
			t.Errorf("%v over the twelve draws is %v; want %v", m, over, want)
		}
		if exact, err := m.PerQuery(in); err != nil || !near(exact[0], want, 1e-9) {
			t.Errorf("%v is %v, %v; want %v", m, exact, err, want)
		}
	}
	// The reciprocal rank is ½ or 1, and the hit at rank 1 is there or not, in half of the rankings each.
	for name, want := range map[string]float64{"mrr": .25, "rr@2": .25, "mrr@1": .5, "hits@1": .5, "success@2": 0} {
		m := mustParse(t, deviationPrefix+name)
		if got, err := m.PerQuery(in); err != nil || !near(got[0], want, 1e-12) || !m.LowerIsBetter() || !m.OfPolicy() || m.Ranking().String() != m.String() {
			t.Errorf("%v is %v, %v; want %v", m, got, err, want)
		}
	}
	for _, name := range []string{"deviation-map", "expected-deviation-mrr", "deviation-ee-l"} {
		if _, err := ParseMeasure(name); err == nil || !strings.Contains(err.Error(), "want deviation-mrr or deviation-hits") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	// Of the exposures E = 6/12 + 4/12/2 = 8/12 of A, 3/12 + 4/12/2 = 5/12 of B and C; E* = 0, 1, 1/2.
	for name, want := range map[string]float64{
		"disparity":       2 * (4 + 4.0/9 + (5/4.-5/12.)*(5/4.-5/12.)) / 6,
		"abs-disparity":   2 * (2 + 2/3. + 5/4. - 5/12.) / 6,
		"ee-l":            64/144. + 49/144. + 1/144.,
		"ee-d":            64/144. + 25/144. + 25/144.,
		"ee-r":            5/12. + 5/12./2,
		"exposure-ratio":  (5 / 12.) / (13 / 24.),
		"treatment-ratio": (5 / 36.) / (13 / 12.),
	} {
		if got, err := mustParse(t, name).PerQuery(in); err != nil || !near(got[0], want, 1e-9) {
			t.Errorf("%s is %v, %v; want %v", name, got, err, want)
		}
	}
}

func TestTiesInOrderGoByRow(t *testing.T) {
	l := Queries{Scores: []float64{1, 1, 1}, Labels: []float32{0, 1, 0}, Ties: TiesOrder}
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
	relative = []string{"ndcg", "recall", "map", "mrr", "arp", "letor4-ndcg", "hits", "pair-accuracy", "alpha-ndcg", "err-ia"}
	absolute = []string{"dcg", "precision", "err", "rbp", "graded-rbp"}
)

func TestMetricsWithoutRelevantDocumentsAreUndefinedOrZero(t *testing.T) {
	// label-free, empty, one relevant document, one irrelevant; two rows of padding
	l := Queries{
		Scores:  []float64{1, 2, 3, 7, 7, 0, 0},
		Labels:  []float32{0, 0, 0, 1, 0, 3, 3},
		Offsets: []int{0, 3, 3, 4, 5},
	}
	l.Intents = intentsOf(l.Labels)
	for _, m := range allMetrics(t) {
		perQuery, err := m.PerQuery(l)
		if err != nil {
			t.Fatal(err)
		}
		expected, err := m.Expected().PerQuery(l)
		if err != nil {
			t.Fatal(err)
		}
		name := m.metric.family.name
		if m.NeedsVectors() { // labels do not count, but there is no pair
			for _, v := range slices.Concat(perQuery[1:], expected[1:]) {
				if !math.IsNaN(v) {
					t.Errorf("%v of one document is %v", m, v)
				}
			}
			continue
		}
		for _, q := range []int{0, 1, 3} {
			for _, v := range []float64{perQuery[q], expected[q]} {
				undefined := math.IsNaN(v)
				if !undefined && v != 0 || slices.Contains(relative, name) && !undefined || slices.Contains(absolute, name) && undefined {
					t.Errorf("%v of query %d is %v", m, q, v)
				}
			}
		}
		if name == "pair-accuracy" { // there is no pair
			if !math.IsNaN(perQuery[2]) || !math.IsNaN(expected[2]) {
				t.Errorf("%v of one document is %v, expected %v", m, perQuery[2], expected[2])
			}
			continue
		}
		beyond := name == "letor4-ndcg" && m.metric.cutoff > 1
		if v, w := perQuery[2], expected[2]; v > 0 == beyond || !near(v, w, 1e-15) {
			t.Errorf("%v of one relevant document is %v, expected %v", m, v, w)
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
		lists  Queries
		want   string
	}{
		{ndcg, Queries{Scores: []float64{0, nan}, Labels: []float32{0, 1}}, "row 1: score NaN"},
		{ndcg, Queries{Scores: []float64{0, 1, inf}, Labels: []float32{0, 1, 1}, Offsets: []int{0, 1, 3}}, "query 1, row 2: score +Inf"},
		{ndcg, Queries{Scores: []float64{0, 1, 2}, Labels: []float32{0, 1, 40}, Offsets: []int{0, 1, 3}}, `query 1, row 2: label 40 is too high for a gain of 2^label − 1 (at most 31): use the gain "linear"`},
		{ndcg, Queries{Scores: []float64{0}, Labels: []float32{-1}}, "label -1 is negative"},
		{mustParse(t, "map"), Queries{Scores: []float64{0}, Labels: []float32{-1}}, "label -1 is negative"},
		{mustParse(t, "arp"), Queries{Scores: []float64{0}, Labels: []float32{float32(nan)}}, "label NaN"},
		{mustParse(t, "precision"), Queries{Scores: []float64{0}, Labels: []float32{float32(inf)}}, "label +Inf"},
		{mustParse(t, "err(max=4)@10"), Queries{Scores: []float64{0}, Labels: []float32{5}}, "use err(max=5)@10"},
		{mustParse(t, "err(max=4)"), Queries{Scores: []float64{0}, Labels: []float32{40}}, "label 40 is too high for err, which has 2^label in it"},
		{mustParse(t, "err"), Queries{Scores: []float64{0}, Labels: []float32{40}, Gain: LinearGain}, "whatever the gain: want at most 31, or another metric"},
		{mustParse(t, "graded-rbp"), Queries{Scores: []float64{0}, Labels: []float32{5}, HighestGrade: 4}, "row 0: label 5 is above 4, the highest grade"},
		{mustParse(t, "pair-accuracy"), Queries{Scores: []float64{0}, Labels: []float32{-1}}, "label -1 is negative"},
		{ndcg, Queries{Scores: []float64{0}, Labels: nil}, "1 scores but 0 labels"},
		{ndcg, Queries{Scores: []float64{0}, Labels: []float32{0}, Offsets: []int{0, 2}}, "offset 1 is 2"},
		{ndcg, Queries{Scores: []float64{0}, Labels: []float32{0}, Offsets: []int{1, 0}}, "offset 1 is 0"},
		{ndcg, Queries{Scores: []float64{0}, Labels: []float32{0}, Offsets: []int{}}, "offsets are empty"},
		{mustParse(t, "alpha-ndcg"), Queries{Scores: []float64{0, 1}, Labels: []float32{0, 1}, Intents: []int{1, -2}}, "document 1: the intents are -2"},
		{mustParse(t, "err-ia"), Queries{Scores: []float64{0, 1}, Labels: []float32{0, 1}, Intents: []int{1, 2, 3}}, "3 intents of 2 documents"},
		{Measure{}, Queries{}, "the zero Measure"},
	} {
		if _, err := c.metric.PerQuery(c.lists); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("PerQuery: %v; want an error with %q", err, c.want)
		}
		if _, err := c.metric.Expected().PerQuery(c.lists); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Expected: %v; want an error with %q", err, c.want)
		}
	}
	l := Queries{Scores: []float64{0, 1, 2}, Labels: []float32{0, 1, 40}, Gain: LinearGain}
	if _, err := ndcg.PerQuery(l); err != nil {
		t.Errorf("a label of 40 with linear gain: %v", err)
	}
}

func TestInvalidSettingsAreErrorsOfEveryMeasure(t *testing.T) {
	for want, change := range map[string]func(in *Queries){
		"invalid Queries.Gain: Gain(9)":           func(in *Queries) { in.Gain = 9 },
		"invalid Queries.Ties: Ties(-1)":          func(in *Queries) { in.Ties = -1 },
		"invalid Queries.LabelFree: LabelFree(4)": func(in *Queries) { in.LabelFree = 4 },
		"the highest grade is NaN":                func(in *Queries) { in.HighestGrade = math.NaN() },
		"the highest grade is -1":                 func(in *Queries) { in.HighestGrade = -1 },
		"the highest grade is +Inf":               func(in *Queries) { in.HighestGrade = math.Inf(1) },
		"1 groups but 3 labels":                   func(in *Queries) { in.Groups = []int{0} },
		"discount 2 is NaN":                       func(in *Queries) { in.Discounts[1] = math.NaN() },
	} {
		in := Queries{Scores: []float64{1, 2, 3}, Labels: []float32{0, 1, 2}, Discounts: []float64{1, .5}}
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
		if _, err := Exposure(in); err == nil || !strings.HasPrefix(err.Error(), "metrics: "+want) {
			t.Errorf("Exposure: error %v, want %q", err, want)
		}
	}
}

// To a measure that goes by relevance, a label of one half is as good as 0, and to others it is not.
func TestMeasuresByRelevanceDoNotSeeHalves(t *testing.T) {
	half := Queries{Scores: []float64{3, 2, 1, 0}, Labels: []float32{0.5, 0, 0.5, 0}, HighestGrade: 1, Discounts: []float64{1, 0.5}, Groups: []int{0, 1, 1, 0}, Intents: make([]int, 4)}
	for _, name := range slices.Concat(Names(), []string{"expected-map@2", "disparity", "ee-l", "treatment-ratio"}) {
		for _, gain := range []Gain{Exp2Gain, LinearGain, BinaryGain} {
			m, err := ParseMeasure(name)
			if err != nil {
				t.Fatal(err)
			}
			in := half
			in.Gain = gain
			a, err := m.PerQuery(in)
			in.Labels = make([]float32, 4)
			b, errZero := m.PerQuery(in)
			if err != nil || errZero != nil {
				t.Fatal(name, err, errZero)
			}
			if m.NeedsIntents() || m.NeedsVectors() {
				continue // it sees no labels at all
			}
			if same := a[0] == b[0] || math.IsNaN(a[0]) && math.IsNaN(b[0]); same != m.ByRelevance(gain) {
				t.Errorf("%s, %v: %v with halves, %v without, but ByRelevance is %t", name, gain, a, b, m.ByRelevance(gain))
			}
		}
	}
	if NewMeasure("custom", false, nil).ByRelevance(BinaryGain) {
		t.Error("a custom measure goes by relevance")
	}
}
