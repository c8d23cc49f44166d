package worth

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

var groups = [][]float64{{2, 1, 0, -1, -2}, {-1.5, 0.5, 2, -1, 0}}

// twoGroups draws rankings; 60 % follow the first group.
func twoGroups(t rapid.TB, rankings int) *Observations {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 9))
	all := simulate(rng, groups[0], rankings*6/10, 5)
	second := simulate(rng, groups[1], rankings*4/10, 5)
	for i := range second.Len() {
		mustAdd(t, all, second.At(i))
	}
	return all
}

func mustMix(t rapid.TB, r *Observations, o MixtureOptions) *Mixture {
	t.Helper()
	m, err := FitMixture(context.Background(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMixtureFindsTheGroups(t *testing.T) {
	r := twoGroups(t, 500)
	var bic []float64
	for k := range 3 {
		m := mustMix(t, r, MixtureOptions{Components: k + 1, Prior: 0.5, Starts: 2, Seed: 1})
		bic = append(bic, m.BIC())
		if got := m.Parameters(); got != 5*(k+1)-1 {
			t.Errorf("%d components have %d parameters", k+1, got)
		}
		if k == 1 {
			// Where the groups are known, the standard errors of their log-worths are 0.12 at most.
			near(t, "weights", m.Weights, []float64{0.6, 0.4}, 0.05)
			near(t, "first component", m.Components[0].LogWorths, groups[0], 0.35)
			near(t, "second component", m.Components[1].LogWorths, groups[1], 0.35)
		}
	}
	if slices.Index(bic, slices.Min(bic)) != 1 {
		t.Errorf("BIC %v of 1, 2 and 3 components, want the least for 2", bic)
	}
}

// The likelihood with the prior never falls, and is the formula written out, with the ghost's worth at its best.
func TestMixtureNeverFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRankings(t, rapid.Bool().Draw(t, "ties"))
		o := MixtureOptions{
			Components: rapid.IntRange(1, min(3, r.Len())).Draw(t, "components"),
			Prior:      rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "prior"),
			Starts:     2, MaxSteps: 10, Tolerance: 1e-3, Seed: rapid.Uint64().Draw(t, "seed"),
		}
		last := math.Inf(-1)
		o.Progress = func(p MixtureProgress) {
			if p.Step > 2 && p.LogLikelihood < last-1e-9*math.Abs(last) {
				t.Fatalf("step %d of start %d: %v after %v", p.Step, p.Start, p.LogLikelihood, last)
			}
			last = p.LogLikelihood
		}
		m, _ := FitMixture(context.Background(), r, o)
		if m == nil {
			t.Skip("no finite estimate")
		}
		near(t, "sum of the weights", []float64{floats.Sum(m.Weights)}, []float64{1}, 1e-12)
		want := 0.0
		for i := range r.Len() {
			one := &Observations{Items: r.Items}
			mustAdd(t, one, Ranking{Places: r.At(i).Places, Rest: r.At(i).Rest})
			p := 0.0
			for k, c := range m.Components {
				log, err := c.Evaluate(one)
				if err != nil {
					t.Fatal(err)
				}
				p += m.Weights[k] * math.Exp(log.LogLikelihood)
			}
			want += r.At(i).Weight * math.Log(p)
		}
		got, _, err := m.Evaluate(r)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "log-likelihoods", []float64{got, m.LogLikelihood}, []float64{want, want}, 1e-9*(1+math.Abs(want)))
	})
}

func TestMixtureOfOneIsFit(t *testing.T) {
	for _, prior := range []float64{0, 0.5} {
		m := mustMix(t, puddings(t), MixtureOptions{Components: 1, Prior: prior})
		fit := mustFit(t, puddings(t), Options{Prior: prior})
		near(t, "parameters", m.Components[0].parameters(), fit.parameters(), 1e-9)
		near(t, "log-likelihood", []float64{m.LogLikelihood}, []float64{fit.LogLikelihood}, 1e-9)
		// log 745 = 6.6133842183795597 for the 745 comparisons.
		near(t, "BIC", []float64{m.BIC()}, []float64{6*6.6133842183795597 - 2*fit.LogLikelihood}, 1e-8)
	}
}

