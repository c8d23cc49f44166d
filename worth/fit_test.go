package worth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

// simulate draws rankings of length items each, by an exponential race.
func simulate(rng *rand.Rand, logWorths []float64, rankings, length int) *Observations {
	r := &Observations{Items: numbered(len(logWorths))}
	times := make([]float64, len(logWorths))
	for range rankings {
		items := rng.Perm(len(logWorths))[:length]
		for _, i := range items {
			times[i] = rng.ExpFloat64() / math.Exp(logWorths[i])
		}
		slices.SortFunc(items, func(i, j int) int { return cmp.Compare(times[i], times[j]) })
		places := make([][]int, length)
		for k := range items {
			places[k] = items[k : k+1]
		}
		if err := r.Add(Ranking{Places: places}); err != nil {
			panic(err)
		}
	}
	return r
}

func TestFitIsTheMaximum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRankings(t, rapid.Bool().Draw(t, "ties"))
		prior := rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "prior")
		m, err := Fit(context.Background(), r, Options{Prior: prior})
		if err != nil {
			t.Skip(err)
		}
		l := newLikelihood(r, len(r.Items), m.TieOrders)
		if prior > 0 {
			l = newLikelihood(r.withGhost(prior), len(r.Items)+1, m.TieOrders)
		}
		// The ghost's worth is that with which it wins as often as it should.
		x := slices.Insert(m.parameters(), len(r.Items), make([]float64, l.items-len(r.Items))...)
		if prior > 0 {
			n := newton{likelihood: l}
			best, err := n.maximize(context.Background(), make([]float64, n.size()))
			if err != nil {
				t.Fatal(err)
			}
			x[len(r.Items)] = best[len(r.Items)] + m.LogWorths[0] - best[0]
		}
		gradient := make([]float64, l.size())
		l.derivatives(context.Background(), x, gradient, make([]float64, l.size()))
		near(t, "gradient", gradient, make([]float64, l.size()), 1e-7)
		near(t, "sum of the log-worths", []float64{floats.Sum(m.LogWorths)}, []float64{0}, 1e-12)
	})
}

func TestWeightsAreRepetitions(t *testing.T) {
	once := mustRead(t, "3: a > b = c\n2: c > a | a, b, c\nb > a > c\n", "weights")
	again := mustRead(t, "a > b = c\nc > a | a, b, c\nb > a > c\nc > a | b\na > b = c\na > b = c\n", "repetitions")
	m, n := mustFit(t, once, Options{}), mustFit(t, again, Options{})
	near(t, "parameters", m.parameters(), n.parameters(), 1e-10)
	near(t, "log-likelihood", []float64{m.LogLikelihood}, []float64{n.LogLikelihood}, 1e-12)
}

func TestSameBitsWhateverGOMAXPROCS(t *testing.T) {
	r := simulate(rand.New(rand.NewPCG(1, 2)), []float64{1, 0, 0.5, -1, 0, 0.2, 0}, 9000, 5)
	if n := len(newLikelihood(r, 7, nil).parts); n < 3 {
		t.Fatalf("%d parts are too few", n)
	}
	var fits []*Model
	for _, procs := range []int{1, 5} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		fits = append(fits, mustFit(t, r, Options{}))
	}
	if !slices.Equal(fits[0].LogWorths, fits[1].LogWorths) || fits[0].LogLikelihood != fits[1].LogLikelihood {
		t.Error("the bits depend on GOMAXPROCS")
	}
}

// Neighbours that win 99 of 100 comparisons are log 99 apart: the ends of the chain by more than 1000.
func TestLongChainsAreFitted(t *testing.T) {
	r := &Observations{Items: numbered(230)}
	for i := range 229 {
		mustAdd(t, r, Ranking{Places: [][]int{{i}, {i + 1}}, Weight: 99})
		mustAdd(t, r, Ranking{Places: [][]int{{i + 1}, {i}}})
	}
	m := mustFit(t, r, Options{})
	for i := range 229 {
		near(t, "difference", []float64{m.LogWorths[i] - m.LogWorths[i+1]}, []float64{math.Log(99)}, 1e-8)
	}
	u := mustUncertainty(t, m)
	near(t, "standard error", []float64{u.Difference(0, 1)}, []float64{1 / math.Sqrt(100*0.99*0.01)}, 1e-8)
}

