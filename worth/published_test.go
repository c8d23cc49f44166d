package worth

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The values that these tests expect are those that the vignette (articles/Overview) and the README of
// PlackettLuce for R 0.4.5 (Turner, van Etten, Firth and Kosmidis, 2020) print, to their last digit.

// pudding has comparisons of six brands of chocolate pudding (Davidson, JASA 65, 1970, example 2): brands i and
// j, how often i was preferred, j was, and neither.
var pudding = [][5]int{
	{1, 2, 19, 22, 16}, {1, 3, 16, 19, 12}, {2, 3, 19, 19, 10}, {1, 4, 18, 23, 13}, {2, 4, 23, 19, 9},
	{3, 4, 19, 20, 15}, {1, 5, 13, 19, 18}, {2, 5, 16, 20, 12}, {3, 5, 16, 15, 17}, {4, 5, 17, 14, 16},
	{1, 6, 18, 21, 12}, {2, 6, 22, 20, 12}, {3, 6, 13, 18, 10}, {4, 6, 14, 19, 18}, {5, 6, 11, 21, 12},
}

func puddings(t *testing.T) *Observations {
	r := &Observations{}
	for i := range 6 {
		r.Item(strconv.Itoa(i + 1))
	}
	for _, p := range pudding {
		i, j := p[0]-1, p[1]-1
		mustAdd(t, r, Ranking{Places: [][]int{{i}, {j}}, Weight: float64(p[2])})
		mustAdd(t, r, Ranking{Places: [][]int{{j}, {i}}, Weight: float64(p[3])})
		mustAdd(t, r, Ranking{Places: [][]int{{i, j}}, Weight: float64(p[4])})
	}
	return r
}

// netflix has 588 rankings of four films by users of Netflix: PrefLib 00004-00000138 (Bennett and Lanning, KDD Cup
// Workshop, 2007).
const netflix = `# ALTERNATIVE NAME 1: Mean Girls
# ALTERNATIVE NAME 2: Beverly Hills Cop
# ALTERNATIVE NAME 3: The Mummy Returns
# ALTERNATIVE NAME 4: Mission: Impossible II
68: 2,1,4,3
53: 1,2,4,3
49: 2,1,3,4
44: 1,2,3,4
39: 2,4,1,3
37: 3,2,1,4
37: 2,3,1,4
36: 2,3,4,1
31: 3,2,4,1
29: 2,4,3,1
22: 1,3,2,4
19: 3,1,2,4
17: 3,4,2,1
17: 4,2,3,1
16: 4,2,1,3
14: 1,4,2,3
10: 1,3,4,2
10: 4,1,2,3
9: 4,3,1,2
8: 3,4,1,2
8: 1,4,3,2
7: 3,1,4,2
7: 4,3,2,1
1: 4,1,3,2
`

func TestPuddingsAgreeWithDavidson(t *testing.T) {
	m := mustFit(t, puddings(t), Options{})
	// R stops after 7 iterations, "to obtain the same worth parameters as Davidson": they are not converged.
	near(t, "worths", m.Worths(), []float64{0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855}, 3e-5)
	near(t, "δ_2", []float64{math.Exp(m.LogTies[0])}, []float64{0.7468147}, 1e-4)
	near(t, "AIC, deviance", []float64{m.AIC(), -2 * m.LogLikelihood}, []float64{1631.4, 1619.4}, 0.05)
	u := mustUncertainty(t, m)
	near(t, "standard errors", u.StdErrs, []float64{0.121949, 0.121818, 0.126823, 0.122003, 0.127054, 0.126594, 0.082499}, 1e-6)
	var differences []float64
	for i := 1; i < 6; i++ {
		differences = append(differences, u.Difference(0, i))
	}
	near(t, "standard errors relative to brand 1", differences, []float64{0.1872168, 0.1935181, 0.1882110, 0.1927043, 0.1924059}, 2e-6)
}

// Four salad dressings by tartness, ranked by 32 judges (Vargo, 1989; Critchlow and Fligner, Psychometrika 56, 1991), in the
// vignette PLADMM.
func TestSaladDressingsAgreeWithVargo(t *testing.T) {
	m := mustFit(t, mustRead(t, "11: B > C > D > A\n6: B > D > C > A\n3: C > B > D > A\n2: B > C > A > D\n2: B > A > D > C\n2: A > B > C > D\n"+
		"D > C > B > A\nD > C > A > B\nC > D > B > A\nC > A > B > D\nB > D > A > C\nB > A > C > D\n", "salad"), Options{})
	b, c, d, a := m.LogWorths[0], m.LogWorths[1], m.LogWorths[2], m.LogWorths[3] // in the order of the file
	near(t, "log-worths relative to A", []float64{b - a, c - a, d - a}, []float64{2.7299, 1.5615, 1.0268}, 5e-5)
	near(t, "worths", m.Worths(), []float64{0.64176, 0.19950, 0.11688, 0.04186}, 1e-5)
	near(t, "AIC, deviance", []float64{m.AIC(), -2 * m.LogLikelihood}, []float64{158.83, 152.83}, 0.005)
	u := mustUncertainty(t, m)
	near(t, "standard errors", []float64{u.Difference(0, 3), u.Difference(1, 3), u.Difference(2, 3)}, []float64{0.4481, 0.3965, 0.3771}, 5e-5)
}

