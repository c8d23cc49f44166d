package worth

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// drawRankings draws a few rankings of a few items: partial, top-k and tied ones, with weights. Ties
// have two or three items.
func drawRankings(t *rapid.T, ties bool) *Observations {
	n := rapid.IntRange(2, 6).Draw(t, "items")
	r := &Observations{Items: numbered(n)}
	for range rapid.IntRange(1, 8).Draw(t, "rankings") {
		order := rapid.Permutation(sequence(n)).Draw(t, "order")
		order = order[:rapid.IntRange(2, n).Draw(t, "length")]
		ranking := Ranking{Weight: rapid.Float64Range(0.1, 5).Draw(t, "weight")}
		placed := rapid.IntRange(1, len(order)).Draw(t, "placed")
		for i := 0; i < placed; {
			size := 1
			if ties {
				size = min(rapid.IntRange(1, 3).Draw(t, "size"), placed-i)
			}
			ranking.Places = append(ranking.Places, order[i:i+size])
			i += size
		}
		ranking.Rest = order[placed:]
		mustAdd(t, r, ranking)
	}
	return r
}

// drawParameters draws log-worths and logs of tie parameters.
func drawParameters(t *rapid.T, l *likelihood) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-3, 3), l.size(), l.size()).Draw(t, "parameters")
}

func sequence(n int) (s []int) {
	for i := range n {
		s = append(s, i)
	}
	return s
}

// logProbability returns the log-probability of a ranking from the formula in the package's comment, over all subsets.
func logProbability(ranking Ranking, x []float64, items int, orders []int) (log float64) {
	f := func(set []int) float64 { // log f(S)
		sum := 0.0
		for _, i := range set {
			sum += x[i] / float64(len(set))
		}
		if len(set) == 1 {
			return sum
		}
		order := slices.Index(orders, len(set))
		if order < 0 {
			return math.Inf(-1)
		}
		return sum + x[items+order]
	}
	left := slices.Concat(append(slices.Clone(ranking.Places), ranking.Rest)...)
	for _, place := range ranking.Places {
		sum := 0.0
		for subset := 1; subset < 1<<len(left); subset++ {
			var set []int
			for j, i := range left {
				if subset>>j&1 == 1 {
					set = append(set, i)
				}
			}
			sum += math.Exp(f(set) - f(place))
		}
		log -= math.Log(sum)
		left = left[len(place):]
	}
	return log
}

func TestLikelihoodIsTheSumOverAllSubsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRankings(t, rapid.Bool().Draw(t, "ties"))
		l := newLikelihood(r, len(r.Items), r.tieOrders())
		x := drawParameters(t, l)
		want := 0.0
		for i := range r.Len() {
			ranking := r.At(i)
			want += ranking.Weight * logProbability(ranking, x, l.items, l.orders)
		}
		near(t, "log-likelihood", []float64{l.value(x)}, []float64{want}, 1e-11)
	})
}

func TestDerivativesAreFiniteDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRankings(t, rapid.Bool().Draw(t, "ties"))
		l := newLikelihood(r, len(r.Items), r.tieOrders())
		x := drawParameters(t, l)
		gradient, diagonal := make([]float64, l.size()), make([]float64, l.size())
		l.derivatives(context.Background(), x, gradient, diagonal)
		h := l.information(x)
		const step = 1e-5
		for i := range x {
			at := func(d float64) (float64, []float64) {
				moved, g := slices.Clone(x), make([]float64, l.size())
				moved[i] += d
				return l.derivatives(context.Background(), moved, g, make([]float64, l.size())), g
			}
			above, gradientAbove := at(step)
			below, gradientBelow := at(-step)
			near(t, "gradient", gradient[i:i+1], []float64{(above - below) / (2 * step)}, 1e-7)
			for j := range x {
				near(t, "Hessian", []float64{-h.At(j, i)}, []float64{(gradientAbove[j] - gradientBelow[j]) / (2 * step)}, 1e-7)
			}
			near(t, "diagonal", diagonal[i:i+1], []float64{h.At(i, i)}, 1e-10)
		}
		v := drawParameters(t, l)
		product, want := make([]float64, l.size()), mat.NewVecDense(l.size(), nil)
		l.times(x)(context.Background(), product, v)
		want.MulVec(h, mat.NewVecDense(l.size(), v))
		near(t, "H·v", product, want.RawVector().Data, 1e-10)
	})
}

