package metrics

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawLists makes queries of all sizes, with ties and labels of 0 to 4.
func drawLists(t *rapid.T) Queries {
	l := Queries{Offsets: []int{0}, HighestGrade: 4}
	for _, documents := range rapid.SliceOfN(rapid.IntRange(0, 12), 1, 6).Draw(t, "documents") {
		for range documents {
			l.Scores = append(l.Scores, float64(rapid.IntRange(-4, 4).Draw(t, "score")))
			l.Labels = append(l.Labels, float32(rapid.IntRange(0, 4).Draw(t, "label")))
		}
		l.Offsets = append(l.Offsets, len(l.Scores))
	}
	l.Intents = intentsOf(l.Labels)
	return l
}

// intentsOf gives documents of label 1 or more intents: the bits of the label.
func intentsOf(labels []float32) (intents []int) {
	for _, label := range labels {
		intents = append(intents, max(0, int(label)))
	}
	return intents
}

func drawMetric(t *rapid.T) Measure { return rapid.SampledFrom(allMetrics(t)).Draw(t, "metric") }

func perQuery(t *rapid.T, m Measure, l Queries) []float64 {
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
		shuffled := Queries{Offsets: l.Offsets, HighestGrade: 4}
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
		shuffled.Intents = intentsOf(shuffled.Labels)
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
			alone = append(alone, perQuery(t, m, Queries{Scores: l.Scores[first:end], Labels: l.Labels[first:end], Intents: l.Intents[first:end], HighestGrade: 4})...)
		}
		padded := Queries{
			HighestGrade: 4,
			Scores:       append(l.Scores[:len(l.Scores):len(l.Scores)], 9, math.NaN()),
			Labels:       append(l.Labels[:len(l.Labels):len(l.Labels)], 4, -1),
			Offsets:      l.Offsets,
		}
		padded.Intents = intentsOf(padded.Labels)
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
		if m.NeedsIntents() || m.NeedsVectors() {
			return // the best ranking by label is another one
		}
		ideal := Queries{Labels: l.Labels, Offsets: l.Offsets, HighestGrade: 4}
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
			case "ndcg", "map", "mrr", "letor4-ndcg", "hits":
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
		if m.NeedsIntents() || m.NeedsVectors() {
			return // what is better depends on the documents above
		}
		labels := rapid.SliceOfN(rapid.IntRange(0, 4), 2, 12).Draw(t, "labels")
		l := Queries{HighestGrade: 4}
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