func TestNetflixOfPrefLibAgreesWithPlackettLuce(t *testing.T) {
	m := mustFit(t, mustRead(t, netflix, "netflix.soc"), Options{Prior: 0.5})
	near(t, "worths", m.Worths(), []float64{0.2306285, 0.4510655, 0.1684719, 0.1498342}, 1e-6)
	near(t, "log-worths relative to the first", differences(m), []float64{0.67080, -0.31404, -0.43128}, 5e-6)
	near(t, "AIC, deviance", []float64{m.AIC(), -2 * m.LogLikelihood}, []float64{3499.5, 3493.5}, 0.05)
	u := mustUncertainty(t, m)
	near(t, "standard errors", []float64{u.Difference(0, 1), u.Difference(0, 2), u.Difference(0, 3)}, []float64{0.07472, 0.07593, 0.07489}, 5e-6)
}

// Four drivers were last in all their races, so that there is no finite estimate without a prior. Hunter leaves them out.
func TestNascarAgreesWithHunter(t *testing.T) {
	all, err := ReadFile("testdata/nascar.txt", ReadOptions{Items: numbered(87)})
	if err != nil {
		t.Fatal(err)
	}
	few := &Observations{Items: numbered(83)}
	places := make([]float64, 87)
	races := make([]float64, 87)
	for i := range all.Len() {
		var kept Ranking
		for rank, place := range all.At(i).Places {
			places[place[0]] += float64(rank)
			races[place[0]]++
			if place[0] < 83 {
				kept.Places = append(kept.Places, place)
			}
		}
		mustAdd(t, few, kept)
	}
	byMean := make([]int, 83) // of the rank in a race
	for i := range byMean {
		byMean[i] = i
	}
	slices.SortStableFunc(byMean, func(i, j int) int { return cmp.Compare(places[i]/races[i], places[j]/races[j]) })
	ends := slices.Concat(byMean[:3], byMean[80:])

	m := mustFit(t, few, Options{})
	near(t, "without the four", relativeToFirst(m, ends), []float64{4.15, 3.62, 2.08, 0.03, -0.31, -0.15}, 0.005)

	_, err = Fit(context.Background(), all, Options{})
	disconnected, is := err.(*DisconnectedError)
	if !is || len(disconnected.Classes) != 5 {
		t.Fatalf("got %v, want a DisconnectedError with 5 classes", err)
	}

	m = mustFit(t, all, Options{Prior: 0.5})
	near(t, "with a prior", relativeToFirst(m, ends), []float64{3.20, 2.77, 1.91, 0.02, -0.38, -0.12}, 0.005)
	last := []int{83, 84, 85, 86}
	near(t, "the last four", relativeToFirst(m, last), []float64{-2.171065, -1.744754, -1.590764, -1.768629}, 1e-6)
	u := mustUncertainty(t, m)
	var errors []float64
	for _, i := range last {
		errors = append(errors, u.Difference(0, i))
	}
	near(t, "their standard errors", errors, []float64{1.812994, 1.855365, 1.881708, 1.904871}, 1e-6)
}

// The vignette's example of an item that always loses.
func TestItemThatAlwaysLosesNeedsAPrior(t *testing.T) {
	r := mustRead(t, "A > B\nC > A\nA > D\nB > A\nB > C\n", "toy")
	_, err := Fit(context.Background(), r, Options{})
	if err == nil || !strings.Contains(err.Error(), `none from "D" to the others (there are 2 classes`) {
		t.Errorf("got %v, want an error that names D", err)
	}
	at := map[string]float64{}
	m := mustFit(t, r, Options{Prior: 0.5})
	for i, name := range m.Items {
		at[name] = m.LogWorths[i] - m.LogWorths[0]
	}
	near(t, "with a prior", []float64{at["B"], at["C"], at["D"]}, []float64{0.5184185, 0.1354707, -1.1537565}, 1e-7)

	r = mustRead(t, "A > B\nC > A\nB > A\nB > C\n", "toy")
	m = mustFit(t, r, Options{})
	u := mustUncertainty(t, m)
	c, b := 2, 1
	if m.Items[1] == "C" {
		c, b = 1, 2
	}
	near(t, "without D", relativeToFirst(m, []int{b, c}), []float64{0.8392, 0.4196}, 5e-5)
	near(t, "standard errors", []float64{u.Difference(0, b), u.Difference(0, c)}, []float64{1.3596, 1.5973}, 5e-5)
	near(t, "deviance, AIC", []float64{-2 * m.LogLikelihood, m.AIC()}, []float64{5.1356, 9.1356}, 5e-5)
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, strconv.Itoa(i+1))
	}
	return names
}

// relativeToFirst returns the log-worths less the log-worth of the first item.
func relativeToFirst(m *Model, items []int) (d []float64) {
	for _, i := range items {
		d = append(d, m.LogWorths[i]-m.LogWorths[0])
	}
	return d
}

func differences(m *Model) (d []float64) {
	for _, t := range m.LogWorths[1:] {
		d = append(d, t-m.LogWorths[0])
	}
	return d
}

func mustAdd(t rapid.TB, r *Observations, ranking Ranking) {
	t.Helper()
	if err := r.Add(ranking); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t rapid.TB, text, name string) *Observations {
	t.Helper()
	r, err := Read(strings.NewReader(text), name, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustFit(t rapid.TB, r *Observations, o Options) *Model {
	t.Helper()
	m, err := Fit(context.Background(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustUncertainty(t rapid.TB, m *Model) *Uncertainty {
	t.Helper()
	u, err := m.Uncertainty()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// near compares numbers one by one.
func near(t rapid.TB, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if len(got) != len(want) || !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Fatalf("%s: got %.9g\nwant %.9g within %g", what, got, want, tolerance)
		}
	}
}
