package worth

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The differences of three independent log-worths 1, 2 and 0 have the variances 0.02 and, with the third, 0.52. At 95 %
// Bonferroni's bound for two tests is 2.2414 standard errors.
func TestRanksAreThoseByHand(t *testing.T) {
	m := &Model{LogWorths: []float64{1, 2, 0}}
	u := &Uncertainty{Covariance: mat.NewSymDense(3, []float64{0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.51}), items: 3}
	ranks, err := m.Ranks(u, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []RankInterval{{2, 2, 3}, {1, 1, 1}, {3, 2, 3}} { // 1 < 2.2414·√0.52 = 1.616 < 2 = distance to the first
		if ranks[i] != want {
			t.Errorf("item %d has %+v, want %+v", i, ranks[i], want)
		}
	}
	m.LogWorths = []float64{1, 1, 1}
	if ranks, err := m.Ranks(u, 0.95); err != nil || ranks[0] != (RankInterval{1, 1, 3}) || ranks[2] != ranks[0] {
		t.Errorf("equal worths have %+v, %v", ranks, err)
	}
	for _, c := range []struct {
		u          *Uncertainty
		confidence float64
		want       string
	}{
		{u, 0, "the confidence is 0"}, {u, 1, "the confidence is 1"}, {u, math.NaN(), "the confidence is NaN"},
		{&Uncertainty{items: 3}, 0.95, "need the covariances"}, {&Uncertainty{Covariance: u.Covariance, items: 2}, 0.95, "3 items"},
	} {
		if _, err := m.Ranks(c.u, c.confidence); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Two items that stand in each other's places as often, next to others in any rankings, have one worth and
// one rank, although the fit rounds.
func TestItemsWithSymmetricRankingsShareARank(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	swapped := func(items []int) []int {
		items = slices.Clone(items)
		for k, i := range items {
			items[k] = []int{1, 0, 2, 3, 4, 5}[i]
		}
		return items
	}
	for range 50 {
		r := simulate(rng, []float64{0.5, 0.5, rng.NormFloat64(), rng.NormFloat64(), -1, 1}, 30, 6)
		for i := range r.Len() {
			a := r.At(i)
			for k, place := range a.Places {
				a.Places[k] = swapped(place)
			}
			if err := r.Add(a); err != nil {
				t.Fatal(err)
			}
		}
		m := mustFit(t, r, Options{Prior: 0.5})
		ranks, err := m.Ranks(mustUncertainty(t, m), 0.95)
		if err != nil || ranks[0] != ranks[1] || m.LogWorths[0] != m.LogWorths[1] {
			t.Fatalf("log-worths %v, ranks %v, %v", m.LogWorths, ranks, err)
		}
	}
}

// Log-worths become one within twice the tolerance of the fit.
func TestWorthsAreOneWithinTheTolerance(t *testing.T) {
	theta := []float64{3, 1, 2, 1.25, 3.25, 1.5, 1.75}
	level(theta, 0.5)
	for i, want := range []float64{3.125, 1.25, 1.875, 1.25, 3.125, 1.25, 1.875} {
		if theta[i] != want {
			t.Errorf("item %d has %v, want %v", i, theta[i], want)
		}
	}
}

// Intervals of ranks at 80 % have the true rank in 80 % of simulations or more even if worths are almost equal, at
// either end in 90 %, since an error is possible to one side only. If worths are not, the intervals are short.
func TestRankIntervalsHaveTheTrueRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const simulations = 300
	intervals := func(logWorths []float64) (covered, widths [5]int) {
		for range simulations {
			m := mustFit(t, simulate(rng, logWorths, 60, 4), Options{})
			ranks, err := m.Ranks(mustUncertainty(t, m), 0.8)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range ranks {
				if r.Low <= i+1 && i+1 <= r.High {
					covered[i]++
				}
				widths[i] += r.High - r.Low + 1
			}
		}
		return covered, widths
	}
	covered, _ := intervals([]float64{0.002, 0.001, 0, -0.001, -0.002})
	for i, least := range []float64{0.9, 0.8, 0.8, 0.8, 0.9} {
		if deviation := math.Sqrt(simulations * least * (1 - least)); float64(covered[i]) < simulations*least-3*deviation {
			t.Errorf("item %d: %d of %d intervals have its rank", i, covered[i], simulations)
		}
	}
	_, widths := intervals([]float64{1.2, 0.6, 0, -0.6, -1.2})
	for i, sum := range widths {
		if sum > 2*simulations {
			t.Errorf("item %d: the intervals have %.2f ranks on average", i, float64(sum)/simulations)
		}
	}
}