// Rankings without ties have two ways, each linear in the items: over the largest of all worths, and, where worths are
// far apart, over the largest of each choice. With the parameter of a tie that has no probability they go choice by
// choice, as rankings with ties do.
func TestBothBasesOfWorthsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRankings(t, false)
		n := len(r.Items)
		apart := rapid.SampledFrom([]float64{1, 290, 310, 1000, 1e300}).Draw(t, "apart")
		x := drawParameters(t, newLikelihood(r, n, nil))
		for i := range x {
			x[i] += apart * float64(rapid.IntRange(0, 2).Draw(t, "multiple"))
		}
		v := drawParameters(t, newLikelihood(r, n, nil))
		// One more item, in no ranking, makes worths far apart that are not.
		far := &Observations{Items: append(slices.Clone(r.Items), "far"), entries: r.entries, spans: r.spans}
		one := newLikelihood(r, n, []int{2})
		g, d, product := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
		y := append(slices.Clone(x), -1000)
		value := one.derivatives(context.Background(), y, g, d)
		h := one.information(y)
		one.times(y)(context.Background(), product, append(slices.Clone(v), 0))
		for _, l := range []*likelihood{newLikelihood(r, n, nil), newLikelihood(far, n+1, nil)} {
			gOther, dOther, productOther := make([]float64, l.size()), make([]float64, l.size()), make([]float64, l.size())
			y, v := append(slices.Clone(x), -1000)[:l.size()], append(slices.Clone(v), 0)[:l.size()]
			near(t, "log-likelihood", []float64{l.derivatives(context.Background(), y, gOther, dOther)}, []float64{value}, 1e-12*max(1, math.Abs(value)))
			near(t, "gradient", gOther[:n], g[:n], 1e-12)
			near(t, "diagonal", dOther[:n], d[:n], 1e-12)
			l.times(y)(context.Background(), productOther, v)
			near(t, "H·v", productOther[:n], product[:n], 1e-12)
			hOther := l.information(y)
			for i := range n {
				for j := range n {
					near(t, "information", []float64{hOther.At(i, j)}, []float64{h.At(i, j)}, 1e-12)
				}
			}
			if l.parts[0].choice.mean != nil {
				t.Fatal("a ranking without ties went choice by choice, in time quadratic in its items")
			}
		}
	})
}

// The log-likelihood in linear time equals the sum over the choices one by one, however far apart the worths are.
func TestLogsOfRankingsSumToTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRankings(t, true)
		l := newLikelihood(r, len(r.Items), []int{2, 3})
		x := drawParameters(t, l)
		apart := rapid.SampledFrom([]float64{0, 100, 1000, 1e300}).Draw(t, "apart")
		for i := range r.Items {
			x[i] += apart * float64(rapid.IntRange(0, 2).Draw(t, "multiple"))
		}
		sum, alpha := 0.0, l.worths(x)
		for _, p := range l.parts {
			for _, s := range p.spans {
				weight := s.weight
				p.value, s.weight = 0, 1
				l.derive(t.Context(), p, s, x, alpha)
				sum += weight * p.value
			}
		}
		near(t, "log-likelihood", []float64{l.value(x)}, []float64{sum}, 1e-12*max(1, math.Abs(sum)))
	})
}

func TestTiedRankingsHaveProbabilityOne(t *testing.T) {
	m := &Model{Items: numbered(4), LogWorths: []float64{1, 0.2, -0.5, -0.7}, TieOrders: []int{2, 3, 4}, LogTies: []float64{-0.3, 0.4, -1}}
	sum := 0.0
	var extend func(places [][]int, left []int)
	extend = func(places [][]int, left []int) {
		if len(left) == 0 {
			r := &Observations{Items: m.Items}
			mustAdd(t, r, Ranking{Places: places})
			e, err := m.Evaluate(r)
			if err != nil {
				t.Fatal(err)
			}
			sum += math.Exp(e.LogLikelihood)
			return
		}
		for subset := 1; subset < 1<<len(left); subset++ {
			var place, others []int
			for j, i := range left {
				if subset>>j&1 == 1 {
					place = append(place, i)
				} else {
					others = append(others, i)
				}
			}
			extend(append(slices.Clone(places), place), others)
		}
	}
	extend(nil, sequence(4))
	near(t, "sum over all 75 rankings", []float64{sum}, []float64{1}, 1e-14)
}