func TestMixtureHasTheSameBitsWhateverGOMAXPROCS(t *testing.T) {
	r := twoGroups(t, 4_000)
	var fits []*Mixture
	for _, procs := range []int{1, 5} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		m, _ := FitMixture(context.Background(), r, MixtureOptions{Components: 2, Starts: 1, MaxSteps: 3, Seed: 4})
		fits = append(fits, m)
	}
	if !reflect.DeepEqual(fits[0], fits[1]) {
		t.Error("the bits depend on GOMAXPROCS")
	}
}

// All rankings are one and its reverse: each is a component of its own, in which the items do not win by turns.
func TestMixtureNamesAComponentWithoutAnEstimate(t *testing.T) {
	r := mustRead(t, "3: a > b > c > d\n2: d > c > b > a\n", "two")
	m, err := FitMixture(context.Background(), r, MixtureOptions{Components: 2})
	var apart *DisconnectedError
	if !errors.As(err, &apart) || m == nil || !strings.Contains(err.Error(), "the component of weight 0.") || !strings.Contains(err.Error(), "4 classes") {
		t.Errorf("got %v", err)
	}
	m = mustMix(t, r, MixtureOptions{Components: 2, Prior: 0.5})
	near(t, "weights", m.Weights, []float64{0.6, 0.4}, 0.01)
	if w := m.Components[0].LogWorths; !slices.IsSortedFunc(w, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
		t.Errorf("worths of the first component %v", w)
	}
}

// A component whose weight underflows stays empty, and harms nothing.
func TestEmptyComponentHasTheWeightZero(t *testing.T) {
	r := twoGroups(t, 100)
	n, err := newNewton(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, _ := n.maximize(t.Context(), make([]float64, n.size()))
	e := newEM(r, n, x, MixtureOptions{Components: 2, Tolerance: 1e-6, MaxSteps: 1000}, 1)
	e.x[1] = []float64{-400, -200, 0, 200, 400}
	e.mixing = []float64{1, 0}
	e.expect()
	e.run(t.Context(), 1000)
	if err := e.end(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := e.mixture(r.Items)
	near(t, "weights", m.Weights, []float64{1, 0}, 1e-14)
	near(t, "log-worths", m.Components[0].LogWorths, mustFit(t, r, Options{}).LogWorths, 1e-9)
}

func TestEndOfTheContextKeepsTheBestMixture(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	m, err := FitMixture(ctx, twoGroups(t, 100), MixtureOptions{Components: 2, Progress: func(p MixtureProgress) { cancel(cause) }})
	if err != cause || m == nil || m.Steps != 2 {
		t.Errorf("got %+v and %v, want the mixture of two steps and the cause", m, err)
	}
}

func TestFitMixtureRejectsInvalidOptions(t *testing.T) {
	r := twoGroups(t, 20)
	for _, c := range []struct {
		r    *Observations
		o    MixtureOptions
		want string
	}{
		{r, MixtureOptions{}, "Components is 0"},
		{r, MixtureOptions{Components: 21}, "there are 20 rankings"},
		{r, MixtureOptions{Components: 2, Starts: -1}, "must be positive"},
		{r, MixtureOptions{Components: 2, Tolerance: math.NaN()}, "must be positive"},
		{r, MixtureOptions{Components: 2, Prior: -1}, "Prior is -1"},
		{r, MixtureOptions{Components: 2, MaxSteps: 1}, "not converged after 2 steps"},
		{&Observations{}, MixtureOptions{Components: 1}, "no rankings"},
		{mustRead(t, "a > b\na > b\n", "x"), MixtureOptions{Components: 2}, "no finite estimate"},
	} {
		if _, err := FitMixture(context.Background(), c.r, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want an error with %q", c.o, err, c.want)
		}
	}
	if _, _, err := mustMix(t, r, MixtureOptions{Components: 1}).Evaluate(mustRead(t, "x > y", "x")); err == nil {
		t.Error("other items are no error")
	}
}

// A step along which the information is 0 has no length, and ends the fit of a component.
func TestMixtureOfTheSmallestPriorEnds(t *testing.T) {
	r := mustRead(t, strings.Repeat("a > b > c\nb > a > c\nc > a > b\na > c > b\n", 3), "races.txt")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := FitMixture(ctx, r, MixtureOptions{Components: 2, Prior: 1e-320, Seed: 1}); err != nil {
		t.Error(err)
	}
}