func TestEndOfTheContextKeepsTheBest(t *testing.T) {
	r := puddings(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	var last Progress
	m, err := Fit(ctx, r, Options{Progress: func(p Progress) { last = p; cancel(cause) }})
	if err != cause || m == nil || m.Steps != 1 || math.Abs(m.LogLikelihood-last.LogLikelihood) > 1e-9 {
		t.Errorf("got %+v and %v after %+v, want the model of one step and the cause", m, err, last)
	}
}

// A countdown is a context that ends when it has been asked so often.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// With ties, the derivatives take time quadratic in the items of a ranking: the end of the context ends them, and what
// they have come to by then is not taken for the derivatives.
func TestTheEndOfTheContextEndsDerivatives(t *testing.T) {
	r := mustRead(t, "a > b = c > d\nd > c > b > a\nb > a = d > c\na > c > b > d\n", "ties")
	n, err := newNewton(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.maximize(&countdown{Context: t.Context()}, make([]float64, n.size())); err != context.Canceled || n.parts[0].choice.mean != nil {
		t.Errorf("%v, and choices were derived after the end", err)
	}
	var steps []Progress
	mustFit(t, r, Options{Progress: func(p Progress) { steps = append(steps, p) }})
	best := math.Inf(-1)
	for asked := int64(0); ; asked++ {
		ctx := &countdown{Context: t.Context()}
		ctx.left.Store(asked)
		m, err := Fit(ctx, r, Options{Progress: func(p Progress) {
			if p != steps[p.Step-1] {
				t.Fatalf("after %d questions: %+v, want %+v", asked, p, steps[p.Step-1])
			}
		}})
		if m == nil || err != nil && err != context.Canceled || m.LogLikelihood < best-1e-9 {
			t.Fatalf("after %d questions: %+v and %v, with the log-likelihood %v before", asked, m, err, best)
		}
		if best = m.LogLikelihood; err == nil {
			return
		}
	}
}

func TestFitRejectsWhatHasNoEstimate(t *testing.T) {
	good := "a > b\nb > a\n"
	for _, c := range []struct {
		text    string
		options Options
		want    string
	}{
		{good, Options{Prior: -1}, "Options.Prior is -1"},
		{good, Options{Prior: math.NaN()}, "Options.Prior is NaN"},
		{good, Options{Prior: 1e300}, "Options.Prior is 1e+300: the weights"},
		{"a > b\nb > a\nc > d\nd > c\n", Options{}, "2 classes"},
		{"a > b > c > d > e > f > g\nb > a", Options{}, `none from "g" to the others (there are 6 classes`},
		{"a > b\nb > c\nc > b\na > c", Options{}, `none to "a" from the others (there are 2 classes`},
		{"a = b", Options{}, "ties of 2 items has no finite estimate"},
		// The more ties, and the more a wins, the likelier are both: a loss has a probability that goes to 0.
		{"a > b\na = b", Options{}, "the estimate is not finite"},
		{"a = b = c", Options{Prior: 1}, "ties of 3 items has no finite estimate"},
		{tie(101), Options{}, "a tie of 101 items exceeds the limit of 100"},
	} {
		if _, err := Fit(context.Background(), mustRead(t, c.text, "bad"), c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q with %+v: got %v, want an error with %q", c.text, c.options, err, c.want)
		}
	}
	if _, err := Fit(context.Background(), &Observations{}, Options{}); err == nil {
		t.Error("no rankings are not an error")
	}
}

// tie is a ranking of n items that are tied.
func tie(n int) string { return strings.Join(numbered(n), " = ") }

// Whether ties have a finite estimate is not decided beforehand, see TestFitRejectsWhatHasNoEstimate. Random data
// must not end in an estimate of rounding errors.
func TestFiniteEstimatesAreNotFlat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := Fit(context.Background(), drawRankings(t, true), Options{})
		if err != nil {
			t.Skip(err)
		}
		u, err := m.Uncertainty()
		if err != nil {
			t.Fatal(err)
		}
		if worst := slices.Max(u.StdErrs); worst > 1e3 {
			t.Fatalf("parameters %v have the standard errors %v", m.parameters(), u.StdErrs)
		}
	})
}