func TestGapsOfAThousandAreFinite(t *testing.T) {
	m := &Model{Items: numbered(4), LogWorths: []float64{1500, 500, -500, -1500}, TieOrders: []int{2}, LogTies: []float64{0}}
	for _, c := range []struct {
		places [][]int
		log    float64
	}{
		{[][]int{{0}, {1}, {2}, {3}}, 0},
		{[][]int{{3}, {2}, {1}, {0}}, -3000 - 2000 - 1000},
		{[][]int{{0, 1}, {2}, {3}}, -500},
		{[][]int{{0}, {1}, {2, 3}}, -500},
	} {
		r := &Observations{Items: m.Items}
		mustAdd(t, r, Ranking{Places: c.places})
		for _, ties := range []int{1, 0} {
			m := &Model{Items: m.Items, LogWorths: m.LogWorths, TieOrders: m.TieOrders[:ties], LogTies: m.LogTies[:ties]}
			if ties == 0 && len(c.places) < 4 {
				continue
			}
			e, err := m.Evaluate(r)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "log-likelihood", []float64{e.LogLikelihood}, []float64{c.log}, 1e-9)
		}
	}
}

func TestTauCountsAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRankings(t, true)
		m := &Model{Items: r.Items, TieOrders: []int{2, 3}, LogTies: []float64{0, 0}}
		for range r.Items {
			m.LogWorths = append(m.LogWorths, float64(rapid.IntRange(-2, 2).Draw(t, "worth")))
		}
		var sum, weight float64
		for i := range r.Len() {
			ranking := r.At(i)
			var concordance, pairs float64
			places := append(slices.Clone(ranking.Places), ranking.Rest)
			for above, place := range places {
				for _, below := range places[above+1:] {
					for _, a := range place {
						for _, b := range below {
							concordance += float64(cmp.Compare(m.LogWorths[a], m.LogWorths[b]))
							pairs++
						}
					}
				}
			}
			if pairs > 0 {
				sum += ranking.Weight * concordance / pairs
				weight += ranking.Weight
			}
		}
		e, err := m.Evaluate(r)
		if err != nil {
			t.Fatal(err)
		}
		if want := sum / weight; e.Tau != want && !(math.Abs(e.Tau-want) < 1e-12) && !math.IsNaN(want) {
			t.Fatalf("τ is %v, want %v", e.Tau, want)
		}
	})
}

func TestModelsOfExportedFieldsEvaluate(t *testing.T) {
	r := mustRead(t, "A > B = C", "races")
	good := Model{Items: r.Items, LogWorths: []float64{1, 0, -1}, TieOrders: []int{2}, LogTies: []float64{0.5}}
	if _, err := good.Evaluate(r); err != nil {
		t.Error(err)
	}
	if _, err := good.Uncertainty(); err == nil {
		t.Error("standard errors without rankings")
	}
	if _, err := good.EqualWorths(t.Context()); err == nil {
		t.Error("a test without rankings")
	}
	for _, bad := range []Model{
		{Items: r.Items, LogWorths: []float64{1, 0}, TieOrders: []int{2}, LogTies: []float64{0}},
		{Items: r.Items, LogWorths: []float64{1, 0, math.NaN()}, TieOrders: []int{2}, LogTies: []float64{0}},
		{Items: r.Items, LogWorths: []float64{1, 0, 0}, TieOrders: []int{2}, LogTies: []float64{math.Inf(1)}},
		{Items: r.Items, LogWorths: []float64{1, 0, 0}, TieOrders: []int{2}},
		{Items: r.Items, LogWorths: []float64{1, 0, 0}, TieOrders: []int{1, 2}, LogTies: []float64{0, 0}},
		{Items: r.Items, LogWorths: []float64{1, 0, 0}, TieOrders: []int{3, 2}, LogTies: []float64{0, 0}},
		{Items: r.Items, LogWorths: []float64{1, 0, 0}, TieOrders: []int{2, 1e9}, LogTies: []float64{0, 0}},
	} {
		if _, err := bad.Evaluate(r); err == nil {
			t.Errorf("%+v is not an error", bad)
		}
	}
}

func TestEvaluateRejectsOtherItemsAndTies(t *testing.T) {
	m := mustFit(t, mustRead(t, "A > B\nB > A\n", "races"), Options{})
	for _, c := range []struct{ text, want string }{
		{"A > C", "different items"},
		{"A = B", "a tie of 2 items"},
	} {
		if _, err := m.Evaluate(mustRead(t, c.text, "others")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want an error with %q", c.text, err, c.want)
		}
	}
	if _, err := m.Evaluate(&Observations{Items: m.Items}); err == nil {
		t.Error("no rankings are not an error")
	}
}
