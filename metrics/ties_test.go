package metrics

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/combin"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/plackett"
)

func TestRandomTiesAreTheMeanOverAllOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "documents")
		in := Queries{HighestGrade: 4}
		for _, s := range rapid.SliceOfN(rapid.IntRange(0, 2), n, n).Draw(t, "scores") {
			in.Scores = append(in.Scores, float64(s))
		}
		in.Labels = rapid.SliceOfN(rapid.SampledFrom([]float32{0, 0, 0.5, 1, 2, 3, 4}), n, n).Draw(t, "labels")
		in.Intents = intentsOf(in.Labels)
		cutoffs := []string{"", "@1", "@2", "@3", "@5", "@9"}
		for _, name := range Names() {
			m := mustParse(t, name+rapid.SampledFrom(cutoffs).Draw(t, name))
			var mean moments
			for _, order := range combin.Permutations(n, n) {
				turned := Queries{HighestGrade: 4, Ties: TiesOrder}
				for _, d := range order {
					turned.Scores = append(turned.Scores, in.Scores[d])
					turned.Labels = append(turned.Labels, in.Labels[d])
				}
				turned.Intents = intentsOf(turned.Labels)
				mean.add(perQuery(t, m, turned)[0])
			}
			got := perQuery(t, m, in)[0]
			if want := mean.mean; !near(got, want, 1e-13) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%v is %v, the mean over all orders is %v", m, got, want)
			}
		}
		in.Discounts = Discounts(rapid.IntRange(1, 7).Draw(t, "discounts"))
		got := make([]float64, n)
		plackett.RankedExposure(in.Scores, in.Discounts, got)
		want := make([]float64, n)
		orders := combin.Permutations(n, n)
		for _, order := range orders {
			slices.SortStableFunc(order, func(a, b int) int { return int(in.Scores[b] - in.Scores[a]) })
			for k, d := range order[:min(n, len(in.Discounts))] {
				want[d] += in.Discounts[k] / float64(len(orders))
			}
		}
		if !same(got, want) {
			t.Errorf("exposure %v, the mean over all orders is %v", got, want)
		}
	})
}

// Bit for bit.
func TestWaysToRankTiesAgreeWithoutTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, m := drawLists(t), drawMetric(t)
		for i := range l.Scores {
			l.Scores[i] += float64(i) / 1000
		}
		random := perQuery(t, m, l)
		l.Ties = TiesOrder
		for q, v := range perQuery(t, m, l) {
			if math.Float64bits(v) != math.Float64bits(random[q]) {
				t.Errorf("%v of query %d is %v, with ties in order %v", m, q, random[q], v)
			}
		}
	})
}

func TestConstantScoreDoesNotDependOnTheOrderOfTheFile(t *testing.T) {
	best := Queries{Scores: make([]float64, 40), Labels: make([]float32, 40)}
	worst := best
	worst.Labels = make([]float32, 40)
	for i := range 10 {
		best.Labels[i], worst.Labels[39-i] = float32(i%4), float32(i%4)
	}
	best.Intents, worst.Intents = intentsOf(best.Labels), intentsOf(worst.Labels)
	for _, m := range allMetrics(t) {
		a, err1 := m.PerQuery(best)
		b, err2 := m.PerQuery(worst)
		if err1 != nil || err2 != nil || !same(a, b) {
			t.Errorf("%v is %v with the relevant documents first, %v with them last (%v, %v)", m, a, b, err1, err2)
		}
		if m.metric.family.name == "ndcg" && m.metric.cutoff == 3 && !(a[0] < 0.3) {
			t.Errorf("%v of a constant score is %v", m, a)
		}
	}
}

func TestParseTiesReadsItsNames(t *testing.T) {
	for _, ties := range []Ties{TiesRandom, TiesOrder} {
		if got, err := ParseTies(ties.String()); err != nil || got != ties {
			t.Errorf("ParseTies(%q) is %v, %v", ties, got, err)
		}
	}
	if _, err := ParseTies("rank"); err == nil {
		t.Error("no error for an unknown name")
	}
}