func TestExtremeWeightsAreFitted(t *testing.T) {
	for _, w := range []float64{1e-300, 1e-9, 1e15, 1e290, largestWeight / 4} {
		r := &Observations{Items: numbered(3)}
		for _, order := range [][]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}} {
			mustAdd(t, r, Ranking{Places: [][]int{{order[0]}, {order[1]}, {order[2]}}, Weight: w})
		}
		m, err := Fit(context.Background(), r, Options{})
		if err == nil && !(math.Abs(floats.Sum(m.Worths())-1) <= 1e-12 && m.LogWorths[0] > m.LogWorths[1]) {
			t.Errorf("weight %v: worths %v", w, m.Worths())
		}
		if err != nil {
			t.Errorf("weight %v: %v", w, err)
		}
	}
}

func TestConnectivityIsReachability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRankings(t, rapid.Bool().Draw(t, "ties"))
		n := len(r.Items)
		reach := make([][]bool, n) // by wins
		for i := range reach {
			reach[i] = make([]bool, n)
			reach[i][i] = true
		}
		for k := range r.Len() {
			ranking := r.At(k)
			places := append(slices.Clone(ranking.Places), ranking.Rest)
			for above, place := range places {
				for _, i := range place {
					for _, j := range slices.Concat(places[above:]...) {
						if above < len(ranking.Places) {
							reach[i][j] = true
						}
					}
				}
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		classes := Connectivity(r)
		if all := slices.Sorted(slices.Values(slices.Concat(classes...))); !slices.Equal(all, sequence(n)) {
			t.Fatalf("classes %v", classes)
		}
		for a, class := range classes {
			for b, other := range classes {
				if got, want := reach[class[0]][other[0]] && reach[other[0]][class[0]], a == b; got != want {
					t.Fatalf("classes %v: %d and %d are connected: %v", classes, class[0], other[0], got)
				}
				if a > b && reach[class[0]][other[0]] {
					t.Fatalf("classes %v: the wins lead from %d to %d", classes, class[0], other[0])
				}
			}
			for _, i := range class {
				if !reach[class[0]][i] || !reach[i][class[0]] {
					t.Fatalf("classes %v: %d and %d are not connected", classes, class[0], i)
				}
			}
		}
	})
}

func TestIntervalsCoverTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	truth := []float64{1, 0.5, 0, 0, -0.5, -1}
	covered, all := 0, 0
	for range 1000 {
		m := mustFit(t, simulate(rng, truth, 60, 4), Options{})
		u := mustUncertainty(t, m)
		for i, want := range truth {
			if math.Abs(m.LogWorths[i]-want) <= 1.959964*u.StdErrs[i] {
				covered++
			}
			all++
		}
	}
	if share := float64(covered) / float64(all); share < 0.93 || share > 0.97 {
		t.Errorf("95%% intervals cover the truth %.1f%% of the time", 100*share)
	}
}

func TestEqualWorthsIsALikelihoodRatioTest(t *testing.T) {
	m := mustFit(t, puddings(t), Options{})
	got, err := m.EqualWorths(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// With equal worths, two items are tied with the probability δ/(2 + δ), which is the share of ties.
	var ties, wins float64
	for _, p := range pudding {
		wins += float64(p[2] + p[3])
		ties += float64(p[4])
	}
	l0 := ties*math.Log(ties/(wins+ties)) + wins*math.Log(wins/(wins+ties)/2)
	near(t, "statistic", []float64{got.Statistic}, []float64{2 * (m.LogLikelihood - l0)}, 1e-9)
	if got.Freedom != 5 || !(got.PValue > 0.5 && got.PValue < 0.6) {
		t.Errorf("got %+v", got)
	}
}

func TestEqualWorthsWithoutTies(t *testing.T) {
	m := mustFit(t, mustRead(t, netflix, "netflix.soc"), Options{})
	got, err := m.EqualWorths(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// Each of the 24 orders of four has the same probability. There are 588 rankings, as the header of the file says.
	near(t, "statistic", []float64{got.Statistic}, []float64{2 * (m.LogLikelihood + 588*math.Log(24))}, 1e-9)
}

// With a prior the likelihood is not the largest one, and its ratio has no χ² distribution.
func TestEqualWorthsNeedsAModelWithoutAPrior(t *testing.T) {
	m := mustFit(t, puddings(t), Options{Prior: 1})
	if got, err := m.EqualWorths(context.Background()); err == nil || !strings.Contains(err.Error(), "prior 1") {
		t.Errorf("%+v, error %v", got, err)
	}
}

func TestLaterRankingsDoNotChangeAModel(t *testing.T) {
	r := puddings(t)
	m := mustFit(t, r, Options{})
	before := mustUncertainty(t, m).StdErrs
	for range 1000 {
		mustAdd(t, r, Ranking{Places: [][]int{{0}, {1}, {2, 3, 4}}})
	}
	near(t, "standard errors", mustUncertainty(t, m).StdErrs, before, 0)
}

func TestLikelihoodRatioHasAChiSquareDistribution(t *testing.T) {
	// 3.841459 and 5.991465 are the 95 % quantiles of χ² with 1 and 2 degrees of freedom.
	for freedom, quantile := range map[int]float64{1: 3.841459, 2: 5.991465} {
		test, err := LikelihoodRatio(-10, -10+quantile/2, freedom)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "p-value", []float64{test.PValue}, []float64{0.05}, 1e-7)
	}
	for _, bad := range []struct {
		l0, l1  float64
		freedom int
	}{{math.NaN(), 0, 1}, {math.Inf(-1), 0, 1}, {0, 1, 0}} {
		if _, err := LikelihoodRatio(bad.l0, bad.l1, bad.freedom); err == nil {
			t.Errorf("%+v is not an error", bad)
		}
	}
}

// In a circle of pairs with a win each, all worths are equal, and every item takes part in four comparisons, each with
// the information 1/4.
func TestManyItemsHaveTheDiagonalOnly(t *testing.T) {
	r := &Observations{Items: numbered(LargestCovariance + 1)}
	for i := range r.Items {
		j := (i + 1) % len(r.Items)
		mustAdd(t, r, Ranking{Places: [][]int{{i}, {j}}})
		mustAdd(t, r, Ranking{Places: [][]int{{j}, {i}}})
	}
	u := mustUncertainty(t, mustFit(t, r, Options{}))
	if u.Covariance != nil || !math.IsNaN(u.Difference(0, 1)) {
		t.Error("there are covariances")
	}
	for _, e := range u.StdErrs {
		near(t, "standard error", []float64{e}, []float64{1}, 1e-12)
	}
}

// Where every item is compared with many others, what the other items leave unknown adds little.
func TestTheDiagonalIsCloseToTheStandardErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	truth := make([]float64, 200)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	m := mustFit(t, simulate(rng, truth, 4000, 10), Options{})
	diagonal := make([]float64, len(truth))
	newLikelihood(m.rankings, len(truth), nil).derivatives(context.Background(), m.parameters(), make([]float64, len(truth)), diagonal)
	for i, e := range mustUncertainty(t, m).StdErrs {
		near(t, "standard error", []float64{e * math.Sqrt(diagonal[i])}, []float64{1}, 0.005)
	}
}

func TestNoStandardErrorsBetweenGroupsApart(t *testing.T) {
	m := mustFit(t, mustRead(t, "a > b\nb > a\nc > d\nd > c\n", "apart"), Options{Prior: 0.5})
	if _, err := m.Uncertainty(); err == nil || !strings.Contains(err.Error(), "never compared") {
		t.Errorf("got %v, want an error", err)
	}
}

// A parameter of ties is estimated by its share if all items are equal.
func TestTiesOfThreeAreFitted(t *testing.T) {
	r := &Observations{Items: numbered(3)}
	for _, p := range [][]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}} {
		mustAdd(t, r, Ranking{Places: [][]int{{p[0]}}, Rest: p[1:], Weight: 5})
	}
	mustAdd(t, r, Ranking{Places: [][]int{{0, 1, 2}}, Weight: 10})
	m := mustFit(t, r, Options{})
	// P = δ_3/(3 + δ_3) = 1/4, and no ties of two.
	near(t, "log δ_3", m.LogTies, []float64{0}, 1e-9)
	if fmt.Sprint(m.TieOrders) != "[3]" || m.Parameters() != 3 {
		t.Errorf("got ties of %v and %d parameters", m.TieOrders, m.Parameters())
	}
}

// Each item of a chain beats the next one n times, and loses once: the log-worths are log n apart, and the
// variance of the difference is n + 1 over n. Wins that hardly ever fail have a part in it that is far below 1.
func TestManyWinsForALossKeepAllDigits(t *testing.T) {
	for _, items := range []int{2, 3, 40} {
		for _, wins := range []float64{1e3, 1e6, 1e9, 1e12} {
			for _, turns := range []bool{false, true} { // every other pair has it the other way round
				r := &Observations{}
				want := make([]float64, items-1)
				for i := range items {
					r.Item(fmt.Sprint(i))
				}
				for i := range want {
					a, b := i, i+1
					want[i] = math.Log(wins)
					if turns && i%2 == 1 {
						a, b, want[i] = b, a, -want[i]
					}
					for _, ranking := range []Ranking{{Places: [][]int{{a}, {b}}, Weight: wins}, {Places: [][]int{{b}, {a}}}} {
						if err := r.Add(ranking); err != nil {
							t.Fatal(err)
						}
					}
				}
				what := fmt.Sprintf("%d items, %g wins, turns %v", items, wins, turns)
				m, err := Fit(t.Context(), r, Options{})
				if err != nil {
					t.Errorf("%s: %v", what, err)
					continue
				}
				u, err := m.Uncertainty()
				if err != nil {
					t.Errorf("%s: %v", what, err)
					continue
				}
				for i, w := range want {
					if got := m.LogWorths[i] - m.LogWorths[i+1]; !(math.Abs(got-w) < 1e-7) {
						t.Errorf("%s: items %d and %d are %v apart, want %v", what, i, i+1, got, w)
					}
					if got, se := u.Difference(i, i+1), math.Sqrt((wins+1)/wins); !(math.Abs(got-se) < 1e-6) {
						t.Errorf("%s: the standard error of items %d and %d is %v, want %v", what, i, i+1, got, se)
					}
				}
			}
		}
	}
}

// The same with ties: for two items there are as many parameters as counts, so that the fit is exact.
func TestManyWinsForALossWithTiesKeepAllDigits(t *testing.T) {
	for _, wins := range []float64{1e3, 1e7, 1e9, 1e12} {
		r := &Observations{Items: []string{"a", "b"}}
		for _, ranking := range []Ranking{{Places: [][]int{{0}, {1}}, Weight: wins}, {Places: [][]int{{1}, {0}}}, {Places: [][]int{{0, 1}}, Weight: 3}} {
			if err := r.Add(ranking); err != nil {
				t.Fatal(err)
			}
		}
		m, err := Fit(t.Context(), r, Options{})
		if err != nil {
			t.Errorf("%g wins: %v", wins, err)
			continue
		}
		if got, want := m.LogWorths[0]-m.LogWorths[1], math.Log(wins); !(math.Abs(got-want) < 1e-7) {
			t.Errorf("%g wins: the items are %v apart, want %v", wins, got, want)
		}
		if got, want := m.LogTies[0], math.Log(3/math.Sqrt(wins)); !(math.Abs(got-want) < 1e-7) {
			t.Errorf("%g wins: log δ %v, want %v", wins, got, want)
		}
	}
}
